"""Pairs of small files that contradict each other, and pairs that only look as if they did."""
