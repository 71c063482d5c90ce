"""Search: from a question to passages."""

from cragraph.search.questions import Decompose, TargetedQueries, decompose, unanswered_parts
from cragraph.search.retriever import SearchRetriever, SourceWeights

__all__ = ["Decompose", "SearchRetriever", "SourceWeights", "TargetedQueries", "decompose", "unanswered_parts"]
