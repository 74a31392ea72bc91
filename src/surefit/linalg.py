"""Linear algebra under one roof: norms, singular values, and least squares under simple constraints.

>>> from surefit import linalg
>>> linalg.operator_norm([[3.0, 0.0], [0.0, 4.0]])
4.0
>>> linalg.SingularValues.of([[3.0, 0.0], [0.0, 4.0]]).values
array([4., 3.])
"""

from surefit.solvers.linalg.nonnegative_least_squares import (
    nonnegative_least_squares as nonnegative_least_squares,
)
from surefit.solvers.linalg.norms import euclidean_norm as euclidean_norm
from surefit.solvers.linalg.norms import frobenius_norm as frobenius_norm
from surefit.solvers.linalg.norms import inner_product as inner_product
from surefit.solvers.linalg.norms import one_norm as one_norm
from surefit.solvers.linalg.norms import operator_norm as operator_norm
from surefit.solvers.linalg.norms import rayleigh_quotient as rayleigh_quotient
from surefit.solvers.linalg.secular_equation import least_squares_in_ball as least_squares_in_ball
from surefit.solvers.linalg.singular_values import SingularValues as SingularValues
