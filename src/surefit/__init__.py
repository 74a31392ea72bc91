"""surefit: machine learning that proves its fits.

What a user needs is here, under one name each, and nothing is imported until it is asked for, so that
``import surefit`` costs about as much as an empty module::

    >>> import surefit
    >>> surefit.config.__module__
    'surefit.core.config'

Estimators are here because they are registered, functions because they are marked with ``@public`` where they
are defined. Families of names have a door of their own: ``surefit.metrics``, ``losses``, ``penalties``,
``kernels``, ``distributions``, ``information``, ``probability``, ``resample``, ``optimize``, ``linalg``,
``trees``, ``theory``, ``plots``, ``datasets`` and ``errors``. All of them stand in ``__init__.pyi``, which
``make stubs`` writes.
"""

from surefit.core.public import door as _door

_find, _, _names = _door(__name__, __file__)
__all__ = [*_names, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("surefit")
    else:
        value = _find(name)
    globals()[name] = value  # so that the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
