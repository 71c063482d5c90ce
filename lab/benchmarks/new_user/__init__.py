"""A small mixed store and sixty questions as a person new to it would ask them, each with what its answer must hold."""
