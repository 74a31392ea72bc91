"""Typed tables prepared for a family of models, each column by its kind.

`column_facts` gathers facts about the columns in one pass, and once more plainly for the certificate;
`column_plan` decides from them what is done with one column, and does it; `table_preparer` is the estimator
that joins the plans, and leads its numbers back to cells.

To add a treatment of columns: a case in `column_plan` with its reason; the laws of the registry test the
preparer on tables of every kind.
"""

__all__ = ["column_facts", "column_plan", "table_preparer"]
