"""How the network behind judge and reader is made: rows, training, export, and what is fitted on it."""
