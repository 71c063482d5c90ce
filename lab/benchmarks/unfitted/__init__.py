"""Folders like those of `lab.benchmarks.traps`: nothing is fitted on them, and the version that ships was fitted before
it was asked about them for the first time."""
