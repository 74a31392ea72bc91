"""The score of a model, and how sure it is.

``assess`` scores a fitted model on rows or on a source by any metrics; ``fold`` fits a copy on training
rows, lets it answer for test rows and scores those answers, the piece that every resampling repeats.
``intervals`` chooses the interval that suits a score: Wilson or a mean over rows (``row_means``), DeLong
(``delong``), the corrected resampled t of folds (``corrected_resampled_t``), or a bootstrap; all are values
of ``interval_base``.

To add an interval: a function that makes one, and its place in ``intervals.score_interval``.
"""

__all__ = ["assess", "corrected_resampled_t", "delong", "fold", "interval_base", "intervals", "row_means"]
