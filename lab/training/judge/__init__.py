"""What the network behind the judge learns claims from: people's rows, made ones, and how they are read."""
