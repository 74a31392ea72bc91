"""Kernels: how alike two things are, as a number that behaves like an inner product.

A kernel is a value: it has parameters, is made out of others by algebra, and turns rows, strings or any
objects into a Gram matrix. Models see the contract in ``base`` alone::

    X, Y --kernel(X, Y)--> Gram block (n, m)            --models/kernel--> a fit
    X    --kernel(X, eval_gradient=True)--> and its slope by the logs of the free parameters: evidence
         --kernel.native()--> kind, gamma, coef0, degree, scale: what compiled code needs

Every kernel is here under the name of its class. ``mercer`` says whether it is positive semi-definite by
construction; sums, products, powers and the other rules keep that, differences and negative factors are
refused::

    >>> from surefit.kernels import RBF, Linear
    >>> kernel = 0.5 * RBF(2.0) + Linear() ** 2
    >>> kernel
    0.5 * RBF(length_scale=2.0) + Linear() ** 2
    >>> kernel([[1.0, 2.0], [3.0, 4.0]]).round(4)
    array([[ 25.5   , 121.1839],
           [121.1839, 625.5   ]])

``mercer`` looks at a kernel on data (positive? centred? aligned?), ``cholesky`` factorises its Gram matrix.
``rows`` has inner products and squared distances, ``algebra`` the rules that make kernels of kernels,
``conversion`` the door for names, functions and kernels of scikit-learn. To add one: a file here with a
class below :class:`~surefit.kernels.base.Kernel` that gives itself a ``name`` and writes ``_gram``; free
parameters are listed in ``free`` and have a ``_slope``. The laws of kernels find it by themselves.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.kernels.base import Kernel as Kernel
from surefit.kernels.base import NativeKernel as NativeKernel
from surefit.kernels.cholesky import PivotedCholesky as PivotedCholesky
from surefit.kernels.cholesky import pivoted_cholesky as pivoted_cholesky
from surefit.kernels.conversion import as_kernel as as_kernel
from surefit.kernels.feature_map import from_feature_map as from_feature_map
from surefit.kernels.mercer import MercerCheck as MercerCheck
from surefit.kernels.mercer import alignment as alignment
from surefit.kernels.mercer import centred_gram as centred_gram
from surefit.kernels.mercer import check_mercer as check_mercer
from surefit.kernels.mercer import median_width as median_width
from surefit.kernels.string_measures import common_substrings as common_substrings
from surefit.kernels.string_measures import edit_distance as edit_distance
from surefit.kernels.string_measures import longest_common_subsequence as longest_common_subsequence
from surefit.kernels.string_measures import longest_common_substring as longest_common_substring

__getattr__, __dir__ = members_door(__name__, "kernel")
