"""Engines: what reads a source and adds up the statistic.

An engine knows nothing of models, and a model nothing of engines: it hands over a function from a batch to a
statistic, and gets the sum back. A source comes in parts, a part in batches. An engine says what each step of
a pass adds (``_steps``), and ``running_sum.py`` joins the steps in an order that depends on the parts alone,
so that all engines give the same bits. ``Checkpointed`` in ``base.py`` wraps another engine and stores how
far it is, under the ``fingerprint.py`` of the data and of the statistic; ``thread_map.py`` runs plain work on
threads.

To add one: a file here with a class that gives itself a ``name`` and fills ``_steps`` and ``_answers``; the
laws in ``tests/laws/test_engines.py`` then hold it to the bits of the others.
"""
