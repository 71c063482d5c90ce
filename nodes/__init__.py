"""What the loop does: one verb a file."""
