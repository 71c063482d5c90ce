"""Folders like those of `lab.benchmarks.traps`, asked for the first time by the version that ships or one just before.

Nothing is fitted on them, and no fault that they showed was mended before they were counted.
"""
