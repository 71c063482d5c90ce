"""Writers of answers: extractive, or by a chat model."""
