"""Information: what is uncertain, how far distributions are apart, how much one thing tells of another.

Three kinds of input give the same measures. Probabilities or counts of outcomes are divided by their sum;
``label_counts`` makes the counts from two columns of labels. Distributions of one family have closed forms,
others of one number are summed or integrated. Samples of continuous numbers go to estimators by nearest
neighbours, which say which one they are::

    probabilities, counts --> entropy, cross_entropy, kl_divergence, jensen_shannon
    a joint table         --> mutual_information, conditional_entropy
    distributions         --> entropy, cross_entropy, kl_divergence, jensen_shannon
    samples               --> estimated_entropy, estimated_mutual_information

0 log 0 is 0; what one has and the other cannot have makes a divergence infinite. ``base`` is e for nats,
2 for bits::

    >>> from surefit.distributions import information
    >>> information.entropy([0.5, 0.25, 0.25], base=2)
    1.5

``tables.py`` has what is computed from tables, ``measures.py`` also from distributions, ``neighbours.py``
from samples. To add a measure: a function in one of them, and its name here.
"""

from __future__ import annotations

from surefit.distributions.information.measures import (
    cross_entropy,
    entropy,
    jensen_shannon,
    kl_divergence,
)
from surefit.distributions.information.neighbours import estimated_entropy, estimated_mutual_information
from surefit.distributions.information.tables import (
    conditional_entropy,
    information_content,
    label_counts,
    mutual_information,
)

__all__ = [
    "conditional_entropy",
    "cross_entropy",
    "entropy",
    "estimated_entropy",
    "estimated_mutual_information",
    "information_content",
    "jensen_shannon",
    "kl_divergence",
    "label_counts",
    "mutual_information",
]
