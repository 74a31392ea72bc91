"""Preparing tables: scalers, encoders, imputers, expansions, formulas, and a preparer that joins them.

Each is a transformer whose fit is one mergeable statistic, so it streams over sources in one pass, takes more
rows by ``partial_fit`` and joins with another by ``merge``. Names, parameters, attributes and results are
scikit-learn's where it has them. Each also learns ``n_samples_seen_``, the weight of the rows behind it, so
that its certificate notices a changed weight. ``recompute.py`` holds the recomputations that certificates
rest on, ``quantiles.py`` quantiles that are exact in memory, and ``output.py`` how sparse rows are handed
over. To add one: a file in the folder of its kind with a class that derives from ``Transformer``; the laws of
the registry test it.
"""

__all__ = ["encoders", "formulas", "imputers", "recompute", "scalers", "tables"]
