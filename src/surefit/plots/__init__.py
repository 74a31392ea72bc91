"""Plots: one chart a function; a notebook, the report and the lab draw with the same ones.

A function takes what a fit left behind (a trace, predictions, a tree) and returns an altair chart in the one
theme (``theme.py``), ready for a notebook. ``save`` writes it as SVG, PNG or a self-contained HTML page, and
``to_svg``, ``to_png`` and ``to_html`` return the same; nothing is fetched from a network, then or when the
page is opened. Where a record holds plain values only, the function that draws them is public as well:
``plot_scores`` draws what ``plot_comparison`` does, ``plot_worths`` what ``plot_importance`` and
``plot_answers`` what ``plot_dependence``.

Names come from tables and are hostile: ``words.labels`` and ``visible`` cut them and spell out what acts.

The rule for large data: a chart gets what the eye can see, never the rows. Altair puts the data into the
chart, so a function aggregates first (counts in bins, quantiles, ``thinned`` lines) and hands at most 5000
rows to ``rows_of``, which refuses more.

To add a chart: a file here with a function ``plot_<what>`` that returns ``styled(...)``, with a title that
says what is seen, axis titles with units, and its line in the exports below; then render it and look at it.
"""

from __future__ import annotations

from surefit.plots.base import save as save
from surefit.plots.base import to_html as to_html
from surefit.plots.base import to_png as to_png
from surefit.plots.base import to_svg as to_svg
from surefit.plots.bias_variance import plot_bias_variance as plot_bias_variance
from surefit.plots.calibration import plot_calibration as plot_calibration
from surefit.plots.comparison import plot_comparison as plot_comparison
from surefit.plots.comparison import plot_scores as plot_scores
from surefit.plots.confusion import plot_confusion as plot_confusion
from surefit.plots.curves import plot_curve as plot_curve
from surefit.plots.dependence import plot_answers as plot_answers
from surefit.plots.dependence import plot_dependence as plot_dependence
from surefit.plots.importance import plot_importance as plot_importance
from surefit.plots.importance import plot_worths as plot_worths
from surefit.plots.landscape import plot_landscape as plot_landscape
from surefit.plots.path import plot_choice as plot_choice
from surefit.plots.path import plot_path as plot_path
from surefit.plots.residuals import plot_residuals as plot_residuals
from surefit.plots.roc import plot_precision_recall as plot_precision_recall
from surefit.plots.roc import plot_roc as plot_roc
from surefit.plots.threshold import plot_threshold as plot_threshold
from surefit.plots.trace import plot_trace as plot_trace
from surefit.plots.tree import plot_tree as plot_tree

__all__ = [
    "plot_answers",
    "plot_bias_variance",
    "plot_calibration",
    "plot_choice",
    "plot_comparison",
    "plot_confusion",
    "plot_curve",
    "plot_dependence",
    "plot_importance",
    "plot_landscape",
    "plot_path",
    "plot_precision_recall",
    "plot_residuals",
    "plot_roc",
    "plot_scores",
    "plot_threshold",
    "plot_trace",
    "plot_tree",
    "plot_worths",
    "save",
    "to_html",
    "to_png",
    "to_svg",
]
