"""The same functions, compiled for another instruction set."""

from surefit.core.native._native_v3 import *  # noqa: F403
