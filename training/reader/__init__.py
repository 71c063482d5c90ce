"""How the reader's weights are made; see training/README.md."""
