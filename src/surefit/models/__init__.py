"""Models: every estimator, one family a folder, one concept a file.

An estimator declares its parameters in the signature of ``__init__``, says what it ``accepts``, names the
dataclass of what it ``learns``, and writes one method: ``_learn``, from a source, an engine and a trace to
parameters, certificate and evidence. Everything else (checking, scikit-learn's contract, callbacks,
diagnosis, atomic fitting) is the face in ``base.py``. A fit that is one statistic derives from
``OneStatistic`` in ``updating.py`` and gets exact ``partial_fit`` and ``merge``.
"""
