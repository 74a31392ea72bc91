"""Losses: what one row costs, as a function of its target y and its score z.

A loss is point-wise and works in link space: z is any number, and the loss is fused with its link, so nothing
overflows and no digits are lost far out. Value, gradient and curvature are all that a pass over the data
needs; a conjugate makes a duality gap, a prox a splitting method::

    y, z --value, gradient, curvature--> sums over rows --solver--> the next z
         --conjugate--> a lower bound on every objective: the certificate

Constants that depend on y alone are left out. The squared loss is (y - z)^2 / 2, and a family of
distributions has half its deviance, up to such a constant. A value beyond the range of floats is inf, without
a warning, and never NaN. Every loss is here under the name of its class::

    >>> from surefit.losses import Huber
    >>> Huber(threshold=1.0).value([0.0, 0.0], [0.5, 3.0])
    array([0.125, 2.5  ])

To add one: a file with a class below :class:`~surefit.losses.base.Loss` that gives itself ``name``, ``task``,
``link``, ``value``, ``gradient`` and ``curvature``; ``conjugate`` and ``prox``, and ``kinks`` for
piecewise-linear ones, only where they exist, because a solver asks by looking. Its options are the annotated
parameters of ``__init__``. The laws find it by themselves. ``links`` has the link functions; ``arrays``,
``stable``, ``root_finding`` and ``weighted_quantile`` what is shared; ``families``, ``family_loss`` and
``fused_pairs`` the families of generalised linear models; ``joint`` and ``huber_scale`` likelihoods with
further parameters.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.losses.base import Loss as Loss

__getattr__, __dir__ = members_door(__name__, "loss")
