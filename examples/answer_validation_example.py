"""Answer validation without a chat model: four ways to use `AnswerValidator`.

python examples/answer_validation_example.py
"""

import logging

from cragraph.founding import AnswerValidator, ValidationConfig, rag_query_with_retry, validate_answer

QUERY = "What is sliding window attention?"
CHUNKS = [
    "Mistral 7B uses sliding window attention for efficient token processing.",
    "Sliding window attention limits the attention of each token to a fixed window of 4096 tokens.",
    "The Mistral 7B model has 7 billion parameters.",
]
GOOD = "Sliding window attention limits the attention of each token to a fixed window."
BAD = f"{GOOD} It was trained on 100 trillion tokens from Mars."

logger = logging.getLogger(__name__)


def example_1_basic_validation() -> None:
    """Validate one answer, and print what was found."""
    result = AnswerValidator().validate_answer(GOOD, QUERY, CHUNKS)
    print(f"Confidence: {result['confidence_score']:.2f}, passed: {result['passed']}")
    for sentence in result["citations"]:
        print(f"{sentence['sentence']} [chunks {', '.join(str(s['chunk_id']) for s in sentence['sources'])}]")


def example_2_custom_thresholds() -> None:
    """The same answer under strict and lenient thresholds."""
    for name, threshold in (("strict", 0.99), ("lenient", 0.5)):
        config = ValidationConfig(confidence_threshold=threshold, hallucination_threshold=threshold)
        print(f"{name}: passed {validate_answer(GOOD, QUERY, CHUNKS, config=config)['passed']}")


def example_3_logging() -> None:
    """Log each claim that no chunk supports."""
    for found in AnswerValidator().validate_answer(BAD, QUERY, CHUNKS)["hallucinations"]:
        logger.warning("unsupported: %s (%.2f)", found["claim"], found["support_score"])


def example_4_retry_on_low_confidence() -> None:
    """Ask an engine again until its answer passes."""
    response, validation = rag_query_with_retry(QUERY, max_retries=2, query_engine=Engine())
    print(f"{response} passed: {validation['passed']}")


class Engine:
    """Answers badly, then well; a LlamaIndex query engine has the same method and fields."""

    def __init__(self) -> None:
        self.answers = [GOOD, BAD]

    def query(self, question: str) -> "Reply":
        """The next answer."""
        return Reply(self.answers.pop())


class Reply(str):
    """An answer with the chunks that it was written from."""

    source_nodes = CHUNKS


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    example_1_basic_validation()
    example_2_custom_thresholds()
    example_3_logging()
    example_4_retry_on_low_confidence()
