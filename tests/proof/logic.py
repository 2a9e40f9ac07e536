"""Formulas that z3 can prove and that Python can evaluate.

The model in `leases.py` is written once and used with three kinds of `Domain`:

- `UnboundedDomain`: the formulas are z3 terms, and "for all" is a quantifier over all claims, messages, versions and so
  on, however many there are. Proofs use this domain.
- `BoundedDomain`: the formulas are z3 terms, and "for all" is a conjunction over a few values. z3 finds a model of such
  formulas quickly, or shows that there is none. Counterexamples to weakened rules use this domain. Each counterexample
  is also valid without bounds, because the values that are left out represent claims that never begin and messages that
  are never sent, which the formulas do not constrain.
- `ConcreteDomain`: the formulas are Python's `True` and `False`, and "for all" is a loop. The replayed traces use this
  domain.

The functions `every`, `some`, `implies` and so on are the logical connectives of all three domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import z3  # type: ignore[import-untyped]

# A Boolean, a number or another value, represented by a z3 term or, in the concrete domain, by a Python object.
Term = Any


def every(*conditions: Term) -> Term:
    """Returns the conjunction of the conditions."""
    if any(condition is False for condition in conditions):
        return False
    remaining = [condition for condition in conditions if condition is not True]
    return z3.And(remaining) if remaining else True


def some(*conditions: Term) -> Term:
    """Returns the disjunction of the conditions."""
    if any(condition is True for condition in conditions):
        return True
    remaining = [condition for condition in conditions if condition is not False]
    return z3.Or(remaining) if remaining else False


def negation(condition: Term) -> Term:
    return not condition if isinstance(condition, bool) else z3.Not(condition)


def implies(condition: Term, conclusion: Term) -> Term:
    return some(negation(condition), conclusion)


def choose(condition: Term, yes: Term, no: Term) -> Term:
    """Returns `yes` if the condition holds, and `no` otherwise."""
    if isinstance(condition, bool):
        return yes if condition else no
    return z3.If(condition, yes, no)


def at_most_either(value: Term, first: Term, second: Term) -> Term:
    """Returns whether `value` is at most the greater of `first` and `second`."""
    return some(value <= first, value <= second)


class Function:
    """A function or relation of the state. It is immutable, so `put` returns a new function."""

    def __init__(self, of: Callable[..., Term]) -> None:
        self.of = of

    def __call__(self, *key: Term) -> Term:
        return self.of(*key)

    def put(self, key: tuple[Term, ...], value: Term) -> Function:
        """Returns a function that has the given value at `key`, and this function's values at all other keys."""

        def value_at(*other: Term) -> Term:
            is_key = every(*(mine == theirs for mine, theirs in zip(key, other, strict=True)))
            return choose(is_key, value, self(*other))

        return Function(value_at)

    def derive(self, of: Callable[..., Term]) -> Function:
        """Returns a function derived from this function. `of` computes the derived function's value for a key."""
        return Function(of)


class Table(Function):
    """A function of the concrete domain, stored as a dictionary of values and a default value for all other keys."""

    def __init__(self, default: Term, values: Mapping[tuple[Term, ...], Term] | None = None) -> None:
        self.default = default
        self.values = dict(values or {})

    def __call__(self, *key: Term) -> Term:
        return self.values.get(key, self.default)

    def put(self, key: tuple[Term, ...], value: Term) -> Function:
        return Table(self.default, {**self.values, key: value})

    def derive(self, of: Callable[..., Term]) -> Function:
        return Table(self.default, {key: of(*key) for key in self.values})


class Domain:
    """Determines, for each sort, the values over which "for all" ranges."""

    def forall(self, sorts: str, condition: Callable[..., Term]) -> Term:
        """Returns whether a condition holds for all values of the given sorts. `sorts` contains the names of the sorts,
        separated by spaces.
        """
        raise NotImplementedError


CLAIM = z3.DeclareSort("Claim")
MESSAGE = z3.DeclareSort("Message")
TOKEN = z3.DeclareSort("Token")
SORTS: dict[str, z3.SortRef] = {
    "claim": CLAIM,
    "message": MESSAGE,
    "token": TOKEN,
    "incarnation": z3.IntSort(),
    "version": z3.IntSort(),
    "tick": z3.IntSort(),
    "name": z3.IntSort(),
}


class UnboundedDomain(Domain):
    def forall(self, sorts: str, condition: Callable[..., Term]) -> Term:
        values = [z3.FreshConst(SORTS[sort], sort) for sort in sorts.split()]
        body = condition(*values)
        return body if isinstance(body, bool) else z3.ForAll(values, body)


class LoopDomain(Domain):
    """The base class of the domains that have a list of values for each sort."""

    def __init__(self, values: Mapping[str, Iterable[Term]]) -> None:
        self.values = {sort: list(of) for sort, of in values.items()}

    def forall(self, sorts: str, condition: Callable[..., Term]) -> Term:
        return every(*(condition(*values) for values in product(*(self.values[sort] for sort in sorts.split()))))


class BoundedDomain(LoopDomain):
    """A domain with a few values of each sort. `test_leases.py` excludes references to other values."""


class ConcreteDomain(LoopDomain):
    """A domain whose values are Python objects."""

    def forall(self, sorts: str, condition: Callable[..., Term]) -> Term:
        return all(condition(*values) for values in product(*(self.values[sort] for sort in sorts.split())))
