"""Search: from a question to passages."""

from cragraph.lazy import exports
from cragraph.search.questions import Decompose, TargetedQueries, decompose, unanswered_parts
from cragraph.search.retriever import SearchRetriever, SourceWeights

__all__ = ["Decompose", "SearchRetriever", "SourceWeights", "TargetedQueries", "decompose", "unanswered_parts"]

__getattr__ = exports(__name__)
