"""What the loop does: one verb per file."""
