"""Files: save, load, inspect and verify models. Opening a file never runs code.

A model is one ``.safetensors`` file: the arrays, and a JSON header with class, format version, parameters,
fitted values, schema and certificate. ``stats/values.py`` says what can be written and how; ``records.py``
what there is to say of a model, and of models inside of models such as the steps of a pipeline;
``model_file.py`` reads and writes the container; the verbs stand on those three.
"""
