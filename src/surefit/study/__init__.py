"""A study: from a table to a model that one can trust, and a record of all that was found on the way.

``learn.py`` and ``audit.py`` are the entrances. ``subject.py`` opens the table once and looks at it:
``table/`` gathers facts in one pass, decides what each column is and what the task is, with a reason for
each, and reads the table accordingly; ``audit.py`` watches the same pass and says what is wrong, one check a
file in ``checks/``. ``race/`` asks
the registry which families suit the task, the size and the kinds (a class joins by declaring a
``candidate``) and compares them on the same folds within a budget of seconds. ``conclusion.py`` fits the
simplest of the best, asks it questions with what lives in ``fitted/``, and writes the record; ``events.py``
is what a study tells meanwhile.

``record.py`` is what all of that leaves behind: plain values, one JSON file. A report is drawn from it and
from the answers for rows left out (``predictions.py``) alone. ``fitted/`` also writes the same study as a
program of public calls, and brings a fitted model and a new table together again.

To add something to the report: a field in ``record.py``, a line in ``conclusion.py`` that fills it, and a
section in ``report/`` that shows it.
"""
