"""Folders like those of `lab.benchmarks.traps`, on which earlier versions were measured before anything was fitted on
them."""
