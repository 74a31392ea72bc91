"""The contract of a split, and the wrapper around scikit-learn's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefit.core.parameters import Interval, validate, values_of
from surefit.core.registry import Registered

Indices: TypeAlias = NDArray[np.intp]
Folds = Annotated[int, Interval(2, None)]


class Split(Registered, kind="split", folder="surefit.resample", named_by_class=True):
    """A way to cut rows into those to learn from and those to test on.

    Parameters are checked when rows are cut, never before.
    """

    def __init__(self) -> None:
        pass

    @abstractmethod
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs of row numbers: train, test."""

    @abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs ``split`` yields."""

    @property
    def options(self) -> dict[str, Any]:
        """The parameters by name."""
        return values_of(self)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.options.items())})"
        )


class Wrapped(Split, abstract=True):
    """A splitter of scikit-learn's, under the same name; ``ours`` are the options that it has not."""

    ours: ClassVar[tuple[str, ...]] = ()

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs of row numbers: train, test."""
        return iter(self._theirs().split(X, y, groups))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs ``split`` yields."""
        return int(self._theirs().get_n_splits(X, y, groups))

    def get_metadata_routing(self) -> Any:
        """Which data scikit-learn's metadata routing should pass on, such as groups."""
        return self._theirs().get_metadata_routing()

    def _theirs(self) -> Any:
        from sklearn import model_selection

        validate(self)
        options = {name: value for name, value in self.options.items() if name not in self.ours}
        return getattr(model_selection, type(self).__name__)(**with_legacy_state(options))


def with_legacy_state(options: dict[str, Any]) -> dict[str, Any]:
    """Turn a Generator, which scikit-learn does not take, into the random state that it does."""
    state = options.get("random_state")
    if isinstance(state, np.random.Generator):
        seed = int(state.integers(2**32))
        return {**options, "random_state": np.random.RandomState(seed)}
    return options
