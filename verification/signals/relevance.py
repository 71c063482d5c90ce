"""Relevance: does the answer address the question?"""

from cragraph.verification.signals.material import Material, NotMeasured


def relevance(material: Material) -> float:
    """Similarity of question and answer, 0..1 (answer-validation formula).

    It favours answers that repeat the question's subject; an evasive answer on the subject scores well.
    """
    if not material.question.strip():
        raise NotMeasured("relevance needs a question")
    return material.closeness.question_to_answer
