"""The formats that are read, one module each, by the table in `cragraph.documents.files`."""
