"""Probability under one roof: finite spaces, random variables, inequalities, limits, studies of estimators.

>>> from surefit import probability
>>> X = probability.die().variable()
>>> X.mean, X.variance
(Fraction(7, 2), Fraction(35, 12))
>>> print(probability.markov(5, X))
Markov: at most 0.7; the true value is 0.166667
"""

from surefit.distributions.probability.finite_space import FiniteSpace as FiniteSpace
from surefit.distributions.probability.finite_space import RandomVariable as RandomVariable
from surefit.distributions.probability.finite_space import cards as cards
from surefit.distributions.probability.finite_space import die as die
from surefit.distributions.probability.joint_density import JointDensity as JointDensity
from surefit.evaluate.theory.estimators import estimator_study as estimator_study
from surefit.evaluate.theory.estimators import method_of_moments as method_of_moments
from surefit.evaluate.theory.estimators import sample_covariance as sample_covariance
from surefit.evaluate.theory.estimators import sample_mean as sample_mean
from surefit.evaluate.theory.estimators import sample_variance as sample_variance
from surefit.evaluate.theory.inequalities import Bound as Bound
from surefit.evaluate.theory.inequalities import cauchy_schwarz as cauchy_schwarz
from surefit.evaluate.theory.inequalities import chebyshev as chebyshev
from surefit.evaluate.theory.inequalities import chernoff as chernoff
from surefit.evaluate.theory.inequalities import hoeffding as hoeffding
from surefit.evaluate.theory.inequalities import jensen as jensen
from surefit.evaluate.theory.inequalities import markov as markov
from surefit.evaluate.theory.inequalities import union_bound as union_bound
from surefit.evaluate.theory.limits import central_limit as central_limit
from surefit.evaluate.theory.limits import law_of_large_numbers as law_of_large_numbers
