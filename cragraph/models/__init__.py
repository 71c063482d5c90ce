"""Chat models, embeddings, the embedded encoder and its weights."""
