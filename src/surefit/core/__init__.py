"""The core: what every other folder stands on, and nothing that learns.

- ``registry``: a class files itself under its kind and name by being defined; the first look-up scans the
  kind's folder.
- ``parameters``: a parameter is declared once, in the signature of ``__init__``; checks, flags and controls
  read it there.
- ``config``, ``threads``, ``blas_threads``: settings that are not parameters, and how many threads may run.
- ``certificate``, ``diagnosis``, ``trace``: what a fit says about itself. Rules that diagnose live in
  ``rules/``, one a file.
- ``callbacks``, ``progress``, ``channel``: what watches a fit, on scikit-learn's protocol, also from worker
  processes.
- ``native``: the compiled kernels and their numpy twins.
- ``errors``: every error and warning. ``arrays``: the names of float arrays in signatures. ``public``: which
  names users see. ``files``, ``printable_text``: files replaced whole, and text that is safe to show.

Nothing here imports scikit-learn or scipy when it is imported itself.
"""
