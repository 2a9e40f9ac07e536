"""Replays the actions of real processes on a real store under faults, as steps of the model in `leases.py`.

The harness of `lease/tests/faults` kills, pauses and closes processes, sets their clocks, and blocks their store. The
processes append each event to one file, as `lease/tests/faults/trace.rs` describes. Unlike in the simulator, the moment
at which the store applies a write is not observed. `FaultyWorld` therefore applies the write in the model as soon as a
line contains the new record, either in a reply or as the basis of another write. A write is sent only after a line has
shown the record that the write replaces. Therefore, when a line shows a new record, the model lacks at most one write,
and the contents of the new record identify that write. A write that no line ever shows may have been lost, which the
model permits.
"""

from __future__ import annotations

from runs import RejectedError, Run
from traces import Event, Namespace, Record, World


class FaultyWorld(World):
    """A namespace of the fault harness, which never restores the namespace's store."""

    def __init__(self, event: Event) -> None:
        super().__init__(event)
        # For each worker ID, the records in the writes that were sent, keyed by message number.
        self.puts: list[dict[int, Record]] = [{} for _ in self.runs]

    def on_sent(self, event: Event) -> None:
        self.settle(Record.from_values(event["old"]))
        super().on_sent(event)
        run, message = self.sent_message(event)
        self.puts[self.runs.index(run)][message] = Record.from_values(event["new"])

    def on_heard(self, event: Event) -> None:
        for run in self.runs:
            self.read_time(run, event["now"])
        super().on_heard(event)
        if event["namespace"] is None:
            return
        self.check_namespace(Namespace(*event["namespace"]))
        for values in event["records"]:
            self.settle(Record.from_values(values))
        if event["is_put"]:
            self.receive_write_reply(event)

    def on_made(self, event: Event) -> None:
        self.making = event["process"]
        super().on_made(event)

    def sent_message(self, event: Event) -> tuple[Run, int]:
        return self.messages[event["process"], event["life"], event["number"]]

    def check_namespace(self, namespace: Namespace) -> None:
        if self.namespace is None:
            self.lines[namespace.incarnation] = 0
            self.namespace = namespace
        if namespace != self.namespace:
            raise RejectedError(f"expected {self.namespace}, found another one")

    def receive_write_reply(self, event: Event) -> None:
        """Handles the reply to a process's write."""
        run, message = self.sent_message(event)
        if event["is_done"]:
            self.settle(self.puts[self.runs.index(run)][message])
        else:
            self.counts["rejected writes"] += 1
        is_done = run.state.done(message) is True
        if is_done != event["is_done"] or run.would_deliver(message):
            raise RejectedError("expected a reply that tells whether the write was made, found another one")

    def settle(self, record: Record) -> None:
        """Applies the write that stored a record, unless the model has already applied that write."""
        run, puts = self.runs[record.first], self.puts[record.first]
        if record.version > run.state.version:
            writes = [message for message, put in puts.items() if put == record and run.would_deliver(message)]
            if not writes:
                raise RejectedError(f"expected a record that a process has written, found {record}")
            run.accept(writes[0])
            self.counts["writes"] += 1
        self.compare(run, run.state.line, record)
