"""What chat models are told: one prompt a file."""
