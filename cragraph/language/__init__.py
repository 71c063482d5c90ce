"""Language: sentences, words, citation markers, and the facts of a text."""
