"""The checks of an audit, one a file.

A check looks at what was :class:`~surefit.study.checks.base.Seen` of a table (facts of every column, a
sample of rows, copies, and the same of a second table where there is one) and yields
:class:`~surefit.core.diagnosis.Finding` values with the check's name as their code. It carries a
``triggering_case``, a table that triggers it, and a ``clean_case``, close to it, that does not; its law
audits both. To add one: a file here with a class that gives itself a ``name``. Its thresholds are
attributes with a reason.
"""

__all__ = ["base"]
