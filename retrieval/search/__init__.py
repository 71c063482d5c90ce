"""Search: from a question to passages."""

from cragraph.retrieval.search.decompose import Decompose, decompose
from cragraph.retrieval.search.queries import TargetedQueries
from cragraph.retrieval.search.retriever import SearchRetriever
from cragraph.retrieval.search.unanswered import unanswered_parts
from cragraph.retrieval.search.weights import SourceWeights

__all__ = ["Decompose", "SearchRetriever", "SourceWeights", "TargetedQueries", "decompose", "unanswered_parts"]
