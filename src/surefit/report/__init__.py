"""The report: one HTML page that a colleague can read, drawn from a study's record and its answers alone.

``page.py`` puts the sections together. A section is a pair of files of one name: ``<name>.py`` picks what it
shows out of the record, as tables, figures and plain values, and ``<name>.html`` lays it out. ``parts.py``
has tables, figures and findings, and ``parts.html`` their look; ``style.css`` is the one style sheet, for
light and dark screens, phones and paper.

The page runs no script and loads nothing: its content-security policy allows the one style sheet by its hash
and nothing else. Names and cells come from a table, and the record may come from elsewhere, so all of it is
hostile: jinja escapes every value, ``visible`` spells out control characters and cuts what is long, and a
drawing passes ``svg.py``, which builds it anew out of the few elements and attributes it knows.

To add a section: the two files, and its name in ``page.SECTIONS``. A chart is a function of ``plots``, handed
to ``figure`` together with the table behind it.
"""

from __future__ import annotations

from surefit.report.page import render as render
from surefit.report.page import write as write

__all__ = ["render", "write"]
