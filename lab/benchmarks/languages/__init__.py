"""Small files in five languages, and questions on them in their own and in English."""
