"""The lease protocol of docs/leases.md as a transition system.

WHAT IS PROVED. Two grants of one worker ID are never used in the same tick, for any number of holders, messages,
versions and incarnations, and for any times. The proof is by induction. The invariant holds in the initial state, every
step that the rules R1 to R7 permit preserves it, and it implies the promise. `test_leases.py` lets z3 prove these
statements. z3 searches for a counterexample among all structures of the kind described below, including infinite
structures, and shows that none exists. The size of the structures is not limited.

WHY ONE WORKER ID IS ENOUGH. A duplicate needs two grants of the same worker ID, since different worker IDs encode
differently. The rules for one worker ID read and write one record. The only values that they share with the rules for
other worker IDs are part of this model: the store's time, the incarnation, the quiet time and the names of stores. In
this model, each of these values may change at any moment, whatever happens to the record. A holder that now has another
worker ID is simply a holder whose grant has ended.

THE STATE.
- A *claim* is one attempt to get a grant, with its random token. If the attempt succeeds, the claim also represents the
  generator for that grant. A process that claims again makes another claim (R6), so this model has no processes. If a
  process is killed, paused forever or closed, or gives up, its claim is `over`. A process that is paused for a while
  takes no steps.
- A *message* is a write in transit to the store: the version of the record that was read, and the record to put. A
  message may arrive late, never, or many times, and outlives its sender. Its contents never change.
- A *version* is a state that the record had in one incarnation of the store. `stored` states which versions existed.
  The newest version is the record that the store shows. `kept` is the newest version that no promotion of a replica can
  lose.
- `line` is the current incarnation, and `base` is the version that it began with.
- `made(claim, tick)` states that the claim's generator made or reserved an ID in a tick. It records history and is
  never unset.
- Some values exist only for the proof, because rules do not read them: `rank`, `origin`, `top`, `floor`, `is_firm`.

ASSUMPTIONS.
- Stores compare and swap records atomically, and keep every write that they acknowledge (R9). An earlier incarnation
  acknowledges nothing once a later one exists.
- Tokens differ (128 random bits), and so do the names of stores.
- A generator checks the tick that it encodes against its window, and sealing is one atomic step that returns the
  highest reserved tick. `words.py` proves that a closed word returns nothing, and that no used tick is above the
  reported one. The tests of the core check the rest.
- Nothing is assumed about clocks, except where `Protocol.is_timed` is true. There, a restored store's clock is behind
  the time of the last write in earlier incarnations by at most the clock error (R7), and the clock of a holder that is
  declared dead was ahead of the store's clock by at most the clock error (R5). The proof of R1 to R6 without restored
  stores (`is_timed=False`) lets every clock show any time at any moment.
- The longest lease is the same in all incarnations of the store. If it was increased after a backup, an operator has
  to set the quiet time (R7).

NOT PROVED HERE.
- Clones of a running holder. They share a token, and repeat each other's IDs until the end of the grant that they
  share. Only the bounded model (`lease/tests/model`) covers what follows.
- IDs that a program makes with a reserved worker ID. Reserving and freeing are steps of this model, but the model
  contains no program that uses the reserved worker ID.
- Forks (R10), the comparison of shapes (R8), stores that lose acknowledged writes (R9), and the deletion of a store.
- That the protocol makes progress: a protocol that never grants a worker ID would be safe too. `test_leases.py`
  therefore runs through all steps once, and shows that each is possible.

THE REAL CODE. `traces.py` replays the actions of real keepers, stores and generators in simulated worlds as steps of
this model. `faults.py` replays the actions of real processes under injected faults. A test fails if a keeper takes a
step that the model does not permit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from logic import (
    Domain,
    Function,
    Term,
    choose,
    every,
    implies,
    negation,
    some,
)

# The kinds of messages. Only an operator sends the last three.
CLAIMS, RENEWS, RELEASES, EVICTS, FREES, BURIES = range(6)


@dataclass(frozen=True)
class Contents:
    """The values that never change: the contents of claims, messages and stored versions, and the constants."""

    token: Function  # the random token of a claim
    start: Function  # the start of a claim's grant
    kind: Function  # the kind of a message
    owner: Function  # the claim that sent the message, or the claim that an operator declares dead with it
    line: Function  # the incarnation that the message is meant for
    read: Function  # the version that the message replaces
    version: Function  # the version that the message writes, with the contents below
    put_token: Function
    put_start: Function
    put_until: Function
    put_reserved: Function
    has_token: Function  # the contents of a version in an incarnation
    has_start: Function
    has_until: Function
    has_reserved: Function
    has_line: Function  # the incarnation in which the record's grant was last made or renewed
    begin: Function  # the time at which a tick begins
    longest: Term  # the longest lease
    error: Term  # the clock error


@dataclass(frozen=True)
class State:
    """The values that steps change."""

    # The state of claims.
    drawn: Function  # tokens that exist
    used: Function  # claims that began
    acquired: Function  # claims that got their grant, and with it a generator
    over: Function  # claims that make no more IDs and get no more grants
    end: Function  # the end of the generator's window
    mark: Function  # the end of the highest tick used, or the start of the grant if no tick was used
    top: Function  # the highest tick used
    origin: Function  # the acknowledged message that `end` comes from
    awaits: Function  # the message whose reply the claim accepts
    ranked: Function  # claims that the store has accepted, in the order of `rank`
    rank: Function
    ranks: Term
    place_line: Function  # the incarnation and version in which the store accepted a claim
    place: Function
    made: Function
    # The state of messages.
    sent: Function
    done: Function  # the store has applied the write
    acknowledged: Function  # the write is durable, and a reply may arrive at any time
    # The state of the record.
    line: Term
    base: Term
    kept: Term
    version: Term
    stored: Function
    ever: Function  # `stored` plus the versions that a promotion lost, which a backup may still contain
    is_firm: Term  # `False` if the line began with a restored backup, so that later claims may have been lost
    # The state of the namespace's record.
    quiet: Term
    quiet_before: Term
    floor: Term  # the lowest value that `quiet` may have until the next backup is restored
    name: Term
    name_before: Term
    names: Term  # one more than the highest name in use
    promoted: Function  # pairs of names between which a promotion lost no acknowledged write
    time: Term  # the latest time that a store has read
    latest: Term  # `time` when the record was last written
    since: Term  # `time` when the last record of the earlier incarnations was written


@dataclass(frozen=True)
class Step:
    """A step. `guard` states whether the step is possible, and `after` is the state after the step."""

    guard: Term
    after: State


class Protocol:
    """The steps of the lease protocol, optionally without one of its rules."""

    def __init__(self, domain: Domain, contents: Contents, left_out: str = "", is_timed: bool = True) -> None:
        self.domain, self.contents, self.left_out, self.is_timed = domain, contents, left_out, is_timed
        # The names of the rules that steps have used so far. The table of weakenings must contain all of these rules.
        self.rules: set[str] = set()

    def rule(self, name: str, condition: Term, instead: Term = True) -> Term:
        """Returns `condition`, which a rule requires, or `instead` if that rule is left out."""
        self.rules.add(name)
        return instead if name == self.left_out else condition

    def if_timed(self, condition: Term) -> Term:
        """Returns a condition that only rules that rely on clocks need, or `True` if the protocol is not timed."""
        return condition if self.is_timed else True

    # ------------------------------------------------------------------------------------------------- helpers

    def shows_grant(self, claim: Term, line: Term, version: Term) -> Term:
        """Returns whether a stored version shows a claim's grant."""
        c = self.contents
        return every(c.has_token(line, version) == c.token(claim), c.has_start(line, version) == c.start(claim))

    def is_put_by(self, line: Term, version: Term, message: Term) -> Term:
        """Returns whether a stored version has the contents that a message writes."""
        c = self.contents
        return every(
            c.has_token(line, version) == c.put_token(message),
            c.has_start(line, version) == c.put_start(message),
            c.has_until(line, version) == c.put_until(message),
            c.has_reserved(line, version) == c.put_reserved(message),
            c.has_line(line, version) == line,
        )

    def has_same_contents(self, line: Term, version: Term, of_line: Term, of_version: Term) -> Term:
        """Returns whether two versions have the same contents."""
        c = self.contents
        parts = (c.has_token, c.has_start, c.has_until, c.has_reserved, c.has_line)
        return every(*(part(line, version) == part(of_line, of_version) for part in parts))

    def is_stale(self, s: State, message: Term) -> Term:
        """Returns whether a message is meant for an earlier incarnation. No store accepts such a message, regardless of
        its contents.
        """
        return self.contents.line(message) < s.line

    def is_new_write(self, s: State, message: Term, kind: int) -> Term:
        """Returns whether a message satisfies the conditions for every write (R2). The message must be new, and must be
        based on a version that existed in the store.
        """
        c = self.contents
        return every(
            negation(s.sent(message)),
            c.kind(message) == kind,
            c.line(message) <= s.line,
            c.version(message) > c.read(message),
            True if kind == EVICTS else negation(c.put_reserved(message)),
            implies(c.line(message) == s.line, s.stored(s.line, c.read(message))),
        )

    # --------------------------------------------------------------------------------------------------- steps

    def read_time(self, s: State, now: Term) -> Step:
        """Models a store that reads its clock, which may show any time."""
        return Step(True, replace(s, time=choose(now > s.time, now, s.time)))

    def claim(self, s: State, claim: Term, message: Term, now: Term) -> Step:
        """Models a claimant that has read the record at the store's time `now`, and sends its claim (R1, R3)."""
        c = self.contents
        until = c.has_until(s.line, c.read(message))
        guard = every(
            self.is_new_write(s, message, CLAIMS),
            negation(s.used(claim)),
            self.rule("a claim draws a new token", negation(s.drawn(c.token(claim)))),
            c.owner(message) == claim,
            c.put_token(message) == c.token(claim),
            c.put_start(message) == c.start(claim),
            some(
                self.is_stale(s, message),
                every(
                    c.put_until(message) >= c.put_start(message),
                    self.rule("a grant starts at the end of the last one", c.put_start(message) >= until),
                    self.rule("a grant starts after the quiet time", c.put_start(message) >= s.quiet),
                    self.if_timed(
                        every(
                            now <= s.time,
                            self.rule("a claim waits for the recorded end", now >= until),
                            self.rule("a claim waits for the quiet time", now >= s.quiet),
                            self.rule(
                                "a claim ends within the longest lease", c.put_until(message) <= s.time + c.longest
                            ),
                        )
                    ),
                ),
            ),
        )
        after = replace(
            s,
            used=s.used.put((claim,), True),
            drawn=s.drawn.put((c.token(claim),), True),
            mark=s.mark.put((claim,), c.start(claim)),
            awaits=s.awaits.put((claim,), message),
            sent=s.sent.put((message,), True),
        )
        return Step(guard, after)

    def prove(self, s: State, claim: Term, message: Term) -> Step:
        """A claimant that received no reply has found its claim in the record, and writes the claim again (R2)."""
        c = self.contents
        read_version = c.read(message)
        guard = every(
            self.is_new_write(s, message, CLAIMS),
            s.used(claim),
            negation(s.over(claim)),
            negation(s.acquired(claim)),
            c.owner(message) == claim,
            c.put_token(message) == c.token(claim),
            c.put_start(message) == c.start(claim),
            some(
                self.is_stale(s, message),
                every(
                    self.rule("a claim is found by token and start", self.shows_grant(claim, s.line, read_version)),
                    self.rule("a claim is found in its own incarnation", c.has_line(s.line, read_version) == s.line),
                    c.put_until(message) == c.has_until(s.line, read_version),
                ),
            ),
        )
        after = replace(s, awaits=s.awaits.put((claim,), message), sent=s.sent.put((message,), True))
        return Step(guard, after)

    def renew(self, s: State, claim: Term, message: Term, now: Term) -> Step:
        """Models a holder that renews the grant that the record shows (R4). In a restored store, the holder renews only
        a grant that cannot have passed to another holder in the lost history (R7).
        """
        c = self.contents
        read_version = c.read(message)
        until = c.has_until(s.line, read_version)
        guard = every(
            self.is_new_write(s, message, RENEWS),
            s.acquired(claim),
            negation(s.over(claim)),
            c.owner(message) == claim,
            c.put_token(message) == c.token(claim),
            c.put_start(message) == c.start(claim),
            some(
                self.is_stale(s, message),
                every(
                    self.rule("a holder renews its own grant", self.shows_grant(claim, s.line, read_version)),
                    self.rule("a renewal never lowers the end", c.put_until(message) >= until),
                    self.if_timed(
                        every(
                            self.rule(
                                "a renewal ends within the longest lease",
                                some(c.put_until(message) <= s.time + c.longest, c.put_until(message) == until),
                            ),
                            some(
                                c.has_line(s.line, read_version) == s.line,
                                every(self.is_reading(s, now), self.is_alive(s, claim, until, now)),
                            ),
                        )
                    ),
                ),
            ),
        )
        after = replace(s, awaits=s.awaits.put((claim,), message), sent=s.sent.put((message,), True))
        return Step(guard, after)

    def is_reading(self, s: State, now: Term) -> Term:
        """Returns whether a time was read from a store of this incarnation, possibly long ago."""
        return every(
            now <= s.time,
            self.rule("the clock of a restored store is within the clock error", now >= s.since - self.contents.error),
        )

    def is_alive(self, s: State, claim: Term, until: Term, now: Term) -> Term:
        """Returns whether a grant cannot have passed to another holder in the lost history (R7)."""
        end = self.rule("the acknowledged end counts, and not the one found", s.end(claim), until)
        error = self.rule("such a renewal allows for the clock error", self.contents.error, 0)
        return self.rule("in a restored store, a holder renews before its acknowledged end", now + error < end)

    def deliver(self, s: State, message: Term) -> Step:
        """Models the arrival of a message. The store replaces the record if the record has not changed since the sender
        read it (R2). Otherwise, the message has no effect.
        """
        c = self.contents
        version, owner = c.version(message), c.owner(message)
        guard = every(
            s.sent(message),
            self.rule("a swap compares the incarnation", c.line(message) == s.line),
            self.rule("a swap compares the version", c.read(message) == s.version, c.version(message) > s.version),
            self.is_put_by(s.line, version, message),
        )
        is_first = every(c.kind(message) == CLAIMS, negation(s.ranked(owner)))
        after = replace(
            s,
            version=version,
            latest=s.time,
            stored=s.stored.put((s.line, version), True),
            ever=s.ever.put((s.line, version), True),
            done=s.done.put((message,), True),
            ranked=s.ranked.put((owner,), some(s.ranked(owner), is_first)),
            rank=s.rank.put((owner,), choose(is_first, s.ranks, s.rank(owner))),
            ranks=choose(is_first, s.ranks + 1, s.ranks),
            place_line=s.place_line.put((owner,), choose(is_first, s.line, s.place_line(owner))),
            place=s.place.put((owner,), choose(is_first, version, s.place(owner))),
        )
        return Step(guard, after)

    def keep(self, s: State, version: Term) -> Step:
        """Makes all versions up to `version` durable, including on the synchronous replica."""
        guard = every(s.stored(s.line, version), version >= s.kept)
        return Step(guard, replace(s, kept=version))

    def acknowledge(self, s: State, message: Term) -> Step:
        """Models a store that acknowledges a durable write. The reply may arrive at any later time, or never."""
        c = self.contents
        guard = every(
            s.done(message),
            c.line(message) == s.line,
            self.rule("a reply follows only durable writes", c.version(message) <= s.kept),
        )
        return Step(guard, replace(s, acknowledged=s.acknowledged.put((message,), True)))

    def acquire(self, s: State, claim: Term, message: Term) -> Step:
        """Models the arrival of the reply to a claim. From then on, the holder has a grant and a new generator for it
        (R2, R6).
        """
        c = self.contents
        guard = every(
            s.used(claim),
            negation(s.acquired(claim)),
            negation(s.over(claim)),
            c.kind(message) == CLAIMS,
            self.rule("a grant is the claimant's own", c.owner(message) == claim),
            self.rule("only an acknowledged write proves a grant", s.acknowledged(message), s.done(message)),
        )
        after = replace(
            s,
            acquired=s.acquired.put((claim,), True),
            end=s.end.put((claim,), c.put_until(message)),
            origin=s.origin.put((claim,), message),
        )
        return Step(guard, after)

    def extend(self, s: State, claim: Term, message: Term) -> Step:
        """Models the arrival of the reply to a renewal. The generator's window is extended to the acknowledged end
        (R4).
        """
        c = self.contents
        is_answered = self.rule(
            "a reply counts for its own request",
            s.acknowledged(message),
            # Without the rule, the reply to an earlier request counts as the reply to the last request.
            every(s.sent(message), s.acknowledged(s.origin(claim))),
        )
        guard = every(
            s.acquired(claim),
            negation(s.over(claim)),
            s.awaits(claim) == message,
            c.kind(message) == RENEWS,
            c.owner(message) == claim,
            self.rule("a window grows after the reply", is_answered, s.sent(message)),
        )
        is_later = c.put_until(message) > s.end(claim)
        after = replace(
            s,
            end=s.end.put((claim,), choose(is_later, c.put_until(message), s.end(claim))),
            origin=s.origin.put((claim,), choose(is_later, message, s.origin(claim))),
        )
        return Step(guard, after)

    def make(self, s: State, claim: Term, tick: Term) -> Step:
        """Models a generator that generates an ID, or reserves an ID for a batch, in a tick within the generator's
        window.
        """
        c = self.contents
        first, last = c.begin(tick), c.begin(tick + 1)
        guard = every(
            s.acquired(claim),
            self.rule("a sealed generator makes no ID", negation(s.over(claim))),
            self.rule(
                "a tick begins within the grant, which has a window of its own",
                c.start(claim) <= first,
                c.start(claim) < last,
            ),
            self.rule("a tick ends within the window", last <= s.end(claim), first <= s.end(claim)),
        )
        is_later = last > s.mark(claim)
        after = replace(
            s,
            made=s.made.put((claim, tick), True),
            mark=s.mark.put((claim,), choose(is_later, last, s.mark(claim))),
            top=s.top.put((claim,), choose(is_later, tick, s.top(claim))),
        )
        return Step(guard, after)

    def finish(self, s: State, claim: Term) -> Step:
        """Ends a claim because its generator was sealed, its process was killed, or its claimant gave up."""
        return Step(s.used(claim), replace(s, over=s.over.put((claim,), True)))

    def release(self, s: State, claim: Term, message: Term) -> Step:
        """Models a release (R5). A holder that has sealed its generator lowers the end of the grant, but not below the
        end of the generator's highest tick.
        """
        c = self.contents
        read_version = c.read(message)
        guard = every(
            self.is_new_write(s, message, RELEASES),
            s.used(claim),
            self.rule("a generator is sealed before its release", s.over(claim)),
            c.owner(message) == claim,
            c.put_token(message) == c.token(claim),
            c.put_start(message) == c.start(claim),
            some(
                self.is_stale(s, message),
                every(
                    self.shows_grant(claim, s.line, read_version),
                    self.rule(
                        "a release is of a grant of this incarnation", c.has_line(s.line, read_version) == s.line
                    ),
                    c.put_until(message) <= c.has_until(s.line, read_version),
                    self.rule("a release is not below the highest tick", c.put_until(message) >= s.mark(claim)),
                ),
            ),
        )
        return Step(guard, replace(s, sent=s.sent.put((message,), True)))

    # --------------------------------------------------------------------------------------------- an operator

    def operator_writes(self, s: State, message: Term, kind: int) -> Term:
        return every(self.is_new_write(s, message, kind), negation(s.drawn(self.contents.put_token(message))))

    def with_sent(self, s: State, message: Term) -> State:
        token = self.contents.put_token(message)
        return replace(s, sent=s.sent.put((message,), True), drawn=s.drawn.put((token,), True))

    def evict(self, s: State, message: Term) -> Step:
        """Models an operator that writes an empty grant, which starts at the end of the last grant, or reserves the
        worker ID from that time on.
        """
        c = self.contents
        guard = every(
            self.operator_writes(s, message, EVICTS),
            some(
                self.is_stale(s, message),
                every(
                    self.rule(
                        "an eviction starts at the end of the last grant",
                        c.put_start(message) >= c.has_until(s.line, c.read(message)),
                    ),
                    c.put_until(message) >= c.put_start(message),
                ),
            ),
        )
        return Step(guard, self.with_sent(s, message))

    def free(self, s: State, message: Term) -> Step:
        """Models an operator that frees a reserved worker ID."""
        c = self.contents
        read_version = c.read(message)
        guard = every(
            self.operator_writes(s, message, FREES),
            some(
                self.is_stale(s, message),
                every(
                    self.rule("only a reserved number is freed", c.has_reserved(s.line, read_version)),
                    c.put_start(message) == c.has_start(s.line, read_version),
                    self.rule("a number is not freed below its start", c.put_until(message) >= c.put_start(message)),
                ),
            ),
        )
        return Step(guard, self.with_sent(s, message))

    def bury(self, s: State, claim: Term, message: Term, now: Term, last: Term) -> Step:
        """Models an operator that declares a holder dead (R5). `last` is the first tick that begins after every time
        that the holder's clock may have shown.
        """
        c = self.contents
        read_version = c.read(message)
        until = c.has_until(s.line, read_version)
        latest_time = now + c.error
        end = self.rule("a dead holder's number stays taken for the clock error", c.begin(last), now)
        guard = every(
            self.operator_writes(s, message, BURIES),
            c.owner(message) == claim,
            s.used(claim),
            self.rule("only a dead holder is declared dead", s.over(claim)),
            self.rule(
                "a dead holder's clock was ahead by at most the clock error",
                self.domain.forall("tick", lambda tick: implies(s.made(claim, tick), c.begin(tick) <= latest_time)),
            ),
            c.begin(last) > latest_time,
            some(
                self.is_stale(s, message),
                every(
                    self.rule(
                        "a dead holder is named by its token",
                        every(
                            c.has_token(s.line, read_version) == c.token(claim), c.put_start(message) == c.start(claim)
                        ),
                        c.put_start(message) == c.has_start(s.line, read_version),
                    ),
                    c.put_until(message) >= c.put_start(message),
                    some(c.put_until(message) >= until, c.put_until(message) >= end),
                ),
            ),
        )
        return Step(guard, self.with_sent(s, message))

    # ------------------------------------------------------------------------------- other incarnations (R7)

    def restore(
        self, s: State, line: Term, version: Term, now: Term, quiet: Term, before: Term, name: Term, name_before: Term
    ) -> Step:
        """Models the restore of a backup, which begins a new incarnation. A new store name reveals the restore. If the
        store has kept its name, an operator reports the restore, or a holder proves it.
        """
        c = self.contents
        new_line = s.line + 1
        is_renamed = name == s.names
        guard = every(
            s.ever(line, version),
            self.has_same_contents(new_line, version, line, version),
            now <= s.time,
            self.rule("the new incarnation's clock is behind by at most the clock error", now >= s.latest - c.error),
            self.rule(
                "a restored store has a quiet time",
                quiet >= now + c.longest + self.rule("a quiet time allows for the clock error", c.error, 0),
                quiet >= c.has_until(line, version),
            ),
            name >= 1,
            name <= s.names,
            name_before >= 0,
            name_before < s.names,
            # If the restored store has a new name, the record contains the name of the backup's store as the previous
            # name. If the store has an old name, an operator's report of the restore clears the previous name, and a
            # holder that proves the restore replaces it with the store's own name.
            some(
                is_renamed,
                self.rule(
                    "a report of a restored backup clears the name before", some(name_before == 0, name_before == name)
                ),
            ),
        )
        after = replace(
            s,
            line=new_line,
            base=version,
            kept=version,
            version=version,
            stored=s.stored.put((new_line, version), True),
            ever=s.ever.put((new_line, version), True),
            is_firm=False,
            since=s.latest,
            quiet=quiet,
            quiet_before=before,
            floor=quiet,
            name=name,
            name_before=name_before,
            names=choose(is_renamed, s.names + 1, s.names),
        )
        return Step(guard, after)

    def promote(self, s: State, version: Term, quiet: Term) -> Step:
        """Models the promotion of a replica that has all acknowledged writes. The record may lose any other writes."""
        new_line = s.line + 1

        def is_kept(line: Term, at: Term) -> Term:
            return some(line != s.line, at <= version)

        guard = every(
            s.stored(s.line, version),
            self.rule("a promoted replica has what was acknowledged", version >= s.kept),
            self.has_same_contents(new_line, version, s.line, version),
            quiet >= s.quiet,
        )
        stored = s.stored.derive(lambda line, at: every(s.stored(line, at), is_kept(line, at)))
        after = replace(
            s,
            line=new_line,
            base=version,
            kept=version,
            version=version,
            stored=stored.put((new_line, version), True),
            ever=s.ever.put((new_line, version), True),
            is_firm=some(s.is_firm, version != s.base),
            since=s.latest,
            quiet=quiet,
            quiet_before=s.quiet,
            name=s.names,
            name_before=s.name,
            names=s.names + 1,
            promoted=s.promoted.put((s.name, s.names), True),
        )
        return Step(guard, after)

    def declare_promoted(self, s: State, before: Term, name: Term) -> Step:
        """Models an operator that reports a promotion, at any time after the promotion. The two store names in the
        report must equal the names in the namespace's record.
        """
        is_last = every(s.name_before == before, s.name == name)
        guard = every(s.promoted(before, name), self.rule("a promotion is compared with the record's names", is_last))
        quiet = self.rule("a promotion ends only the quiet time that it began", s.quiet_before, 0)
        return Step(guard, replace(s, quiet=quiet))
