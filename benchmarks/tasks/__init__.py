"""The tasks: one file each, found by a scan of this folder; ``gram.py`` is the pattern to copy."""
