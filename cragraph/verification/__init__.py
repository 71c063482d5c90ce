"""Claims, judges, signals and policies."""
