"""Support vector machines with kernels: the widest street between classes, or around numbers.

``machine`` is what all of them share: parameters, the way from rows to kernel values (``kernel_values``), and
what a fit leaves behind. A model states its dual problem, the native solver solves it, and ``duality`` states
primal and dual objectives, whose difference is the certificate, and sorts every row by its KKT conditions.
``pairs`` makes classifiers of many classes out of machines for two, and probabilities out of scores that were
held out: ``svc`` and ``nu_svc`` derive from it; ``svr``, ``nu_svr`` and ``one_class`` from ``numbers``.

To add one: its dual in the form of :class:`surefit.core.native.kernel.smo.DualProblem`, and its two
objectives in ``duality``.
"""

__all__ = ["duality"]
