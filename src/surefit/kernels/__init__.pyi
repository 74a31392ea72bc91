# Written by `make stubs`; do not edit.

from surefit.kernels.algebra import Composed as Composed
from surefit.kernels.algebra import Exponential as Exponential
from surefit.kernels.algebra import Normalized as Normalized
from surefit.kernels.algebra import Power as Power
from surefit.kernels.algebra import Product as Product
from surefit.kernels.algebra import Scaled as Scaled
from surefit.kernels.algebra import Sum as Sum
from surefit.kernels.base import Kernel as Kernel
from surefit.kernels.base import NativeKernel as NativeKernel
from surefit.kernels.constant import Constant as Constant
from surefit.kernels.conversion import as_kernel as as_kernel
from surefit.kernels.feature_map import FeatureMap as FeatureMap
from surefit.kernels.feature_map import from_feature_map as from_feature_map
from surefit.kernels.foreign import Foreign as Foreign
from surefit.kernels.from_function import FromFunction as FromFunction
from surefit.kernels.linear import Linear as Linear
from surefit.kernels.polynomial import Polynomial as Polynomial
from surefit.kernels.precomputed import Precomputed as Precomputed
from surefit.kernels.rbf import RBF as RBF

def __dir__() -> list[str]: ...
