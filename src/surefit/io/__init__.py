"""Files: save, load, inspect and verify models. Opening a file never runs code.

A model is one ``.safetensors`` file: the arrays, and a JSON header with class, format version, parameters,
fitted values, schema and certificate. ``stats/values.py`` says what can be written and how; ``model_file.py``
reads and writes the container; the verbs stand on those two.
"""
