"""Trees: one decision tree, how it is grown, proved, pruned and read.

A tree is arrays, one entry a node, in the order of a walk that goes left first (``nodes.py``); the native
grower (``core/native/tree_grow.py``) makes them from a matrix of numbers and codes of levels, which
``rows.py`` makes of arrays, frames and sources. ``base.py`` is what classifier and regressor share:
parameters become rules, rows become leaves; ``kept.py`` and ``kept_forest.py`` are what they leave behind, in
as few bytes as it takes (``leaf_values.py``, ``leaf_slots.py``). ``proof.py`` scores every stored split
again, in numpy and without the grower; ``criteria.py`` are its formulas. ``outline.py`` is where its nodes
hang, ``pruning.py`` cuts a grown tree back; ``export.py`` writes one as text, JSON, SQL and Python,
``boxes.py`` as boxes and weights. ``surrogates.py`` and ``detours.py`` are trees in which other columns stand
in for missing values, or rows go both ways.

A forest keeps all its trees as arrays (``forest_arrays.py``) and makes trees of them when asked
(``forest_views.py``); ``wide_forest.py`` is how they are stored where leaves tell too little.
``forest_growing.py`` calls the native grower, ten trees at a time; ``forest_base.py`` judges them by the rows
that they have not seen (``forest_errors.py``), and again from the stored seeds. ``growing.py``,
``class_targets.py`` and ``number_targets.py`` are what trees and forests share before they grow.

``bins.py`` cuts columns into bins of one byte. ``boosting_base.py`` boosts trees of such codes:
``boosting_rows.py`` makes the codes, of rows or of a stream, ``boosting_rounds.py`` makes the rounds,
``boosting_losses.py`` says what is boosted, ``boosting_ranks.py`` finds medians and quantiles of errors, and
``boosting_trees.py`` keeps the trees and answers; ``boosting_scoring.py`` lets a scorer stop the rounds.

Tables larger than memory grow the same trees from sums that passes add up: ``coded_rows.py`` are their codes,
``exact_sums.py``, ``level_target.py`` and ``row_draws.py`` keep sums and draws free of how a table is cut.
``boosting_levels.py`` and ``tree_levels.py`` are one tree that grows so, ``boosting_stream.py`` and
``tree_stream.py`` make the passes, ``boosting_sample.py`` keeps the rows that a scorer looks at,
``stream_learning.py`` learns and proves trees and forests from them; ``silent_classes.py`` leaves out rows of
classes that weigh nothing.

To add a criterion: its sums in ``cpp/kernels/split_criteria.h``, its formula in ``criteria.py`` and, for one
of classes, in ``level_target.py``, its name in the estimator; the laws compare them.
"""
