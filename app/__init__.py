"""cragraph: corrective RAG on your own machine."""
