"""What the laws of estimators share: the classes to test, an instance of each, and data that suit it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_clusterer

import surefit
from surefit.core.parameters import parameters_of
from surefit.core.registry import members
from surefit.models.base import Estimator
from surefit.models.neighbors.base import NeighborModel
from surefit.models.updating import OneStatistic

# Those that must be given another estimator have laws of their own, in test_binary_members.py.
CLASSES: dict[str, type[Estimator]] = {
    name: cls  # type: ignore[misc]
    for name, cls in members("estimator").items()
    if all(parameter.default is not inspect.Parameter.empty for parameter in parameters_of(cls).values())
}

each_estimator = pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES.keys())

# A table names one target; models of several take them beside it.
SINGLE = {name: cls for name, cls in CLASSES.items() if cls().__sklearn_tags__().target_tags.single_output}
each_single_target = pytest.mark.parametrize("cls", SINGLE.values(), ids=SINGLE.keys())


def table(cls: type[Estimator], rows: int = 60, columns: int = 4, seed: int = 0) -> tuple[Any, Any]:
    """X and y of the kind that the class accepts; y follows from X with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    signal = X @ rng.normal(size=columns) + 0.3 * rng.normal(size=rows)
    if cls.accepts.cells:
        X = np.round(2 * X)  # cells are levels, so there must not be as many as rows
    if cls().__sklearn_tags__().input_tags.positive_only:
        X = np.minimum(np.abs(np.round(2 * X)), 3.0)  # counts, or codes that some rows of each part have
    if cls.accepts.target == "none":
        return X, None
    if cls.accepts.target == "class":
        kind = cls().__sklearn_tags__().classifier_tags
        ends = [-1.0, 1.0] if kind is None or kind.multi_class else [0.0]
        return X, np.array(["high", "low", "middle"])[np.digitize(signal, ends)]
    if not cls().__sklearn_tags__().target_tags.single_output:
        return X, np.column_stack([signal, X[:, 0] - signal])
    if cls().__sklearn_tags__().target_tags.positive_only:
        return X, np.exp(0.5 * signal)
    return X, signal


# What makes a class keep a statistic that rows can be added to, where its defaults do not.
KEEPING: dict[str, dict[str, Any]] = {"RidgeCV": {"cv": 3, "folds": "content"}}
KEEPING |= {f"RadiusNeighbors{kind}": {"radius": 4.0} for kind in ("Classifier", "Regressor")}  # all are near


# What makes an iterative fit as exact as the laws compare.
EXACT: dict[str, dict[str, Any]] = {
    name: {"tol": 1e-10}
    for name, cls in CLASSES.items()
    if any(part in name for part in ("Lasso", "ElasticNet", "Logistic")) and "tol" in parameters_of(cls)
}
EXACT |= {
    name: {"tol": 1e-10}
    for name in (
        "GammaRegressor",
        "GeneralizedLinearRegressor",
        "HuberRegressor",
        "LinearSVC",
        "LinearSVR",
        "NuSVC",
        "NuSVR",
        "OneClassSVM",
        "OrdinalClassifier",
        "PoissonRegressor",
        "SVC",
        "SVR",
        "TweedieRegressor",
    )
}
EXACT |= {name: {"tol": 1e-10, "alphas": 12} for name in EXACT if name.endswith(("LassoCV", "ElasticNetCV"))}
EXACT["LogisticRegressionCV"] = {"tol": 1e-10, "Cs": [0.1, 1.0], "cv": 3}  # a grid as small as has a choice
EXACT["OrdinalClassifier"] = {"tol": 1e-10, "alpha": 1e-3}  # separable classes have no best answer without
EXACT["NuSVC"] = {"tol": 1e-10, "nu": 0.3}  # which leaves room for a class of few rows
# Stochastic steps depend on the order of rows: these go on to the minimum, or step for all rows at once.
EXACT["SGDRegressor"] = {"polish": True, "tol": 1e-12, "max_iter": 25}
EXACT["SGDClassifier"] = {"polish": True, "tol": 1e-13, "loss": "log_loss", "alpha": 0.1, "max_iter": 25}
EXACT["Perceptron"] = {"batch": True, "tol": None, "max_iter": 10}
EXACT["QuadraticDiscriminantAnalysis"] = {"reg_param": 0.1}  # a few rows of many columns have no inverse
EXACT["LassoLarsIC"] = {"noise_variance": 0.1}  # which it could not estimate from as few rows as columns
# Rows that are drawn depend on their order and number: these give all rows to every member.
EXACT["AdaBoostClassifier"] = {"n_estimators": 5}
EXACT["AdaBoostRegressor"] = {"resample": False, "n_estimators": 5}
# A leaf counts rows, not weights, so that a weight is a repetition only where one row is enough.
EXACT["HistGradientBoostingClassifier"] = {"max_iter": 5, "min_samples_leaf": 1}
EXACT["HistGradientBoostingRegressor"] = {"max_iter": 5, "min_samples_leaf": 1}
EXACT["BaggingClassifier"] = {"bootstrap": False, "n_estimators": 2}
EXACT["BaggingRegressor"] = {"bootstrap": False, "n_estimators": 2}
EXACT |= {
    name: {"bootstrap": False, "n_estimators": 3}
    for name in CLASSES
    if name.startswith(("RandomForest", "ExtraTrees"))
}
# Noise keeps the system of repeated rows far from singular.
EXACT["GaussianProcessRegressor"] = {"alpha": 0.1, "optimizer": None}
EXACT["RadiusNeighborsClassifier"] = {"radius": 1.5, "outlier_label": "most_frequent"}
EXACT["RadiusNeighborsRegressor"] = {"radius": 3.0}
EXACT["LVQClassifier"] = {"tol": 1e-11, "algorithm": "rslvq"}
# Their answers name the rows of the fit, so that other rows, or others in turn, give other answers.
NAMES_ROWS = {"KNeighborsTransformer", "RadiusNeighborsTransformer"}
EXACT["Nystroem"] = {"centres": "pivoted"}  # which draws nothing
EXACT["KernelPCA"] = {"fit_inverse_transform": True}  # so that there is a way back
EXACT["KernelLogisticRegression"] = {"tol": 1e-10}
# Pictures of neighbourhoods move until they are asked to stop: the laws need few of those steps.
EXACT["TSNE"] = {"max_iter": 250, "perplexity": 5.0}
EXACT["UMAP"] = {"n_epochs": 20}
EXACT["FastICA"] = {"n_components": 1}  # normal columns have no independent directions to agree on
EXACT["NMF"] = {"n_components": 2, "tol": 1e-13, "max_iter": 20_000}
EXACT["MiniBatchNMF"] = {"n_components": 2, "tol": 1e-12, "max_iter": 20_000, "batch_size": 10**6}
# How many rows are enough where the work grows faster than they do, or where more tell less.
MANY = {"TSNE": 100, "UMAP": 100, "FastICA": 60, "SpectralClustering": 1500, "SpectralEmbedding": 1500}
# Nothing is drawn, and a weight is a repetition, where labels come by pivots and graphs from a kernel.
EXACT["SpectralClustering"] = {"n_clusters": 3, "assign_labels": "cluster_qr"}
EXACT["SpectralEmbedding"] = {"affinity": "rbf"}
EXACT["DBSCAN"] = {"eps": 1.2}  # within which some rows of the table have others

# What makes folds the same for rows in any order, and for weights as for repetition.
BY_CONTENT: dict[str, dict[str, Any]] = {
    name: {"cv": 3, "folds": "content"}
    for name, cls in CLASSES.items()
    if "Lasso" in name or "ElasticNet" in name or "Logistic" in name
    if "folds" in parameters_of(cls)
}


def exact(cls: type[Estimator]) -> Any:
    """An instance that stops only where rounding begins, and draws the same rows each time."""
    fixed = {"random_state": 0} if "random_state" in parameters_of(cls) else {}
    return cls(**{**fixed, **EXACT.get(cls.__name__, {})})


# These draw batches from a table in memory, and take those of a source in its order.
BATCHES_OF_SOURCES = {"MiniBatchKMeans"}


# How many members or candidates a law needs that is not about them: a hundred prove no more than ten.
FEWER: dict[str, Any] = {"n_estimators": 10, "Cs": 3}


def lighter(cls: type[Estimator]) -> Any:
    """An instance at its defaults, but for how many members or candidates it has."""
    known = parameters_of(cls)
    return cls(**{name: few for name, few in FEWER.items() if name in known})


def precision(cls: type[Estimator]) -> float:
    """How close exact fits of the same rows in other forms are: a gap of 1e-14 is 1e-7 in coefficients."""
    return 1e-7 if cls.__name__ in EXACT else 1e-12


def repeatable(cls: type[Estimator]) -> Any:
    """An exact instance for which a row is a row, wherever it stands."""
    return exact(cls).set_params(**BY_CONTENT.get(cls.__name__, {}))


def keeping(cls: type[Estimator]) -> Any:
    """An instance that takes more rows later and gives rows back; None if the class has none."""
    model = cls(**KEEPING.get(cls.__name__, {}))
    return model if isinstance(model, OneStatistic | NeighborModel) else None


def weighted(cls: type[Estimator], X: Any, y: Any, weight: Any) -> tuple[Any, ...]:
    """The arguments of fit and verify for weighted rows; where fit takes no weights, they come in a table."""
    if "sample_weight" in inspect.signature(cls.fit).parameters:
        return X, y, weight
    import pyarrow as pa

    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | ({} if y is None else {"y": y}) | {"w": weight}
    return (surefit.read(pa.table(columns), target=None if y is None else "y", weight="w"),)


def outputs(model: Any, X: Any) -> dict[str, Any]:
    """Everything that a fitted model answers for some rows."""
    names = ["predict", "predict_proba", "decision_function", "transform", "score_samples"]
    found = {name: getattr(model, name)(X) for name in names if hasattr(model, name)}
    if is_clusterer(model) and "predict" in found:
        found["predict"] = renumbered(found["predict"])
    return {name: value.toarray() if hasattr(value, "toarray") else value for name, value in found.items()}


def renumbered(labels: Any) -> Any:
    """Labels of clusters in the order in which they appear: what number a cluster has is no answer. Rows in
    no cluster keep -1.
    """
    labels = np.asarray(labels)
    values, first = np.unique(labels[labels >= 0], return_index=True)
    number = {value: at for at, value in enumerate(values[np.argsort(first)].tolist())}
    return np.array([number.get(label, -1) for label in labels.tolist()])


def change_first_number(model: Any) -> None:
    """Change the first of the fitted floats a little: an array's entry, or a number by itself."""
    for name in model.learns.__dataclass_fields__:
        value = getattr(model, f"{name}_")
        for array in value if isinstance(value, list | tuple) else [value]:
            if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size:
                array.flat[0] = array.flat[0] * 1.001 + 1e-3
                return
        if isinstance(value, float):
            setattr(model, f"{name}_", value * 1.001 + 1e-3)
            return
    raise AssertionError("the model has learnt no number that could be changed")


def assert_same_bits(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one.keys() == two.keys()
    assert one
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


def dense(value: Any) -> Any:
    """A sparse value, or an array that holds one, as a matrix."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0:
        value = value.item()
    return value.toarray() if hasattr(value, "toarray") else value


def assert_close(one: dict[str, Any], two: dict[str, Any], rtol: float = 1e-9) -> None:
    assert one.keys() == two.keys()
    assert one
    for name in one:
        # Rows that are kept stay sparse or dense, as they came.
        a, b = dense(one[name]), dense(two[name])
        if np.asarray(a).dtype.kind in "fc":
            scale = np.max(np.abs(a), initial=0.0)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)
