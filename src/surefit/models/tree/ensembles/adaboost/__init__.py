"""Members one after the other.

Each is fitted to weights that are larger for rows that those before it predicted badly. ``base`` makes the
rounds, keeps the weights of members and certifies them again; ``classifier`` and ``regressor`` are the
estimators, which say how errors change the weights of rows and how answers of members are put together.

To add a variant, derive from ``base`` and say what a round does with its errors.
"""
