"""Documents, stores, search and rerankers."""
