"""How the reader's weights are made; see docs/lab/training.md."""
