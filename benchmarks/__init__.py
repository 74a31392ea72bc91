"""Benchmarks: ours and the best peers on the same data, side by side, in one run.

``make bench`` runs every task and ``make bench TASK=gram`` one (``python -m benchmarks gram``)::

    tasks/<task>.py --> runner.py --one process per contender and round--> worker.py
                            |
           limits.py --> verdict.py --> report.py: a Markdown table and results/<task>.json

- ``task.py`` is the contract: a Task has cases (seeded data), contenders and one quality figure for all.
- ``runner.py`` makes the data of a case once, then goes round the contenders several times, so that a noisy
  minute hits all of them.
- ``worker.py`` is one contender in a fresh interpreter with its own copy of the data.
- ``limits.py`` measures what the machine can do at best.
- ``verdict.py`` says who is equal in quality, who is the best peer, and the ratios.

To add a task, write one file in ``tasks/`` that defines ``TASK``; nothing else changes.
``docs/benchmarks.md`` explains the table.
"""
