# Written by `make stubs`; do not edit.

from surefit.distributions.base import Distribution as Distribution
from surefit.distributions.bernoulli import Bernoulli as Bernoulli
from surefit.distributions.beta import Beta as Beta
from surefit.distributions.beta_binomial import BetaBinomial as BetaBinomial
from surefit.distributions.beta_negative_binomial import BetaNegativeBinomial as BetaNegativeBinomial
from surefit.distributions.binomial import Binomial as Binomial
from surefit.distributions.categorical import Categorical as Categorical
from surefit.distributions.chi_squared import ChiSquared as ChiSquared
from surefit.distributions.dirichlet import Dirichlet as Dirichlet
from surefit.distributions.dirichlet_multinomial import DirichletMultinomial as DirichletMultinomial
from surefit.distributions.discrete_uniform import DiscreteUniform as DiscreteUniform
from surefit.distributions.exponential import Exponential as Exponential
from surefit.distributions.f import F as F
from surefit.distributions.gamma import Gamma as Gamma
from surefit.distributions.geometric import Geometric as Geometric
from surefit.distributions.inverse_gamma import InverseGamma as InverseGamma
from surefit.distributions.inverse_gaussian import InverseGaussian as InverseGaussian
from surefit.distributions.inverse_wishart import InverseWishart as InverseWishart
from surefit.distributions.laplace import Laplace as Laplace
from surefit.distributions.log_normal import LogNormal as LogNormal
from surefit.distributions.logistic import Logistic as Logistic
from surefit.distributions.lomax import Lomax as Lomax
from surefit.distributions.multinomial import Multinomial as Multinomial
from surefit.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from surefit.distributions.multivariate_student_t import MultivariateStudentT as MultivariateStudentT
from surefit.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from surefit.distributions.normal import Normal as Normal
from surefit.distributions.normal_inverse_gamma import NormalInverseGamma as NormalInverseGamma
from surefit.distributions.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
from surefit.distributions.pareto import Pareto as Pareto
from surefit.distributions.poisson import Poisson as Poisson
from surefit.distributions.student_t import StudentT as StudentT
from surefit.distributions.uniform import Uniform as Uniform
from surefit.distributions.weibull import Weibull as Weibull
from surefit.distributions.wishart import Wishart as Wishart

def __dir__() -> list[str]: ...
