"""How a network for judge and reader is trained: one trunk of eight layers, a head for claims, one for questions."""
