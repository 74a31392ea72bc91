"""Mixtures: rows that come from one of several distributions, nobody knows which.

``base.py`` is the face of every mixture: densities, shares of the components, labels, samples, information
criteria, and the climb by expectation and maximisation with its proof. A mixture is fitted by a statistic
that adds up: one pass over the rows is one E-step, and the sum is finished into the M-step, so tables larger
than memory take the same road. ``gaussian_mixture.py`` and ``normals.py`` are mixtures of normal
distributions with their four forms of covariance, ``bernoulli_mixture.py`` and ``categorical_mixture.py``
those of columns of zeros and ones and of levels, ``mixture.py`` that of any distribution of the library.
``starts.py`` finds where to begin. The climb itself is in ``solvers/likelihood/expectation_maximization.py``.

To add one: parameters as arrays by name, a statistic of a batch for given parameters, and a step from the
statistic to the next ones.
"""

__all__: list[str] = []
