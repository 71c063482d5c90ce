"""How fast it is, and how good: commands that anyone can run."""
