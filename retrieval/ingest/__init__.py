"""Ingest: bring a store into step with files and folders, doing only the work that is left."""

from cragraph.retrieval.ingest.forget import forget
from cragraph.retrieval.ingest.ingest import ingest
from cragraph.retrieval.ingest.options import SplitOptions
from cragraph.retrieval.ingest.report import IngestReport, Progress
from cragraph.retrieval.ingest.watch import watch

__all__ = ["IngestReport", "Progress", "SplitOptions", "forget", "ingest", "watch"]
