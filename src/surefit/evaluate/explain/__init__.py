"""What a fitted model makes of its columns.

``permutation_importance`` measures what the loss of a column does to the score, with answers to shuffled
columns out of coefficients or trees where ``shuffled_answers`` knows a short way; ``partial_dependence``
sets a column to one value after another and takes mean answers; ``original_scale`` writes coefficients
behind a pipeline's steps in the units of the table that went in.

To add an explanation: a function that takes a fitted model and rows, made with ``rows.dataset`` so that it
works on sources too.
"""

__all__ = ["original_scale", "partial_dependence", "permutation_importance"]
