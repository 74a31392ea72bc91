"""How a fit depends on its rows and on its freedom.

``score_curves`` scores along the number of rows, a parameter or the complexity, for rows learnt from and
rows left out; ``fit_verdict`` says in words whether that is overfit or underfit; ``bias_variance`` learns
again and again to split the loss into bias, variance and noise; ``effective_parameters`` counts how far
answers follow their own targets.

To add a curve: a function in ``score_curves`` that lists models or rows along an axis and hands them to the
folds.
"""
