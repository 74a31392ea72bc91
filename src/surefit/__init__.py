"""surefit: machine learning that proves its fits.

What a user needs is here, under one name each, and nothing is imported until it is asked for, so that
``import surefit`` costs about as much as an empty module::

    >>> import surefit
    >>> surefit.config.__module__
    'surefit.core.config'

To add a public name: one line in ``_EXPORTS`` and one import for type checkers; a test keeps the two equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers and editors: the table below, said once more
    from surefit import distributions as distributions
    from surefit import plots as plots
    from surefit import report as report
    from surefit.core.callbacks import Checkpoint as Checkpoint
    from surefit.core.callbacks import EarlyStopping as EarlyStopping
    from surefit.core.callbacks import Logger as Logger
    from surefit.core.callbacks import ProgressBar as ProgressBar
    from surefit.core.callbacks import TimeBudget as TimeBudget
    from surefit.core.certificate import Certificate as Certificate
    from surefit.core.config import config as config
    from surefit.core.config import current_config as current_config
    from surefit.core.diagnosis import Diagnosis as Diagnosis
    from surefit.core.diagnosis import Finding as Finding
    from surefit.core.trace import Trace as Trace
    from surefit.data import datasets as datasets
    from surefit.data.read import read as read
    from surefit.distributions import information as information
    from surefit.evaluate.assess import assess as assess
    from surefit.evaluate.averaging import BayesianModelAverage as BayesianModelAverage
    from surefit.evaluate.bias_variance import bias_variance as bias_variance
    from surefit.evaluate.bias_variance import bias_variance_curve as bias_variance_curve
    from surefit.evaluate.compare import compare as compare
    from surefit.evaluate.complexity import effective_parameters as effective_parameters
    from surefit.evaluate.conformal import ConformalRegressor as ConformalRegressor
    from surefit.evaluate.conformal_classifier import ConformalClassifier as ConformalClassifier
    from surefit.evaluate.cross_validate import cross_validate as cross_validate
    from surefit.evaluate.cross_validate_bootstrap import bootstrap_validate as bootstrap_validate
    from surefit.evaluate.cross_validate_nested import nested_cross_validate as nested_cross_validate
    from surefit.evaluate.curves import complexity_curve as complexity_curve
    from surefit.evaluate.curves import learning_curve as learning_curve
    from surefit.evaluate.curves import validation_curve as validation_curve
    from surefit.evaluate.curves_verdict import diagnose_fit as diagnose_fit
    from surefit.evaluate.dependence import partial_dependence as partial_dependence
    from surefit.evaluate.fit_formula import fit_formula as fit_formula
    from surefit.evaluate.importance import permutation_importance as permutation_importance
    from surefit.evaluate.intervals import score_interval as score_interval
    from surefit.evaluate.original_scale import original_scale as original_scale
    from surefit.evaluate.permutation_test import permutation_test as permutation_test
    from surefit.evaluate.pipeline import Pipeline as Pipeline
    from surefit.evaluate.pipeline import make_pipeline as make_pipeline
    from surefit.evaluate.search_choice import simplest_within as simplest_within
    from surefit.evaluate.search_grid import GridSearch as GridSearch
    from surefit.evaluate.search_halving import HalvingSearch as HalvingSearch
    from surefit.evaluate.search_random import RandomSearch as RandomSearch
    from surefit.evaluate.select_filters import SelectByPermutation as SelectByPermutation
    from surefit.evaluate.select_filters import SelectFdr as SelectFdr
    from surefit.evaluate.select_filters import SelectFpr as SelectFpr
    from surefit.evaluate.select_filters import SelectFwe as SelectFwe
    from surefit.evaluate.select_filters import SelectKBest as SelectKBest
    from surefit.evaluate.select_filters import SelectPercentile as SelectPercentile
    from surefit.evaluate.select_leak import selection_leak_demo as selection_leak_demo
    from surefit.evaluate.select_model import SelectFromModel as SelectFromModel
    from surefit.evaluate.select_model import SelectFromPath as SelectFromPath
    from surefit.evaluate.select_random import AnnealingSelector as AnnealingSelector
    from surefit.evaluate.select_random import GeneticSelector as GeneticSelector
    from surefit.evaluate.select_variance import VarianceThreshold as VarianceThreshold
    from surefit.evaluate.select_wrappers import ExhaustiveSelector as ExhaustiveSelector
    from surefit.evaluate.select_wrappers import SequentialFeatureSelector as SequentialFeatureSelector
    from surefit.io.load import inspect as inspect
    from surefit.io.load import load as load
    from surefit.io.save import save as save
    from surefit.io.verify import verify as verify
    from surefit.models.baseline.majority import MajorityClassifier as MajorityClassifier
    from surefit.models.baseline.mean import MeanRegressor as MeanRegressor
    from surefit.models.bayes.gaussian_nb import GaussianNB as GaussianNB
    from surefit.models.factor.incremental_pca import IncrementalPCA as IncrementalPCA
    from surefit.models.factor.pca import PCA as PCA
    from surefit.models.linear.ard_regression import ARDRegression as ARDRegression
    from surefit.models.linear.bayesian_logit import BayesianLogisticRegression as BayesianLogisticRegression
    from surefit.models.linear.bayesian_regression import BayesianLinearRegression as BayesianLinearRegression
    from surefit.models.linear.bayesian_ridge import BayesianRidge as BayesianRidge
    from surefit.models.linear.constrained import ConstrainedLasso as ConstrainedLasso
    from surefit.models.linear.constrained import ConstrainedRidge as ConstrainedRidge
    from surefit.models.linear.elastic_net import ElasticNet as ElasticNet
    from surefit.models.linear.elastic_net_cv import ElasticNetCV as ElasticNetCV
    from surefit.models.linear.elastic_net_cv import LassoCV as LassoCV
    from surefit.models.linear.gamma_regressor import GammaRegressor as GammaRegressor
    from surefit.models.linear.glm_regressor import GeneralizedLinearRegressor as GeneralizedLinearRegressor
    from surefit.models.linear.huber import HuberRegressor as HuberRegressor
    from surefit.models.linear.lad import LADRegressor as LADRegressor
    from surefit.models.linear.lars import Lars as Lars
    from surefit.models.linear.lars import LassoLars as LassoLars
    from surefit.models.linear.lars_cv import LassoLarsCV as LassoLarsCV
    from surefit.models.linear.lars_ic import LassoLarsIC as LassoLarsIC
    from surefit.models.linear.lars_path import lars_path as lars_path
    from surefit.models.linear.lasso import Lasso as Lasso
    from surefit.models.linear.linear_model import LinearModel as LinearModel
    from surefit.models.linear.linear_regression import LinearRegression as LinearRegression
    from surefit.models.linear.linear_svc import LinearSVC as LinearSVC
    from surefit.models.linear.linear_svr import LinearSVR as LinearSVR
    from surefit.models.linear.logistic import LogisticRegression as LogisticRegression
    from surefit.models.linear.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
    from surefit.models.linear.multi_task import MultiTaskElasticNet as MultiTaskElasticNet
    from surefit.models.linear.multi_task import MultiTaskLasso as MultiTaskLasso
    from surefit.models.linear.multi_task_cv import MultiTaskElasticNetCV as MultiTaskElasticNetCV
    from surefit.models.linear.multi_task_cv import MultiTaskLassoCV as MultiTaskLassoCV
    from surefit.models.linear.one_vs_one import OneVsOneClassifier as OneVsOneClassifier
    from surefit.models.linear.one_vs_rest import OneVsRestClassifier as OneVsRestClassifier
    from surefit.models.linear.ordinal_classifier import OrdinalClassifier as OrdinalClassifier
    from surefit.models.linear.perceptron import Perceptron as Perceptron
    from surefit.models.linear.poisson_regressor import PoissonRegressor as PoissonRegressor
    from surefit.models.linear.quantile import QuantileRegressor as QuantileRegressor
    from surefit.models.linear.ridge import Ridge as Ridge
    from surefit.models.linear.ridge_classifier import RidgeClassifier as RidgeClassifier
    from surefit.models.linear.ridge_cv import RidgeClassifierCV as RidgeClassifierCV
    from surefit.models.linear.ridge_cv import RidgeCV as RidgeCV
    from surefit.models.linear.sgd_classifier import SGDClassifier as SGDClassifier
    from surefit.models.linear.sgd_regressor import SGDRegressor as SGDRegressor
    from surefit.models.linear.sparse_path import enet_path as enet_path
    from surefit.models.linear.sparse_path import lasso_path as lasso_path
    from surefit.models.linear.tweedie_regressor import TweedieRegressor as TweedieRegressor
    from surefit.models.prepare.basis_expansion import BasisExpansion as BasisExpansion
    from surefit.models.prepare.contrast_encoder import ContrastEncoder as ContrastEncoder
    from surefit.models.prepare.formula_preparer import FormulaPreparer as FormulaPreparer
    from surefit.models.prepare.min_max_scaler import MinMaxScaler as MinMaxScaler
    from surefit.models.prepare.missing_indicator import MissingIndicator as MissingIndicator
    from surefit.models.prepare.one_hot_encoder import OneHotEncoder as OneHotEncoder
    from surefit.models.prepare.ordinal_encoder import OrdinalEncoder as OrdinalEncoder
    from surefit.models.prepare.polynomial_features import PolynomialFeatures as PolynomialFeatures
    from surefit.models.prepare.robust_scaler import RobustScaler as RobustScaler
    from surefit.models.prepare.simple_imputer import SimpleImputer as SimpleImputer
    from surefit.models.prepare.standard_scaler import StandardScaler as StandardScaler
    from surefit.models.prepare.table_preparer import TablePreparer as TablePreparer
    from surefit.models.prepare.target_encoder import TargetEncoder as TargetEncoder
    from surefit.models.tree.adaboost_classifier import AdaBoostClassifier as AdaBoostClassifier
    from surefit.models.tree.adaboost_regressor import AdaBoostRegressor as AdaBoostRegressor
    from surefit.models.tree.bagging_classifier import BaggingClassifier as BaggingClassifier
    from surefit.models.tree.bagging_regressor import BaggingRegressor as BaggingRegressor
    from surefit.models.tree.decision_tree_classifier import DecisionTreeClassifier as DecisionTreeClassifier
    from surefit.models.tree.decision_tree_regressor import DecisionTreeRegressor as DecisionTreeRegressor
    from surefit.models.tree.extra_trees_classifier import ExtraTreesClassifier as ExtraTreesClassifier
    from surefit.models.tree.extra_trees_regressor import ExtraTreesRegressor as ExtraTreesRegressor
    from surefit.models.tree.hist_gradient_boosting_classifier import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from surefit.models.tree.hist_gradient_boosting_regressor import (
        HistGradientBoostingRegressor as HistGradientBoostingRegressor,
    )
    from surefit.models.tree.random_forest_classifier import RandomForestClassifier as RandomForestClassifier
    from surefit.models.tree.random_forest_regressor import RandomForestRegressor as RandomForestRegressor
    from surefit.solvers.minimize import minimize as minimize
    from surefit.study.audit import audit as audit
    from surefit.study.kinds import decide_kinds as decide_kinds
    from surefit.study.learn import learn as learn
    from surefit.study.typed import typed as typed

    __version__: str

_EXPORTS = {
    "ARDRegression": "models.linear.ard_regression",
    "AdaBoostClassifier": "models.tree.adaboost_classifier",
    "AdaBoostRegressor": "models.tree.adaboost_regressor",
    "AnnealingSelector": "evaluate.select_random",
    "BaggingClassifier": "models.tree.bagging_classifier",
    "BaggingRegressor": "models.tree.bagging_regressor",
    "BasisExpansion": "models.prepare.basis_expansion",
    "BayesianLinearRegression": "models.linear.bayesian_regression",
    "BayesianLogisticRegression": "models.linear.bayesian_logit",
    "BayesianModelAverage": "evaluate.averaging",
    "BayesianRidge": "models.linear.bayesian_ridge",
    "Certificate": "core.certificate",
    "Checkpoint": "core.callbacks",
    "ConformalClassifier": "evaluate.conformal_classifier",
    "ConformalRegressor": "evaluate.conformal",
    "ConstrainedLasso": "models.linear.constrained",
    "ConstrainedRidge": "models.linear.constrained",
    "ContrastEncoder": "models.prepare.contrast_encoder",
    "DecisionTreeClassifier": "models.tree.decision_tree_classifier",
    "DecisionTreeRegressor": "models.tree.decision_tree_regressor",
    "Diagnosis": "core.diagnosis",
    "EarlyStopping": "core.callbacks",
    "ElasticNet": "models.linear.elastic_net",
    "ElasticNetCV": "models.linear.elastic_net_cv",
    "ExhaustiveSelector": "evaluate.select_wrappers",
    "ExtraTreesClassifier": "models.tree.extra_trees_classifier",
    "ExtraTreesRegressor": "models.tree.extra_trees_regressor",
    "Finding": "core.diagnosis",
    "FormulaPreparer": "models.prepare.formula_preparer",
    "GammaRegressor": "models.linear.gamma_regressor",
    "GaussianNB": "models.bayes.gaussian_nb",
    "GeneralizedLinearRegressor": "models.linear.glm_regressor",
    "GeneticSelector": "evaluate.select_random",
    "GridSearch": "evaluate.search_grid",
    "HalvingSearch": "evaluate.search_halving",
    "HistGradientBoostingClassifier": "models.tree.hist_gradient_boosting_classifier",
    "HistGradientBoostingRegressor": "models.tree.hist_gradient_boosting_regressor",
    "HuberRegressor": "models.linear.huber",
    "IncrementalPCA": "models.factor.incremental_pca",
    "LADRegressor": "models.linear.lad",
    "Lars": "models.linear.lars",
    "Lasso": "models.linear.lasso",
    "LassoCV": "models.linear.elastic_net_cv",
    "LassoLars": "models.linear.lars",
    "LassoLarsCV": "models.linear.lars_cv",
    "LassoLarsIC": "models.linear.lars_ic",
    "LinearModel": "models.linear.linear_model",
    "LinearRegression": "models.linear.linear_regression",
    "LinearSVC": "models.linear.linear_svc",
    "LinearSVR": "models.linear.linear_svr",
    "Logger": "core.callbacks",
    "LogisticRegression": "models.linear.logistic",
    "LogisticRegressionCV": "models.linear.logistic_cv",
    "MajorityClassifier": "models.baseline.majority",
    "MeanRegressor": "models.baseline.mean",
    "MinMaxScaler": "models.prepare.min_max_scaler",
    "MissingIndicator": "models.prepare.missing_indicator",
    "MultiTaskElasticNet": "models.linear.multi_task",
    "MultiTaskElasticNetCV": "models.linear.multi_task_cv",
    "MultiTaskLasso": "models.linear.multi_task",
    "MultiTaskLassoCV": "models.linear.multi_task_cv",
    "OneHotEncoder": "models.prepare.one_hot_encoder",
    "OneVsOneClassifier": "models.linear.one_vs_one",
    "OneVsRestClassifier": "models.linear.one_vs_rest",
    "OrdinalClassifier": "models.linear.ordinal_classifier",
    "OrdinalEncoder": "models.prepare.ordinal_encoder",
    "PCA": "models.factor.pca",
    "Perceptron": "models.linear.perceptron",
    "Pipeline": "evaluate.pipeline",
    "PoissonRegressor": "models.linear.poisson_regressor",
    "PolynomialFeatures": "models.prepare.polynomial_features",
    "ProgressBar": "core.callbacks",
    "QuantileRegressor": "models.linear.quantile",
    "RandomForestClassifier": "models.tree.random_forest_classifier",
    "RandomForestRegressor": "models.tree.random_forest_regressor",
    "RandomSearch": "evaluate.search_random",
    "Ridge": "models.linear.ridge",
    "RidgeCV": "models.linear.ridge_cv",
    "RidgeClassifier": "models.linear.ridge_classifier",
    "RidgeClassifierCV": "models.linear.ridge_cv",
    "RobustScaler": "models.prepare.robust_scaler",
    "SGDClassifier": "models.linear.sgd_classifier",
    "SGDRegressor": "models.linear.sgd_regressor",
    "SelectByPermutation": "evaluate.select_filters",
    "SelectFdr": "evaluate.select_filters",
    "SelectFpr": "evaluate.select_filters",
    "SelectFromModel": "evaluate.select_model",
    "SelectFromPath": "evaluate.select_model",
    "SelectFwe": "evaluate.select_filters",
    "SelectKBest": "evaluate.select_filters",
    "SelectPercentile": "evaluate.select_filters",
    "SequentialFeatureSelector": "evaluate.select_wrappers",
    "SimpleImputer": "models.prepare.simple_imputer",
    "StandardScaler": "models.prepare.standard_scaler",
    "TablePreparer": "models.prepare.table_preparer",
    "TargetEncoder": "models.prepare.target_encoder",
    "TimeBudget": "core.callbacks",
    "Trace": "core.trace",
    "TweedieRegressor": "models.linear.tweedie_regressor",
    "VarianceThreshold": "evaluate.select_variance",
    "assess": "evaluate.assess",
    "audit": "study.audit",
    "bias_variance": "evaluate.bias_variance",
    "bias_variance_curve": "evaluate.bias_variance",
    "bootstrap_validate": "evaluate.cross_validate_bootstrap",
    "compare": "evaluate.compare",
    "complexity_curve": "evaluate.curves",
    "config": "core.config",
    "cross_validate": "evaluate.cross_validate",
    "current_config": "core.config",
    "datasets": "data",
    "decide_kinds": "study.kinds",
    "diagnose_fit": "evaluate.curves_verdict",
    "effective_parameters": "evaluate.complexity",
    "enet_path": "models.linear.sparse_path",
    "fit_formula": "evaluate.fit_formula",
    "information": "distributions",
    "inspect": "io.load",
    "lars_path": "models.linear.lars_path",
    "lasso_path": "models.linear.sparse_path",
    "learn": "study.learn",
    "learning_curve": "evaluate.curves",
    "load": "io.load",
    "make_pipeline": "evaluate.pipeline",
    "minimize": "solvers.minimize",
    "nested_cross_validate": "evaluate.cross_validate_nested",
    "original_scale": "evaluate.original_scale",
    "partial_dependence": "evaluate.dependence",
    "permutation_importance": "evaluate.importance",
    "permutation_test": "evaluate.permutation_test",
    "read": "data.read",
    "save": "io.save",
    "score_interval": "evaluate.intervals",
    "selection_leak_demo": "evaluate.select_leak",
    "simplest_within": "evaluate.search_choice",
    "typed": "study.typed",
    "validation_curve": "evaluate.curves",
    "verify": "io.verify",
}

_FOLDERS = ("distributions", "plots", "report")  # packages that are public as they are

__all__ = [*_EXPORTS, "__version__"]


if not TYPE_CHECKING:  # hidden from type checkers, so that they refuse a misspelt name

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("surefit")
        elif name in _EXPORTS:
            # with a list of names, as `from ... import` does it, so that the name may be a module of its own
            value = getattr(__import__(f"surefit.{_EXPORTS[name]}", fromlist=[name]), name)
        elif name in _FOLDERS:
            value = __import__(f"surefit.{name}", fromlist=["*"])
        else:
            from difflib import get_close_matches

            near = get_close_matches(name, __all__, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "dir(surefit) lists what it has."
            raise AttributeError(f"module 'surefit' has no attribute {name!r}: {hint}")
        globals()[name] = value  # so that the next look-up does not come here
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
