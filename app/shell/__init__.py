"""The commands: one a file, what they print, and how they exit."""
