"""How the grounding judge is made: data, hard negatives, training, calibration, export and evaluation."""
