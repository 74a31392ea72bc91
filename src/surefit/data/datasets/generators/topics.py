"""Text as counts: documents that mix topics, topics that prefer words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.parameters import Count, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


@dataclass(frozen=True, eq=False)
class TopicCounts(Generated):
    """Word counts of documents: ``X_n ~ Multinomial(length_n, proportions_n · topics)``.

    ``proportions`` has a row a document, ``topics`` a row a topic; every row sums to 1.

    >>> drawn = TopicCounts.draw(rows=20, words=50, topics=3, random_state=0)
    >>> drawn.X.shape, drawn.topics.shape, bool((drawn.X.sum(axis=1) == drawn.lengths).all())
    ((20, 50), (3, 50), True)
    """

    name = "topic_counts"
    X: Codes
    proportions: Matrix
    topics: Matrix
    lengths: Codes
    length: float

    @property
    def probabilities(self) -> Matrix:
        """The true probability of every word in every document."""
        return np.asarray(self.proportions @ self.topics)

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 100,
        words: Count = 200,
        topics: Count = 4,
        *,
        length: Positive = 100.0,
        mixing: Positive = 0.3,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw topics over words, each document's mixture (smaller ``mixing``: purer), then its words;
        lengths are Poisson around ``length``.
        """
        random = stream(random_state)
        about = random.dirichlet(np.full(words, 0.1), size=topics)
        proportions = random.dirichlet(np.full(topics, float(mixing)), size=rows)
        lengths = random.poisson(length, rows)
        probabilities = proportions @ about
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return cls(random.multinomial(lengths, probabilities), proportions, about, lengths, float(length))

    def surprise(self) -> dict[str, float]:
        """Lengths as stated, and topics as present in every document as its mixture says."""
        mean = self.probabilities @ self.topics.T
        square = self.probabilities @ (self.topics**2).T
        weight = self.proportions
        return {
            "lengths": surprise.total(self.lengths, self.length, self.length),
            "topics": surprise.total(
                weight * (self.X @ self.topics.T),
                weight * self.lengths[:, None] * mean,
                weight**2 * self.lengths[:, None] * (square - mean**2),
            ),
        }
