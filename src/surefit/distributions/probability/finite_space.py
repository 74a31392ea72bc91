"""Finite probability spaces: outcomes, events as sets, the rules of conditioning, and random variables."""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from numbers import Rational, Real
from typing import Any, TypeAlias

import numpy as np

from surefit.core.errors import DataError, ParameterError

Event: TypeAlias = frozenset[Hashable]
Chance: TypeAlias = Fraction | float
_ROUNDING = 1e-9  # how far probabilities given as floats may be from a sum of 1
_EQUAL = 1e-12  # how far two products of such probabilities may differ by rounding alone


class FiniteSpace:
    r"""Outcomes with probabilities: :math:`P(A) = \sum_{\omega \in A} p(\omega)`.

    probabilities: of each outcome; they are not negative and sum to one. Whole numbers and fractions are kept
    exact, and so is all that is computed of them.

    >>> die = FiniteSpace.equally_likely(range(1, 7))
    >>> even, large = die.event(lambda k: k % 2 == 0), die.event(lambda k: k > 3)
    >>> die.probability(even), die.probability(even, given=large), die.independent(even, large)
    (Fraction(1, 2), Fraction(2, 3), False)
    """

    def __init__(self, probabilities: Mapping[Any, Any]) -> None:
        if not probabilities:
            raise DataError("a probability space needs at least one outcome.")
        given = {outcome: _chance(outcome, value) for outcome, value in probabilities.items()}
        total = _sum(given.values())
        if total != 1 if isinstance(total, Fraction) else abs(total - 1) > _ROUNDING:
            raise DataError(
                f"the probabilities sum to {float(total):.12g}, but must sum to 1: divide them by it."
            )
        self.probabilities: dict[Hashable, Chance] = given

    @classmethod
    def equally_likely(cls, outcomes: Iterable[Hashable]) -> FiniteSpace:
        r"""Return the space of Laplace's experiment: :math:`P(A) = |A| / |\Omega|`.

        >>> FiniteSpace.equally_likely("heads tails".split()).probability({"heads"})
        Fraction(1, 2)
        """
        listed = list(dict.fromkeys(outcomes))
        return cls(dict.fromkeys(listed, Fraction(1, max(len(listed), 1))))

    def __repr__(self) -> str:
        return f"FiniteSpace({len(self.probabilities)} outcomes)"

    @property
    def outcomes(self) -> list[Hashable]:
        """All outcomes, in the order given."""
        return list(self.probabilities)

    def event(self, which: Callable[[Any], Any] | Iterable[Hashable]) -> Event:
        """Return the set of outcomes for which a condition is true, or of those listed."""
        if callable(which):
            return frozenset(outcome for outcome in self.probabilities if which(outcome))
        found = frozenset(which)
        unknown = found - self.probabilities.keys()
        if unknown:
            raise DataError(f"{next(iter(unknown))!r} is no outcome of this space: {self._some()}.")
        return found

    def complement(self, event: Iterable[Hashable]) -> Event:
        r"""Return the outcomes that are not in the event; its probability is :math:`1 - P(A)`."""
        return frozenset(self.probabilities) - self.event(event)

    def probability(self, event: Any, given: Any = None) -> Chance:
        r"""Return :math:`P(A)`, or :math:`P(A \mid B) = P(A \cap B) / P(B)` for ``given=B``."""
        wanted = self.event(event)
        if given is None:
            return _sum(self.probabilities[outcome] for outcome in wanted)
        condition = self.event(given)
        whole = self.probability(condition)
        if whole == 0:
            raise DataError("the condition has probability 0, so nothing has a probability given it.")
        return self.probability(wanted & condition) / whole

    def chain(self, *events: Any) -> Chance:
        r"""Return :math:`P(A_1) P(A_2 \mid A_1) P(A_3 \mid A_1, A_2) \cdots`, which is that of all together.

        >>> cards = FiniteSpace.equally_likely([(a, b) for a in range(4) for b in range(4) if a != b])
        >>> cards.chain(lambda c: c[0] < 2, lambda c: c[1] < 2)    # two of four cards are red
        Fraction(1, 6)
        """
        so_far, found = frozenset(self.probabilities), Fraction(1)
        for event in events:
            wanted = self.event(event)
            if self.probability(so_far) == 0:
                return Fraction(0)
            found = found * self.probability(wanted, given=so_far)  # type: ignore[assignment]
            so_far &= wanted
        return found

    def total_probability(self, event: Any, parts: Sequence[Any]) -> Chance:
        r"""Return :math:`\sum_i P(A \mid B_i) P(B_i)` for a partition of the space into :math:`B_i`."""
        events = self._partition(parts)
        return _sum(
            self.probability(event, given=part) * self.probability(part)
            for part in events
            if self.probability(part) > 0
        )

    def bayes(self, parts: Sequence[Any], evidence: Any) -> list[Chance]:
        r"""Return :math:`P(B_i \mid A) = P(A \mid B_i) P(B_i) / P(A)` for each part of a partition.

        >>> test = FiniteSpace({"ill +": 0.009, "ill -": 0.001, "well +": 0.099, "well -": 0.891})
        >>> ill = test.event(lambda outcome: outcome.startswith("ill"))
        >>> [round(p, 4) for p in test.bayes([ill, test.complement(ill)], {"ill +", "well +"})]
        [0.0833, 0.9167]
        """
        whole = self.total_probability(evidence, parts)
        if whole == 0:
            raise DataError("the evidence has probability 0, so no part has a probability given it.")
        return [
            self.probability(evidence, given=part) * self.probability(part) / whole
            if self.probability(part) > 0
            else Fraction(0)
            for part in self._partition(parts)
        ]

    def independent(self, *events: Any) -> bool:
        r"""Whether events are mutually independent: :math:`P(\bigcap A_i) = \prod P(A_i)` for any choice."""
        found = [self.event(event) for event in events]
        return all(
            _same(
                self.probability(frozenset.intersection(*some)),
                math.prod(self.probability(event) for event in some),
            )
            for size in range(2, len(found) + 1)
            for some in combinations(found, size)
        )

    def variable(self, function: Callable[[Any], Any] | None = None) -> RandomVariable:
        """Return the random variable that is this function of the outcome, by default the outcome."""
        return RandomVariable(self, (lambda outcome: outcome) if function is None else function)

    def conditioned(self, event: Any) -> FiniteSpace:
        """Return the space of the outcomes of an event, with their probabilities given it."""
        wanted = self.event(event)
        return FiniteSpace(
            {
                outcome: self.probability({outcome}, given=wanted)
                for outcome in self.probabilities
                if outcome in wanted
            }
        )

    def __mul__(self, other: FiniteSpace) -> FiniteSpace:
        """Return the space of pairs of outcomes that do not influence each other."""
        return FiniteSpace(
            {
                (a, b): p * q
                for (a, p), (b, q) in product(self.probabilities.items(), other.probabilities.items())
            }
        )

    def __pow__(self, times: int) -> FiniteSpace:
        """Return the space of so many independent repetitions; its outcomes are tuples."""
        if times < 1 or len(self.probabilities) ** times > 2**22:
            raise ParameterError(f"{times} repetitions would have too many outcomes, or none: choose fewer.")
        return FiniteSpace(
            {
                tuple(outcome for outcome, _ in some): math.prod(chance for _, chance in some)
                for some in product(self.probabilities.items(), repeat=times)
            }
        )

    def _partition(self, parts: Sequence[Any]) -> list[Event]:
        events = [self.event(part) for part in parts]
        for one, two in combinations(range(len(events)), 2):
            both = events[one] & events[two]
            if both:
                raise DataError(
                    f"parts {one} and {two} share {next(iter(both))!r}: a partition has no overlap."
                )
        left = frozenset(self.probabilities) - frozenset().union(*events)
        if any(self.probabilities[outcome] > 0 for outcome in left):
            raise DataError(f"no part holds {next(iter(left))!r}: a partition covers the whole space.")
        return events

    def _some(self) -> str:
        shown = ", ".join(repr(outcome) for outcome in self.outcomes[:4])
        return f"its outcomes are {shown}" + (" ..." if len(self.probabilities) > 4 else "")


class RandomVariable:
    r"""A function of the outcome, :math:`X: \Omega \to R`, with arithmetic outcome by outcome.

    Comparisons with a number are events. Moments are exact where values and probabilities are whole numbers
    or fractions.

    >>> two = die() ** 2
    >>> total = two.variable(lambda roll: roll[0]) + two.variable(lambda roll: roll[1])
    >>> two.probability(total.equals(7)), total.mean, total.variance
    (Fraction(1, 6), Fraction(7, 1), Fraction(35, 6))
    """

    def __init__(self, space: FiniteSpace, function: Callable[[Any], Any]) -> None:
        self.space = space
        self.values: dict[Hashable, Any] = {
            outcome: _exact(function(outcome)) for outcome in space.probabilities
        }

    def __repr__(self) -> str:
        law = self.law
        shown = ", ".join(f"{_plain(value)}: {_plain(chance)}" for value, chance in list(law.items())[:6])
        return f"RandomVariable({{{shown}{', ...' if len(law) > 6 else ''}}})"

    # --- algebra ---

    def _with(self, other: Any, combine: Callable[[Any, Any], Any]) -> RandomVariable:
        if isinstance(other, RandomVariable):
            if other.space is not self.space:
                raise DataError("two random variables can be combined on the same space only.")
            return RandomVariable(self.space, lambda o: combine(self.values[o], other.values[o]))
        return RandomVariable(self.space, lambda o: combine(self.values[o], _exact(other)))

    def __add__(self, other: Any) -> RandomVariable:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __mul__(self, other: Any) -> RandomVariable:
        return self._with(other, operator.mul)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> RandomVariable:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> RandomVariable:
        return self._with(other, lambda mine, theirs: theirs - mine)

    def __truediv__(self, other: Any) -> RandomVariable:
        return self._with(other, operator.truediv)

    def __pow__(self, exponent: Any) -> RandomVariable:
        return self._with(exponent, operator.pow)

    def __neg__(self) -> RandomVariable:
        return self * -1

    def __abs__(self) -> RandomVariable:
        return self.map(abs)

    def map(self, function: Callable[[Any], Any]) -> RandomVariable:
        """Return the random variable g(X)."""
        return RandomVariable(self.space, lambda o: function(self.values[o]))

    # --- events ---

    def event(self, condition: Callable[[Any], Any]) -> Event:
        """Return the outcomes for whose value a condition is true."""
        return frozenset(o for o, value in self.values.items() if condition(value))

    def equals(self, value: Any) -> Event:
        """Return the event that X takes this value."""
        return self.event(lambda mine: mine == value)

    def __le__(self, value: Any) -> Event:
        return self.event(lambda mine: mine <= value)

    def __lt__(self, value: Any) -> Event:
        return self.event(lambda mine: mine < value)

    def __ge__(self, value: Any) -> Event:
        return self.event(lambda mine: mine >= value)

    def __gt__(self, value: Any) -> Event:
        return self.event(lambda mine: mine > value)

    # --- laws ---

    @property
    def law(self) -> dict[Any, Chance]:
        """The probability of each value that can occur, in ascending order where values have one."""
        found: dict[Any, Any] = defaultdict(Fraction)
        for outcome, value in self.values.items():
            if self.space.probabilities[outcome] > 0:
                found[value] += self.space.probabilities[outcome]
        try:
            return dict(sorted(found.items()))
        except TypeError:  # values such as words and numbers together
            return dict(found)

    def joint_law(self, *others: RandomVariable) -> dict[tuple[Any, ...], Chance]:
        """Return the probability of each tuple of values that can occur together."""
        together = [self, *others]
        pairs = RandomVariable(self.space, lambda o: tuple(each.values[o] for each in together))
        return pairs.law

    def cdf(self, x: float) -> Chance:
        r"""Return :math:`F(x) = P(X \le x)`, a step function that is continuous from the right."""
        return self.space.probability(self <= x)

    def quantile(self, q: float) -> Any:
        """Return the least value whose distribution function reaches q."""
        reached: Chance = Fraction(0)
        for value, chance in self.law.items():
            reached = reached + chance
            if float(reached) >= q:
                return value
        return value

    def independent_of(self, *others: RandomVariable) -> bool:
        """Whether the joint law is the product of the laws, at every tuple of values."""
        joint, laws = self.joint_law(*others), [each.law for each in (self, *others)]
        size = math.prod(map(len, laws))
        tolerance = 0 if all(isinstance(chance, Fraction) for chance in joint.values()) else 1e-12
        products = (
            abs(float(chance - math.prod(law[value] for law, value in zip(laws, values, strict=True))))
            for values, chance in joint.items()
        )
        return len(joint) == size and all(off <= tolerance for off in products)

    # --- moments ---

    def expectation(self, function: Callable[[Any], Any] | None = None, *, given: Any = None) -> Any:
        r"""Return :math:`E[g(X)] = \sum_\omega g(X(\omega)) p(\omega)`, or given an event.

            >>> X = die().variable()
        >>> X.expectation(lambda k: k**2), X.expectation(given=X > 3)
        (Fraction(91, 6), Fraction(5, 1))
        """
        space = self.space if given is None else self.space.conditioned(given)
        terms = [
            chance * (self.values[o] if function is None else _exact(function(self.values[o])))
            for o, chance in space.probabilities.items()
        ]
        return sum(terms, Fraction(0)) if any(isinstance(t, Fraction) for t in terms) else math.fsum(terms)

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.expectation()

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean."""
        return self.covariance(self)

    @property
    def standard_deviation(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    def moment(self, order: int, *, central: bool = False) -> Any:
        """Return the mean of a power of X, or of its distance from the mean."""
        return ((self - self.mean) if central else self).expectation(lambda value: value**order)

    def covariance(self, other: RandomVariable) -> Any:
        r"""Return :math:`E[(X - EX)(Y - EY)] = E[XY] - E[X] E[Y]`."""
        return ((self - self.mean) * (other - other.mean)).expectation()

    def correlation(self, other: RandomVariable) -> float:
        """Return the covariance over both standard deviations, between -1 and 1."""
        spread = self.standard_deviation * other.standard_deviation
        if spread == 0:
            raise DataError("a constant has no correlation: its standard deviation is 0.")
        return max(-1.0, min(1.0, float(self.covariance(other)) / spread))

    def conditional_expectation(self, other: RandomVariable) -> RandomVariable:
        r"""Return the random variable :math:`E[X \mid Y]`; its mean is :math:`E[X]`, by the tower rule.

            >>> X = die().variable()
        >>> parity = X.map(lambda k: k % 2)
        >>> X.conditional_expectation(parity).law
        {Fraction(3, 1): Fraction(1, 2), Fraction(4, 1): Fraction(1, 2)}
        """
        means = {value: self.expectation(given=other.equals(value)) for value in other.law}
        return RandomVariable(self.space, lambda o: means.get(other.values[o], Fraction(0)))

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """Draw n independent values; the same for the same ``random_state``."""
        law = self.law
        chances = np.array([float(chance) for chance in law.values()])
        places = np.random.default_rng(random_state).choice(len(law), n, p=chances / chances.sum())
        return np.array([_plain(value) for value in law])[places]


def die(sides: int = 6) -> FiniteSpace:
    """Return a fair die, with outcomes 1 to ``sides``."""
    return FiniteSpace.equally_likely(range(1, sides + 1))


def cards() -> FiniteSpace:
    """Return a deck of 52 cards, (rank, suit), from which one is drawn.

    >>> deck = cards()
    >>> ace, spade = deck.event(lambda c: c[0] == "ace"), deck.event(lambda c: c[1] == "spades")
    >>> deck.probability(ace | spade), deck.independent(ace, spade)
    (Fraction(4, 13), True)
    """
    ranks = ["ace", *range(2, 11), "jack", "queen", "king"]
    return FiniteSpace.equally_likely(product(ranks, ["clubs", "diamonds", "hearts", "spades"]))


def _chance(outcome: Hashable, value: Any) -> Chance:
    if isinstance(value, Rational):
        number: Chance = Fraction(value)
    elif isinstance(value, Real) and math.isfinite(value):
        number = float(value)
    else:
        raise DataError(f"the probability of {outcome!r} is {value!r}, but must be a finite number.")
    if not 0.0 <= float(number) <= 1 + _ROUNDING:
        raise DataError(f"the probability of {outcome!r} is {value}, but must be between 0 and 1.")
    return number


def _sum(chances: Iterable[Chance]) -> Chance:
    """Add up: fractions exactly, floats with one rounding."""
    listed = list(chances)
    if all(isinstance(chance, Fraction) for chance in listed):
        return sum(listed, Fraction(0))
    return math.fsum(listed)


def _same(one: Chance, two: Chance) -> bool:
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one == two
    return abs(float(one) - float(two)) <= _EQUAL


def _exact(value: Any) -> Any:
    """Whole numbers as fractions, so that means of them are exact."""
    if isinstance(value, bool | np.bool_):
        return Fraction(int(value))
    return Fraction(int(value)) if isinstance(value, int | np.integer) else value


def _plain(value: Any) -> Any:
    """A fraction as a whole number where it is one, else as it is written."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else float(value)
