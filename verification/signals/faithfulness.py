"""Faithfulness: does the answer stay near its passages?"""

from cragraph.verification.signals.material import Material


def faithfulness(material: Material) -> float:
    """Mean over the answer's claims of the similarity to the closest passage, 0..1 (answer-validation formula).

    It favours answers in the sources' words; it cannot tell a negated sentence from its opposite.
    """
    best = material.closeness.best
    return sum(best) / len(best) if best else 0.0
