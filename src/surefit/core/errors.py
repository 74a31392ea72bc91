"""Errors and warnings: every message is one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import sys
import warnings


class SurefitError(Exception):
    """Base of all errors that surefit raises on purpose."""


class ParameterError(SurefitError, ValueError):
    """A parameter has a value outside its declared range."""


class RegistryError(SurefitError, LookupError):
    """A name that nothing is registered under, or that is taken twice."""


class DataError(SurefitError, ValueError):
    """The data cannot be used as they are."""


class RefusalError(SurefitError, ValueError):
    """What was asked for does not exist in theory or cannot be done exactly; the message gives the reason."""


class FormatError(SurefitError, ValueError):
    """A file is not a model file, or not one that can be opened safely."""


class EngineError(SurefitError, RuntimeError):
    """Reading or distributing the data failed, though the data may be valid."""


class SurefitWarning(UserWarning):
    """Base of all warnings that surefit gives."""


class SeparationWarning(SurefitWarning):
    """The classes are separable, so no finite coefficients minimise the loss."""


class CheckpointWarning(SurefitWarning):
    """A checkpoint was found that the fit cannot resume from."""


class NativeWarning(SurefitWarning):
    """The compiled kernels are missing, so the numpy twins are used."""


def warn(message: str, category: type[SurefitWarning]) -> None:
    """Warn at the line of the user's own code that led here, not at one of ours or of scikit-learn's."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("surefit.", "sklearn.")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
