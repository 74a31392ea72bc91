"""scikit-learn's own tests, run with our classes in place of theirs: ``make sklearn-suite``.

``plugin.py`` is a pytest plugin: it puts our classes under scikit-learn's names before the tests are
collected, and writes down how each test that used one of them ended. ``outcomes.py`` counts them.
``__main__.py`` runs it over the families of ``families.toml``, compares with ``exclusions.toml`` and
publishes the rates in docs/compatibility.md.

To add a family: one entry in ``families.toml``. To exclude a test: one line in ``exclusions.toml`` that says
which private detail of scikit-learn's it checks. A line that excludes nothing is an error.
"""
