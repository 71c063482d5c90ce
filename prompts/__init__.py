"""Prompts, one a file, and the means to fill them safely."""
