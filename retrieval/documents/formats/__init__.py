"""The formats that are read, one module each, by the table in `cragraph.retrieval.documents.files`. A module has
`read(path, limits)`, an iterator of drafts, or, where a format is text, `draft(text, limits)`."""
