"""Tools that keep documents, pictures and the house in order."""
