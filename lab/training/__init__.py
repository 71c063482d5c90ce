"""How the shipped weights are made; not installed."""
