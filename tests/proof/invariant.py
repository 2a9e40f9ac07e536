"""The invariant of the lease protocol, the promise that follows from it, and unconstrained symbolic states.

The idea of the invariant is that the record is a fence. No generator uses, or may still be allowed to use, a tick that
ends after the end of the grant in the record. In a restored store, the limit is the later of that end and the quiet
time. A new grant starts at this limit or later. Therefore, grants that the store accepts one after another cover
successive times ("later grants start later"), and no two of them share a tick.

The invariant consists of named parts. Some parts state this idea. Most of the other parts describe the messages in
transit, because a message may arrive long after it was sent, and the fence must hold whichever message arrives next.
Four parts describe the history of the store. They are needed because a promotion may lose versions that were not
acknowledged, and a restored backup may lose any later version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import z3  # type: ignore[import-untyped]

from leases import BURIES, CLAIMS, EVICTS, FREES, RELEASES, RENEWS, Contents, Protocol, State, Step
from logic import CLAIM, MESSAGE, TOKEN, Domain, Function, Term, at_most_either, every, implies, negation, some

InvariantPart = Callable[[], Term]


def invariant(protocol: Protocol, s: State) -> dict[str, InvariantPart]:
    """Returns the parts of the invariant by name. Each part is a function, because large formulas take time to
    build.
    """
    p, c, forall = protocol, protocol.contents, protocol.domain.forall

    def is_origin(line: Term, version: Term) -> Term:
        # Returns whether a version was written in its incarnation and not copied into it.
        return every(s.stored(line, version), c.has_line(line, version) == line)

    def shows_claim(claim: Term, line: Term, version: Term) -> Term:
        return every(s.used(claim), c.has_token(line, version) == c.token(claim))

    def is_current(version: Term) -> Term:
        # Returns whether a version of the record is the newest durable version or a later version. A promotion may keep
        # any of these versions.
        return every(s.stored(s.line, version), version >= s.kept)

    def is_before(line: Term, version: Term, at: Term) -> Term:
        return some(line != s.line, version <= at)

    def is_firm(version: Term) -> Term:
        return some(version != s.base, s.is_firm)

    def is_sent(message: Term, kind: int) -> Term:
        return every(s.sent(message), c.kind(message) == kind, c.line(message) == s.line)

    def read_version(message: Term) -> tuple[Term, Term]:
        return s.line, c.read(message)

    def keeps_grant(message: Term) -> Term:
        # Returns whether the message replaces the owner's grant with a grant that has the same token and start.
        owner = c.owner(message)
        return every(
            shows_claim(owner, *read_version(message)),
            c.put_token(message) == c.token(owner),
            c.put_start(message) == c.start(owner),
        )

    def is_valid_claim(message: Term) -> Term:
        owner, until = c.owner(message), c.has_until(*read_version(message))
        is_first = every(
            c.has_token(*read_version(message)) != c.token(owner),
            implies(c.read(message) == s.version, negation(s.ranked(owner))),
            c.put_start(message) >= until,
            c.put_start(message) >= s.floor,
            p.if_timed(every(s.time >= until, s.time >= s.floor)),
        )
        is_proof = every(
            keeps_grant(message), c.has_line(*read_version(message)) == s.line, c.put_until(message) == until
        )
        return every(
            s.used(owner),
            c.put_token(message) == c.token(owner),
            c.put_start(message) == c.start(owner),
            some(is_first, is_proof),
        )

    def is_valid_burial(message: Term) -> Term:
        owner = c.owner(message)
        return every(
            s.over(owner),
            shows_claim(owner, *read_version(message)),
            c.put_start(message) == c.start(owner),
            some(
                c.put_until(message) >= c.has_until(*read_version(message)),
                c.put_until(message) >= s.mark(owner),
            ),
        )

    def is_operator(message: Term) -> Term:
        return c.kind(message) >= EVICTS

    def is_bounded(value: Term, at: Term) -> Term:
        return at_most_either(value, c.has_until(s.line, at), s.floor)

    def is_past(value: Term, line: Term) -> Term:
        return every(value <= s.latest, implies(line < s.line, value <= s.since))

    def comes_before(first: Term, second: Term) -> Term:
        return every(s.ranked(first), s.ranked(second), s.rank(first) < s.rank(second))

    parts: dict[str, InvariantPart] = {
        "the record is one of its versions": lambda: every(
            s.stored(s.line, s.version),
            s.stored(s.line, s.kept),
            s.stored(s.line, s.base),
            s.base <= s.kept,
            s.kept <= s.version,
            forall(
                "incarnation version",
                lambda line, v: implies(
                    s.stored(line, v),
                    every(
                        s.ever(line, v),
                        line <= s.line,
                        implies(line == s.line, every(s.base <= v, v <= s.version)),
                        implies(every(line == s.line, v != s.base), c.has_line(line, v) == line),
                        implies(every(line == s.line, c.has_line(line, v) == line), is_firm(v)),
                    ),
                ),
            ),
        ),
        "versions make sense": lambda: forall(
            "incarnation version",
            lambda line, v: implies(
                s.ever(line, v),
                every(
                    line <= s.line,
                    c.has_line(line, v) <= line,
                    c.has_start(line, v) <= c.has_until(line, v),
                    s.drawn(c.has_token(line, v)),
                ),
            ),
        ),
        "a token is of one claim": lambda: every(
            forall("claim", lambda a: implies(s.used(a), s.drawn(c.token(a)))),
            forall("claim", lambda a: implies(some(s.acquired(a), s.over(a)), s.used(a))),
            forall("message", lambda m: implies(s.sent(m), s.drawn(c.put_token(m)))),
            forall(
                "claim claim",
                lambda a, b: implies(every(s.used(a), s.used(b), c.token(a) == c.token(b)), a == b),
            ),
        ),
        "a grant keeps its start": lambda: forall(
            "claim incarnation version",
            lambda a, line, v: implies(
                every(s.ever(line, v), shows_claim(a, line, v)),
                every(
                    c.has_start(line, v) == c.start(a),
                    s.ranked(a),
                    negation(c.has_reserved(line, v)),
                ),
            ),
        ),
        "writes are as the rules say": lambda: forall(
            "message",
            lambda m: every(
                implies(
                    s.sent(m),
                    every(
                        c.line(m) <= s.line,
                        c.version(m) > c.read(m),
                        implies(
                            c.line(m) == s.line, every(s.stored(*read_version(m)), c.put_until(m) >= c.put_start(m))
                        ),
                        implies(c.kind(m) != EVICTS, negation(c.put_reserved(m))),
                        c.kind(m) >= CLAIMS,
                        c.kind(m) <= BURIES,
                    ),
                ),
                implies(is_sent(m, CLAIMS), is_valid_claim(m)),
                implies(
                    is_sent(m, RENEWS),
                    every(keeps_grant(m), s.acquired(c.owner(m)), c.put_until(m) >= c.has_until(*read_version(m))),
                ),
                implies(
                    is_sent(m, RELEASES),
                    every(
                        keeps_grant(m),
                        s.over(c.owner(m)),
                        c.has_line(*read_version(m)) == s.line,
                        c.put_until(m) >= s.mark(c.owner(m)),
                        c.put_until(m) <= c.has_until(*read_version(m)),
                    ),
                ),
                implies(is_sent(m, EVICTS), c.put_start(m) >= c.has_until(*read_version(m))),
                implies(
                    is_sent(m, FREES),
                    every(c.has_reserved(*read_version(m)), c.put_start(m) == c.has_start(*read_version(m))),
                ),
                implies(is_sent(m, BURIES), is_valid_burial(m)),
            ),
        ),
        "an operator's tokens are of no claim": lambda: forall(
            "message claim",
            lambda m, a: implies(every(s.sent(m), is_operator(m), s.used(a)), c.put_token(m) != c.token(a)),
        ),
        "a renewal of a restored grant comes before any later claim": lambda: forall(
            "message claim incarnation version",
            lambda m, a, line, v: implies(
                every(is_sent(m, RENEWS), c.read(m) == s.version, is_origin(line, v), shows_claim(a, line, v)),
                s.rank(a) <= s.rank(c.owner(m)),
            ),
        ),
        "what the store has done": lambda: forall(
            "message",
            lambda m: every(
                implies(s.done(m), s.sent(m)),
                implies(
                    every(s.done(m), c.line(m) == s.line),
                    every(s.stored(s.line, c.version(m)), p.is_put_by(s.line, c.version(m), m)),
                ),
                implies(
                    s.acknowledged(m),
                    every(
                        s.done(m),
                        s.stored(c.line(m), c.version(m)),
                        p.is_put_by(c.line(m), c.version(m), m),
                        implies(
                            some(c.kind(m) == CLAIMS, c.kind(m) == RENEWS),
                            every(
                                s.used(c.owner(m)),
                                c.put_token(m) == c.token(c.owner(m)),
                                c.put_start(m) == c.start(c.owner(m)),
                            ),
                        ),
                        implies(c.line(m) == s.line, c.version(m) <= s.kept),
                    ),
                ),
            ),
        ),
        "a base is never written in its own incarnation": lambda: forall(
            "message",
            lambda m: implies(every(s.sent(m), c.line(m) == s.line), c.version(m) > s.base),
        ),
        "a window ends where the store acknowledged": lambda: forall(
            "claim",
            lambda a: implies(
                s.acquired(a),
                every(
                    s.acknowledged(s.origin(a)),
                    c.owner(s.origin(a)) == a,
                    some(c.kind(s.origin(a)) == CLAIMS, c.kind(s.origin(a)) == RENEWS),
                    c.put_until(s.origin(a)) == s.end(a),
                    s.mark(a) <= s.end(a),
                    c.start(a) <= s.mark(a),
                    some(
                        s.mark(a) == c.start(a),
                        every(s.made(a, s.top(a)), s.mark(a) == c.begin(s.top(a) + 1)),
                    ),
                ),
            ),
        ),
        "a claim without a grant has used nothing": lambda: forall(
            "claim",
            lambda a: implies(every(s.used(a), negation(s.acquired(a))), s.mark(a) == c.start(a)),
        ),
        "IDs are made within the grant": lambda: forall(
            "claim tick",
            lambda a, k: implies(
                s.made(a, k),
                every(s.acquired(a), c.start(a) <= c.begin(k), c.begin(k + 1) <= s.mark(a)),
            ),
        ),
        "claims have an order": lambda: every(
            forall("claim", lambda a: implies(s.ranked(a), every(s.used(a), s.rank(a) < s.ranks))),
            forall(
                "claim claim",
                lambda a, b: implies(every(s.ranked(a), s.ranked(b), s.rank(a) == s.rank(b)), a == b),
            ),
        ),
        "the record's end is a fence for windows": lambda: forall(
            "claim incarnation version version",
            lambda a, line, v, at: implies(
                every(
                    is_current(at),
                    is_origin(line, v),
                    is_before(line, v, at),
                    shows_claim(a, line, v),
                    negation(s.over(a)),
                ),
                is_bounded(c.has_until(line, v), at),
            ),
        ),
        "the record's end is a fence for IDs": lambda: forall(
            "claim version",
            lambda a, at: implies(every(is_current(at), s.acquired(a)), is_bounded(s.mark(a), at)),
        ),
        "a reserved number's start is a fence": lambda: every(
            forall(
                "claim incarnation version version",
                lambda a, line, v, at: implies(
                    every(
                        is_current(at),
                        c.has_reserved(s.line, at),
                        is_origin(line, v),
                        is_before(line, v, at),
                        shows_claim(a, line, v),
                        negation(s.over(a)),
                    ),
                    at_most_either(c.has_until(line, v), c.has_start(s.line, at), s.floor),
                ),
            ),
            forall(
                "claim version",
                lambda a, at: implies(
                    every(is_current(at), c.has_reserved(s.line, at), s.acquired(a)),
                    at_most_either(s.mark(a), c.has_start(s.line, at), s.floor),
                ),
            ),
        ),
        "the record shows the latest claim": lambda: forall(
            "claim claim incarnation version version",
            lambda a, b, line, v, at: implies(
                every(
                    is_current(at),
                    is_firm(at),
                    shows_claim(a, s.line, at),
                    is_origin(line, v),
                    is_before(line, v, at),
                    shows_claim(b, line, v),
                ),
                s.rank(b) <= s.rank(a),
            ),
        ),
        "the claim that the record shows was accepted": lambda: forall(
            "claim version",
            lambda a, at: implies(
                every(is_current(at), is_firm(at), shows_claim(a, s.line, at)),
                some(
                    s.acquired(a),
                    every(
                        is_origin(s.place_line(a), s.place(a)),
                        is_before(s.place_line(a), s.place(a), at),
                        shows_claim(a, s.place_line(a), s.place(a)),
                    ),
                ),
            ),
        ),
        "later grants start later": lambda: forall(
            "claim claim incarnation version incarnation version",
            lambda a, b, line, v, line_b, v_b: implies(
                every(
                    comes_before(a, b),
                    is_origin(line, v),
                    shows_claim(a, line, v),
                    is_origin(line_b, v_b),
                    shows_claim(b, line_b, v_b),
                ),
                every(
                    implies(s.acquired(a), s.mark(a) <= c.start(b)),
                    implies(
                        negation(s.over(a)),
                        every(c.has_until(line, v) <= c.start(b), p.if_timed(is_past(c.has_until(line, v), line_b))),
                    ),
                ),
            ),
        ),
        "quiet times": lambda: every(
            s.floor <= s.quiet,
            p.if_timed(every(s.since <= s.latest, s.latest <= s.time)),
            s.names > s.name,
            s.names > s.name_before,
            s.name >= 1,
            s.name_before >= 0,
            implies(s.promoted(s.name_before, s.name), s.floor <= s.quiet_before),
            forall(
                "name name",
                lambda x, y: implies(s.promoted(x, y), every(x >= 1, x < y, y < s.names)),
            ),
        ),
    }
    if not p.is_timed:
        parts["no backup was restored"] = lambda: s.is_firm
    else:
        parts |= {
            "ends are within the longest lease": lambda: every(
                forall(
                    "claim incarnation version",
                    lambda a, line, v: implies(
                        every(s.ever(line, v), shows_claim(a, line, v)), c.has_until(line, v) <= s.latest + c.longest
                    ),
                ),
                forall(
                    "message",
                    lambda m: implies(
                        every(s.sent(m), c.line(m) == s.line, c.kind(m) <= RELEASES),
                        c.put_until(m) <= s.time + c.longest,
                    ),
                ),
            ),
            "a restored store is quiet until all lost grants have ended": lambda: forall(
                "claim incarnation version",
                lambda a, line, v: implies(
                    every(negation(s.is_firm), is_origin(line, v), line < s.line, shows_claim(a, line, v)),
                    c.has_until(line, v) <= s.floor,
                ),
            ),
        }
    return parts


def is_unique(protocol: Protocol, s: State) -> Term:
    """Returns the formula for the promise that no two claims make an ID in the same tick."""
    return protocol.domain.forall(
        "claim claim tick", lambda a, b, k: implies(every(s.made(a, k), s.made(b, k)), a == b)
    )


# ------------------------------------------------------------------------------------------------- symbolic states


def _symbol(name: str, *sorts: z3.SortRef) -> Function:
    return Function(z3.Function(name, *sorts))


def symbolic_contents() -> Contents:
    """Returns the `Contents` for a proof, in which every value is an unconstrained z3 symbol."""
    whole, truth = z3.IntSort(), z3.BoolSort()
    message_sorts = {"put_token": TOKEN, "put_reserved": truth, "owner": CLAIM}
    message_functions = (
        "kind",
        "owner",
        "line",
        "read",
        "version",
        "put_token",
        "put_start",
        "put_until",
        "put_reserved",
    )
    version_sorts = {"has_token": TOKEN, "has_reserved": truth}
    version_functions = ("has_token", "has_start", "has_until", "has_reserved", "has_line")
    return Contents(
        token=_symbol("token", CLAIM, TOKEN),
        start=_symbol("start", CLAIM, whole),
        begin=_symbol("begin", whole, whole),
        longest=z3.Int("longest"),
        error=z3.Int("error"),
        **{name: _symbol(name, MESSAGE, message_sorts.get(name, whole)) for name in message_functions},
        **{name: _symbol(name, whole, whole, version_sorts.get(name, whole)) for name in version_functions},
    )


def symbolic_state() -> State:
    """Returns an unconstrained symbolic state."""
    whole, truth = z3.IntSort(), z3.BoolSort()
    relations: Mapping[str, tuple[z3.SortRef, ...]] = {
        "drawn": (TOKEN, truth),
        "used": (CLAIM, truth),
        "acquired": (CLAIM, truth),
        "over": (CLAIM, truth),
        "end": (CLAIM, whole),
        "mark": (CLAIM, whole),
        "top": (CLAIM, whole),
        "origin": (CLAIM, MESSAGE),
        "awaits": (CLAIM, MESSAGE),
        "ranked": (CLAIM, truth),
        "rank": (CLAIM, whole),
        "place_line": (CLAIM, whole),
        "place": (CLAIM, whole),
        "made": (CLAIM, whole, truth),
        "sent": (MESSAGE, truth),
        "done": (MESSAGE, truth),
        "acknowledged": (MESSAGE, truth),
        "stored": (whole, whole, truth),
        "ever": (whole, whole, truth),
        "promoted": (whole, whole, truth),
    }
    numbers = (
        "ranks",
        "line",
        "base",
        "kept",
        "version",
        "quiet",
        "quiet_before",
        "floor",
        "name",
        "name_before",
        "names",
        "time",
        "latest",
        "since",
    )
    return State(
        is_firm=z3.Bool("is_firm"),
        **{name: _symbol(name, *sorts) for name, sorts in relations.items()},
        **{name: z3.Int(name) for name in numbers},
    )


def axioms(domain: Domain, c: Contents) -> Term:
    """Returns the assumptions about the contents: later ticks begin later, and durations are not negative."""
    return every(
        c.longest >= 0,
        c.error >= 0,
        domain.forall("tick tick", lambda x, y: implies(x < y, c.begin(x) < c.begin(y))),
    )


def is_initial(protocol: Protocol, s: State) -> Term:
    """Returns whether a state is the initial state of a new record. The record has version 1 and was never granted, and
    no claim, message or ID exists.
    """
    c, forall = protocol.contents, protocol.domain.forall
    return every(
        s.line == 0,
        s.base == 1,
        s.kept == 1,
        s.version == 1,
        c.has_line(0, 1) == 0,
        c.has_start(0, 1) == 0,
        c.has_until(0, 1) == 0,
        negation(c.has_reserved(0, 1)),
        s.drawn(c.has_token(0, 1)),
        s.is_firm,
        s.floor == s.quiet,
        s.since == s.time,
        s.latest == s.time,
        s.ranks == 0,
        s.name == 1,
        s.name_before == 0,
        s.names == 2,
        forall(
            "incarnation version",
            lambda line, v: every(
                s.stored(line, v) == every(line == 0, v == 1), s.ever(line, v) == every(line == 0, v == 1)
            ),
        ),
        forall("token", lambda token: implies(s.drawn(token), token == c.has_token(0, 1))),
        forall("claim", lambda a: negation(some(s.used(a), s.acquired(a), s.over(a), s.ranked(a)))),
        forall("claim tick", lambda a, k: negation(s.made(a, k))),
        forall("message", lambda m: negation(some(s.sent(m), s.done(m), s.acknowledged(m)))),
        forall("name name", lambda x, y: negation(s.promoted(x, y))),
    )


StepFunction = Callable[[Protocol, State], Step]


def symbolic_steps(is_timed: bool) -> dict[str, StepFunction]:
    """Returns all steps by name, with unconstrained symbolic parameters."""
    claim, message, tick = z3.Const("a", CLAIM), z3.Const("m", MESSAGE), z3.Int("k")
    line, version, now = z3.Int("l"), z3.Int("v"), z3.Int("now")
    quiet, before, name, name_before = (z3.Int(f"new_{part}") for part in ("quiet", "before", "name", "name_before"))
    steps: dict[str, StepFunction] = {
        "claim": lambda p, s: p.claim(s, claim, message, now),
        "prove": lambda p, s: p.prove(s, claim, message),
        "renew": lambda p, s: p.renew(s, claim, message, now),
        "deliver": lambda p, s: p.deliver(s, message),
        "keep": lambda p, s: p.keep(s, version),
        "acknowledge": lambda p, s: p.acknowledge(s, message),
        "acquire": lambda p, s: p.acquire(s, claim, message),
        "extend": lambda p, s: p.extend(s, claim, message),
        "make": lambda p, s: p.make(s, claim, tick),
        "finish": lambda p, s: p.finish(s, claim),
        "release": lambda p, s: p.release(s, claim, message),
        "evict": lambda p, s: p.evict(s, message),
        "free": lambda p, s: p.free(s, message),
    }
    timed: dict[str, StepFunction] = {
        "read_time": lambda p, s: p.read_time(s, now),
        "bury": lambda p, s: p.bury(s, claim, message, now, tick),
        "restore": lambda p, s: p.restore(s, line, version, now, quiet, before, name, name_before),
        "promote": lambda p, s: p.promote(s, version, quiet),
        "declare_promoted": lambda p, s: p.declare_promoted(s, name_before, name),
    }
    return steps | timed if is_timed else steps
