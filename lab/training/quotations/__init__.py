"""Low-rank additions to the reading network, which tell whether a later text changes what an earlier one answers."""
