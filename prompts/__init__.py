"""Prompts, one per file, and the means to fill them safely."""
