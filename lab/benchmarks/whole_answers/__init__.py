"""Questions whose answer is more than one sentence quotes: the next one, a list, several files, a yes or a no."""
