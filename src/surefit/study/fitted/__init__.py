"""The model that a study has chosen, and what can be asked of it.

``chosen_model`` describes it (certificate, diagnosis, coefficients, ``readable_tree``, worst rows),
``column_effects`` asks models of folds about columns, ``threshold`` weighs costs, ``answer`` says it in
three sentences, ``script`` writes the program that fits it again, and ``result`` is what ``surefit.learn``
returns. A fitted model meets a new table in ``apply``, which finds columns by name and answers in batches;
``unknown_values`` counts what it could not read, ``scored_answers`` scores answers whose truth is known,
and ``matrix_model`` lets columns be shuffled.

To add something to the report: a field in ``study.record`` and a function here that fills it.
"""

__all__ = [
    "answer",
    "apply",
    "chosen_model",
    "column_effects",
    "matrix_model",
    "readable_tree",
    "result",
    "scored_answers",
    "script",
    "threshold",
    "unknown_values",
]
