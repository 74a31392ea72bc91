# Written by `make stubs`; do not edit.

from surefit.losses.absolute import Absolute as Absolute
from surefit.losses.base import Loss as Loss
from surefit.losses.cumulative_logit import CumulativeLogit as CumulativeLogit
from surefit.losses.epsilon_insensitive import EpsilonInsensitive as EpsilonInsensitive
from surefit.losses.exponential import Exponential as Exponential
from surefit.losses.gamma import Gamma as Gamma
from surefit.losses.hinge import Hinge as Hinge
from surefit.losses.huber import Huber as Huber
from surefit.losses.inverse_gaussian import InverseGaussian as InverseGaussian
from surefit.losses.logistic import Logistic as Logistic
from surefit.losses.modified_huber import ModifiedHuber as ModifiedHuber
from surefit.losses.negative_binomial import NegativeBinomial as NegativeBinomial
from surefit.losses.perceptron import Perceptron as Perceptron
from surefit.losses.poisson import Poisson as Poisson
from surefit.losses.quantile import Quantile as Quantile
from surefit.losses.softmax import Softmax as Softmax
from surefit.losses.squared import Squared as Squared
from surefit.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
from surefit.losses.squared_hinge import SquaredHinge as SquaredHinge
from surefit.losses.squared_sigmoid import SquaredSigmoid as SquaredSigmoid
from surefit.losses.tweedie import Tweedie as Tweedie

def __dir__() -> list[str]: ...
