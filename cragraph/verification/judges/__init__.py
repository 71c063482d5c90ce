"""Judges: one file an implementation."""
