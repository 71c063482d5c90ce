"""Search: from a question to passages."""

from cragraph.retrieval.search.questions import Decompose, TargetedQueries, decompose, unanswered_parts
from cragraph.retrieval.search.retriever import SearchRetriever, SourceWeights

__all__ = ["Decompose", "SearchRetriever", "SourceWeights", "TargetedQueries", "decompose", "unanswered_parts"]
