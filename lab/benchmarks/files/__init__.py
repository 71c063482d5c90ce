"""Files as people have them, each of a kind of fault that is reported of readers: written, read, asked."""
