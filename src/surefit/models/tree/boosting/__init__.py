"""Gradient boosting by histograms.

``base`` is what ``classifier`` and ``regressor`` share: ``rows`` makes codes of bins, targets and rows held
out; ``rounds`` computes gradients of the loss, grows a tree for them and scores the rows held out; ``trees``
keeps the boosted trees and predicts. ``losses`` says what is boosted, ``exact_quantiles`` finds medians and
quantiles of errors without rounding, ``scoring`` lets a scorer stop the rounds, ``stream`` makes the same
rounds over tables larger than memory, and ``parameters`` is what a model keeps.

To add a loss, write its start, gradients and leaf values in ``losses``, and name it in the estimator.
"""
