"""Models: every estimator, one family a folder, one concept a file.

An estimator declares its parameters in the signature of ``__init__``, says what it ``accepts``, names the
dataclass of what it ``learns``, and writes one method: ``_learn``, from a source, an engine and a trace to
parameters, certificate and evidence. Everything else (checking, scikit-learn's contract, callbacks,
diagnosis, atomic fitting) is the face in ``base.py``. A fit that is one statistic derives from
``OneStatistic`` in ``updating.py`` and gets exact ``partial_fit``, ``merge`` and ``forget``; one that maps
rows derives from ``Transformer`` in ``transformer.py``. ``candidate.py`` says how a family takes part in a
study, ``ensemble.py`` what models of many members share, ``class_weight.py`` how classes are weighted,
``rows_in_memory.py`` and ``float_range.py`` which tables are refused.

To add one: a file in the folder of its family with a class that derives from ``Estimator``; it is registered
by being defined, and the laws of the registry test it.
"""
