"""What cragraph knows of language: sentences, words, citation markers, and the facts of a text."""
