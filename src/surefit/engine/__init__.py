"""Engines: who reads a source and adds up the statistic.

An engine knows nothing of models, and a model nothing of engines: it hands over a function from a batch to
a statistic, and gets the sum back. To add one: a file here with a class that gives itself a ``name`` and
fills ``accumulate`` and ``map``.
"""
