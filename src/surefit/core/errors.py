"""Errors and warnings: every message is one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations


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


class SurefitWarning(UserWarning):
    """Base of all warnings that surefit gives."""


class CertificateWarning(SurefitWarning):
    """The fit ended, but its certificate does not hold to the tolerance asked for."""


class NativeWarning(SurefitWarning):
    """The compiled kernels are missing, so the numpy twins are used."""
