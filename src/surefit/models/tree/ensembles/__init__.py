"""Ensembles of any base model, trees unless another is given.

``framed`` is the ensemble that hands rows to its members as they came, frames with categories included, and
``frame_rows`` are such rows; ``bagging`` averages members that were fitted to rows drawn again and again,
``adaboost`` fits each member to the rows that those before it predicted badly. How members are copied,
seeded and fitted is shared with other ensembles and lives in ``surefit.models.ensemble``.

To add an ensemble, make a package beside these two whose base derives from ``framed``.
"""
