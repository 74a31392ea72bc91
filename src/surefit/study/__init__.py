"""A study: from a table to a model that one can trust, and a record of all that was found on the way.

``decide.py`` decides what each column is and what the task is, with a reason for each, from facts gathered
in one pass (``facts.py``, ``kinds.py``, ``task.py``); ``typed.py`` reads the table accordingly. ``audit.py``
looks for what is wrong with the table, one check a file in ``checks/``. ``candidates.py`` asks the registry
which families suit the task, the size and the kinds: a class joins by declaring a ``candidate``. ``race.py``
compares them on the same folds within a budget of seconds, ``learn.py`` fits the simplest of the best and
asks it questions, and ``record.py`` is what all of that leaves behind: plain values, one JSON file. A report
is drawn from it and from the answers for rows left out (``predictions.py``) alone. ``script.py`` writes the
same study as a program of public calls. ``applied.py`` brings a fitted model and a new table together again.

To add something to the report: a field in ``record.py``, a line in ``learn.py`` that fills it, and a section
in ``report/`` that shows it.
"""
