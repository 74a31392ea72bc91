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

Charts of how good a model is stand in ``scores``, those of one thing each beside it.

To add a chart: a file here with a function ``plot_<what>`` that returns ``styled(...)``, with a title that
says what is seen and axis titles with units; ``make stubs`` exports it. Then render it and look at it.
"""

from __future__ import annotations

from surefit.core.public import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
