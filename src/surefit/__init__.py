"""surefit: machine learning that proves its fits."""
