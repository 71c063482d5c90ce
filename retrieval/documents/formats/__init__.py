"""One file a format, each with `read(path)`, an iterator of drafts."""
