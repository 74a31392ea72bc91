"""Linear models: a weighted sum of the columns, fitted in many ways.

``base.py`` predicts for all of them, ``classification.py`` for those that score classes. Least squares are
finished from one statistic by ``solvers/least_squares.py``; ``inference.py`` adds standard errors, tests
and intervals where theory holds. Ridge: ``ridge_fit.py`` chooses between sums, few rows (``dense_rows.py``)
and passes (``passes.py``), ``ridge_gap.py`` proves the answer, ``leave_one_out.py`` and ``ridge_folds.py``
predict rows without themselves, and ``ridge_scores.py`` compares penalties by that; ``content_folds.py``
does it from sums alone, which lets rows come and go. Exact paths: ``lars_fit.py`` makes the problems that
``solvers/homotopy.py`` follows, and proves where they end; ``constrained_path.py`` keeps one within bounds
and orders, ``constrained.py`` bounds the size instead.
``leverage.py`` looks for rows and columns that deserve a second look. With a prior:
``gaussian_posterior.py`` solves for the posterior, ``evidence.py`` climbs to the likeliest precisions
(``gram_axes.py``: along axes that large units do not hide),
``bayesian_prediction.py`` says how sure a prediction is; ``laplace_evidence.py`` does for classes what the
first two do. Constraints cut a posterior: ``constrained_mode.py`` finds and proves the mode within,
``truncated_normal.py`` how likely the set is (``truncated_tilt.py``: where to look), ``truncated_draws.py``
draws, ``truncated_posterior.py`` and ``predictive_mixture.py`` say what draws tell, and ``cut_posterior.py``
is what the models share.

``mean_loss.py`` fits whatever minimises mean loss plus penalty: a model says which loss, penalty and
solver, ``constraints.py`` bounds or orders its coefficients (``constrained_squares.py`` those of models
that solve squares in ways of their own, ``constrained_folds.py`` and ``constrained_ridge_cv.py`` where rows
left out, cut by ``folds.py``, choose a strength, ``constrained_tasks.py`` those of targets that share their
columns, ``joint_constraints.py`` those beside thresholds or a dispersion), and ``column_evidence.py`` says
what its columns do to it.
``linear_model.py`` leaves the choice to the user; ``own_pieces.py`` makes losses and penalties of a user's
own objects. Classes: ``logistic.py``, with ``logistic_folds.py`` for the choice of C, ``many_targets.py`` for
many targets of the same rows and ``separation.py`` for classes without a best answer; ``linear_svm.py`` is
what both support vector machines share, and ``penalised_intercept.py`` liblinear's intercept;
``binary_members.py`` makes many classes of pairs, for ``one_vs_rest.py`` (``label_columns.py``: several
labels a row) and ``one_vs_one.py``, and ``member_updates.py`` teaches them more rows. Robust: ``kinked.py``
is what losses with kinks share (``quantile.py``, ``lad.py``, the hinge), ``huber.py`` learns a scale as well.
Row by row: ``sgd_fit.py`` runs the epochs of ``sgd_base.py``, whose losses and rates are ``sgd_pieces.py``
(``sgd_held_out.py`` sets rows aside to stop by, ``sgd_constraints.py`` leads each step back into bounds and
orders); ``perceptron.py`` is one of them; ``sparse_coefficients.py`` keeps few coefficients in little room.
``glm.py`` is what generalised linear models share: ``glm_offset.py`` moves columns into the scores,
``glm_start.py`` finds scores that a link takes, ``glm_influence.py`` looks for rows that pull,
``unattained.py`` for counts without a best answer, ``glm_inference.py`` and ``class_inference.py`` say what
their likelihoods are, and ``likelihood*.py`` and ``marginal_effects.py`` infer from any of them.
``ordinal_classifier.py`` learns thresholds with them.
"""
