"""The laboratory: training, benchmarks and tools; not installed."""
