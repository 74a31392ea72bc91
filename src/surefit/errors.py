"""Every error and warning of surefit, to be caught or filtered by name.

>>> import surefit
>>> issubclass(surefit.errors.DataError, ValueError)
True
"""

from surefit.core.certificate import CertificateWarning as CertificateWarning
from surefit.core.errors import CheckpointWarning as CheckpointWarning
from surefit.core.errors import DataError as DataError
from surefit.core.errors import EngineError as EngineError
from surefit.core.errors import FormatError as FormatError
from surefit.core.errors import NativeWarning as NativeWarning
from surefit.core.errors import ParameterError as ParameterError
from surefit.core.errors import RefusalError as RefusalError
from surefit.core.errors import RegistryError as RegistryError
from surefit.core.errors import SeparationWarning as SeparationWarning
from surefit.core.errors import SurefitError as SurefitError
from surefit.core.errors import SurefitWarning as SurefitWarning
from surefit.data.batches.distinct import MixedCellsError as MixedCellsError
from surefit.data.checks.float_range import RangeError as RangeError
from surefit.models.bayes.categorical_nb import UnknownCategoryError as UnknownCategoryError
from surefit.models.bayes.class_covariances import PriorWarning as PriorWarning
from surefit.models.bayes.class_covariances import SingularCovarianceError as SingularCovarianceError
from surefit.models.bayes.class_covariances import UnsupportedError as UnsupportedError
from surefit.models.bayes.counted import SmoothingWarning as SmoothingWarning
from surefit.models.kernel.gaussian_process_regressor import NotPositiveError as NotPositiveError
from surefit.models.kernel.kernel_pca import NoInverseError as NoInverseError
from surefit.models.linear.common.candidate_strengths import ParameterTypeError as ParameterTypeError
from surefit.models.prepare.encoders.one_hot_encoder import UnknownCategoryWarning as UnknownCategoryWarning
from surefit.models.prepare.encoders.ordinal_encoder import UnknownValueError as UnknownValueError
from surefit.models.prepare.imputers.simple_imputer import NotInvertibleError as NotInvertibleError
from surefit.models.prepare.scalers.affine import InfiniteCellsError as InfiniteCellsError
from surefit.models.updating import UnavailableError as UnavailableError
from surefit.solvers.program.phase_one import InfeasibleError as InfeasibleError
from surefit.solvers.program.phase_one import NoAnswerError as NoAnswerError
from surefit.solvers.program.phase_one import UnboundedError as UnboundedError
