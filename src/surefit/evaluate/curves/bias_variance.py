"""Bias, variance and noise of a way to learn, measured by learning again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.door import is_streamed
from surefit.data.source import Source
from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.cross_validate import jobs_of
from surefit.evaluate.rows.dataset import rows_of
from surefit.evaluate.rows.source_models import answers_of

FOLDS = 20  # groups of training sets whose spread gives the error of a term that is not a mean


@dataclass(frozen=True, slots=True)
class Split:
    """Means of bias, variance, noise and total, their errors, the same at each point, and further terms."""

    means: tuple[float, float, float, float]
    errors: Mapping[str, float]
    points: Mapping[str, Matrix]
    terms: Mapping[str, float]


def decompose_labels(answers: NDArray[Any], truth: Any, form: str) -> Split:
    """Split the loss of labels, (draws, points), against labels or probabilities of classes at the points.

    >>> found = decompose_labels(np.array([["a", "b"], ["a", "a"], ["b", "a"]]), ["a", "b"], "kohavi_wolpert")
    >>> [round(value, 4) for value in found.means]
    [0.2778, 0.2222, 0.0, 0.5]
    """
    classes, share = _truth(answers, truth)
    codes = np.searchsorted(classes, answers)
    one = _domingos if form == "domingos" else _kohavi_wolpert
    points, terms = one(_frequencies(codes, len(classes)), share)
    names = ("bias", "variance", "noise", "total")
    groups = [part for part in np.array_split(np.arange(len(codes)), min(FOLDS, len(codes))) if len(part)]
    # Leaving out one group after the other (the jackknife) gives the error of any smooth function of shares.
    left = []
    for part in groups:
        rest = np.delete(codes, part, axis=0)
        if len(rest):
            found, _ = one(_frequencies(rest, len(classes)), share)
            left.append([found[name].mean() for name in names])
    table = np.array(left)
    spread = np.sqrt((len(table) - 1) / len(table) * ((table - table.mean(axis=0)) ** 2).sum(axis=0))
    errors = {name: float(value) for name, value in zip(names, spread, strict=True)}
    means = tuple(float(points[name].mean()) for name in names)
    return Split(means, errors, points, terms)  # type: ignore[arg-type]


def _truth(answers: NDArray[Any], truth: Any) -> tuple[NDArray[Any], Matrix]:
    given = np.asarray(truth)
    if given.ndim == 2:
        classes = np.unique(answers)
        if given.shape[0] != answers.shape[1] or not np.allclose(given.sum(axis=1), 1.0):
            raise DataError("truth must hold a row of probabilities, which sum to 1, for each point.")
        if len(classes) > given.shape[1]:
            raise DataError(f"truth has {given.shape[1]} classes, but the answers have {len(classes)}.")
        if len(classes) < given.shape[1]:  # codes stand for themselves where a class was never predicted
            classes = np.arange(given.shape[1])
            if not np.isin(answers, classes).all():
                raise DataError(
                    "with probabilities as truth, labels must be 0, 1, ...: some class is never predicted."
                )
        return classes, given.astype(np.float64)
    if given.shape != answers.shape[1:]:
        raise DataError(
            f"truth has shape {given.shape} for {answers.shape[1]} points; give one label a point."
        )
    classes = np.unique(np.concatenate([np.unique(answers), np.unique(given)]))
    return classes, (given[:, None] == classes).astype(np.float64)


def _frequencies(codes: NDArray[np.intp], classes: int) -> Matrix:
    return np.stack([(codes == code).mean(axis=0) for code in range(classes)], axis=1)


def _kohavi_wolpert(q: Matrix, p: Matrix) -> tuple[dict[str, Matrix], dict[str, float]]:
    """bias^2 = 1/2 sum (p - q)^2, variance = 1/2 (1 - sum q^2), noise = 1/2 (1 - sum p^2)."""
    bias = ((p - q) ** 2).sum(axis=1) / 2
    variance, noise = (1 - (q**2).sum(axis=1)) / 2, (1 - (p**2).sum(axis=1)) / 2
    return {"bias": bias, "variance": variance, "noise": noise, "total": bias + variance + noise}, {}


def _domingos(q: Matrix, p: Matrix) -> tuple[dict[str, Matrix], dict[str, float]]:
    """loss = c1 noise + bias + c2 variance, with the bias of the main prediction against the best label."""
    rows = np.arange(len(q))
    best, main = p.argmax(axis=1), q.argmax(axis=1)
    bias = (best != main).astype(np.float64)
    variance, noise = 1 - q[rows, main], 1 - p[rows, best]
    against_best = 1 - q[rows, best]  # the loss if there were no noise: bias + c2 variance
    total = 1 - (p * q).sum(axis=1)
    points = {
        "bias": bias,
        "variance": against_best - bias,
        "noise": total - against_best,
        "total": total,
        "main": main.astype(np.float64),
    }
    terms = {
        "variance where unbiased": float((variance * (bias == 0)).mean()),
        "variance where biased": float((variance * (bias == 1)).mean()),
        "disagreement": float(variance.mean()),
        "bayes error": float(noise.mean()),
    }
    return points, terms


LOSSES = ("squared", "domingos", "kohavi_wolpert")


@dataclass(frozen=True, slots=True)
class BiasVariance:
    """The parts of the expected loss, averaged over the points, and the standard error of each by simulation.

    For squared loss and Kohavi and Wolpert's form, ``total`` is the sum of ``bias`` (squared already),
    ``variance`` and ``noise``. For Domingos' form, ``variance`` is the net one, which lowers the loss at
    points where the main prediction is wrong; ``noise`` is what noise adds to the loss, and ``terms``
    has the rest.
    """

    loss: str
    bias: float
    variance: float
    noise: float
    total: float
    errors: Mapping[str, float]
    draws: int
    points: Mapping[str, Vector]
    terms: Mapping[str, float]

    def __str__(self) -> str:
        names = ("bias", "variance", "noise", "total")
        parts = [f"{name} {getattr(self, name):.4g} ± {self.errors.get(name, 0.0):.2g}" for name in names]
        return f"{self.loss} loss: {', '.join(parts)} ({self.draws} training sets)"


@public
def bias_variance(
    model: Any,
    data: Callable[[np.random.Generator], tuple[Any, Any]] | tuple[Any, Any] | Source,
    X: Any,
    truth: Any,
    *,
    noise: Any = 0.0,
    loss: str = "squared",
    draws: int = 200,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> BiasVariance:
    r"""Split the expected loss at some points into bias, variance and noise.

    .. math:: E(y - \hat f)^2 = \sigma^2 + (f - E\hat f)^2 + E(\hat f - E\hat f)^2

    model: what is fitted to each training set. data: a function of a random generator that makes a
    training set (X, y), for a simulation; or one training set, (X, y) or a source with a target, whose rows
    are then drawn with replacement. X, truth: the points, and what is true there: for squared loss the
    value without noise, or, where it is not known, a measured one, whose noise then counts as bias; for
    labels the label, or the probability of each class, in the order of the labels' values. noise: the
    variance of the noise, for squared loss. loss: "squared"; or, for labels, "domingos" or
    "kohavi_wolpert", the two ways to split the 0-1 loss. draws: training sets.

    >>> import surefit
    >>> def sample(rng):
    ...     return np.zeros((10, 1)), 3.0 + 2.0 * rng.normal(size=10)
    >>> found = bias_variance(surefit.MeanRegressor(), sample, [[0.0]], [3.0], noise=4.0, draws=2000)
    >>> print(f"{found.bias:.3f} {found.variance:.2f} {found.noise:.0f} {found.total:.1f}")
    0.000 0.40 4 4.4
    """
    if loss not in LOSSES:
        raise ParameterError(f"loss={loss!r} must be one of {', '.join(LOSSES)}.")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise ParameterError(f"draws={draws!r} must be a whole number of at least 2.")
    answers = predictions_of(model, data, X, int(draws), n_jobs, random_state)
    if loss != "squared":
        found = decompose_labels(answers, truth, loss)
        return BiasVariance(loss, *found.means, found.errors, int(draws), found.points, found.terms)
    return _squared(answers.astype(np.float64), truth, noise)


def predictions_of(
    model: Any, data: Any, X: Any, draws: int, n_jobs: int | None = None, random_state: Any = 0
) -> NDArray[Any]:
    """The answers at the points of models fitted to so many training sets, (draws, points)."""
    learn = _simulated(model, data) if callable(data) else _bootstrap(model, data)
    streams = [
        np.random.Generator(np.random.Philox(seed))
        for seed in np.random.SeedSequence(random_state).spawn(draws)
    ]

    def one(rng: np.random.Generator) -> Any:
        return answers_of(learn(rng), X)

    # A table that is read is read by all threads at once.
    return np.array(list(in_turn(one, streams, 1 if is_streamed(data) else jobs_of(n_jobs))))


def _simulated(model: Any, sample: Any) -> Callable[[np.random.Generator], Any]:
    return lambda rng: clone(model).fit(*sample(rng))


def _bootstrap(model: Any, data: Any) -> Callable[[np.random.Generator], Any]:
    """Models of rows drawn with replacement, which weigh as often as they are drawn where rows are read."""
    table = rows_of(model, *((data, None) if is_streamed(data) else data))
    return lambda rng: table.fit(model, rng.integers(table.count, size=table.count))


def _squared(answers: Vector, truth: Any, noise: Any) -> BiasVariance:
    true = np.asarray(truth, dtype=np.float64)
    if answers.ndim != 2 or answers.shape[1:] != true.shape:
        raise DataError(
            f"truth has shape {true.shape} for {answers.shape[1]} points; give one number a point."
        )
    draws = len(answers)
    main = answers.mean(axis=0)
    apart = answers - main
    bias, variance = (main - true) ** 2, (apart**2).mean(axis=0)
    spread = np.broadcast_to(np.asarray(noise, dtype=np.float64), true.shape)
    total = ((answers - true) ** 2).mean(axis=0) + spread
    # What each training set adds to the averages: its spread is the error of the simulation.
    each = {
        "bias": (2 * (main - true) * apart).mean(axis=1),
        "variance": (apart**2).mean(axis=1),
        "total": ((answers - true) ** 2).mean(axis=1),
    }
    errors = {name: float(values.std(ddof=1) / np.sqrt(draws)) for name, values in each.items()}
    points = {"main": main, "bias": bias, "variance": variance, "noise": np.array(spread), "total": total}
    parts = {"bias": bias, "variance": variance, "noise": spread, "total": total}
    return BiasVariance(
        "squared",
        **{name: float(part.mean()) for name, part in parts.items()},
        errors=errors,
        draws=draws,
        points=points,
        terms={"signed bias": float((main - true).mean())},
    )


@public
def bias_variance_curve(
    models: Mapping[Any, Any], data: Any, X: Any, truth: Any, **options: Any
) -> dict[Any, BiasVariance]:
    """Split the loss of several models on the same training sets, by whatever orders them, such as a degree.

    >>> import surefit
    >>> def sample(rng):
    ...     x = np.linspace(-1, 1, 20)
    ...     return x[:, None], np.sin(3 * x) + 0.3 * rng.normal(size=20)
    >>> at = np.linspace(-1, 1, 11)
    >>> def power(d):
    ...     return surefit.make_pipeline(surefit.PolynomialFeatures(d), surefit.Ridge(1e-6))
    >>> powers = {d: power(d) for d in (1, 3, 9)}
    >>> found = bias_variance_curve(powers, sample, at[:, None], np.sin(3 * at), noise=0.09, draws=50)
    >>> [round(found[d].bias, 3) for d in powers], [round(found[d].variance, 3) for d in powers]
    ([0.225, 0.005, 0.001], [0.01, 0.02, 0.047])
    """
    return {key: bias_variance(model, data, X, truth, **options) for key, model in models.items()}
