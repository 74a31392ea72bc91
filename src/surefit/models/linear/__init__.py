"""Linear models: a weighted sum of the columns, fitted in many ways.

``base.py`` predicts for all of them. Least squares and ridge are finished from one statistic by
``solvers/least_squares.py``; ``inference.py`` adds standard errors, tests and intervals where theory holds.
"""
