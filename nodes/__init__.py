"""The nodes of the loop: one verb per file."""
