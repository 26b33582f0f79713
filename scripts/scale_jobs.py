"""The two kinds of simulated jobs: processor work, simulated per block, and model calls, simulated per call.

Imported by simulate_scale.py.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from statistics import NormalDist

from scale_model import Actor, Attempt, Cluster, Model, Outcome, Pace, Simulation, Work, draw


class CpuJob(Simulation):
    """One actor per core computes block after block: `score`, and `assess` without a model."""

    def __init__(self, cluster: Cluster, work: Work, seed: int = 0) -> None:
        super().__init__(cluster, work, cluster.cores, seed)

    def run(self) -> Outcome:
        outcome = super().run()
        spread = NormalDist(sigma=math.sqrt(math.log1p(self.work.cpu_cv**2))) if self.work.cpu_cv else None
        # Single images are not simulated, so use quantiles of their distribution.
        for number in range(1, 200):
            factor = math.exp(spread.inv_cdf(number / 200) - spread.variance / 2) if spread else 1.0
            outcome.row_times.append(self.work.cpu_seconds * factor)
        return outcome

    def take(self, attempt: Attempt) -> None:
        attempt.actor.queue.append(attempt)
        if not attempt.actor.working:
            self.next(attempt.actor)

    def next(self, actor: Actor) -> None:
        if not actor.queue:
            return
        attempt = actor.queue.popleft()
        actor.working = True
        attempt.start = max(self.now, attempt.ready)
        self.outcome.store_wait += attempt.start - self.now
        mean = attempt.rows * self.work.cpu_seconds
        seconds = draw(self.chance, mean, self.work.cpu_cv / math.sqrt(attempt.rows)) + self.work.block_seconds
        attempt.end = attempt.start + seconds
        self.at(attempt.end, self.computed, attempt)

    def computed(self, attempt: Attempt) -> None:
        if not attempt.alive:
            return
        self.outcome.cpu_busy += attempt.end - attempt.start
        self.store(attempt)
        if self.cluster.write_overlaps:
            attempt.actor.working = False
            self.next(attempt.actor)

    def done(self, attempt: Attempt) -> None:
        self.outcome.ends.append(self.now)
        if not self.cluster.write_overlaps:
            self.outcome.store_wait += self.now - attempt.end
            attempt.actor.working = False
            self.next(attempt.actor)

    def wasted(self, attempt: Attempt) -> float:
        if attempt.end <= attempt.start:
            return 0.0  # not started
        spent = min(max(self.now - attempt.start, 0.0), attempt.end - attempt.start)
        if self.now < attempt.end:
            self.outcome.cpu_busy += spent
        return attempt.rows * spent / (attempt.end - attempt.start)


class Row:
    """An image while it is assessed."""

    __slots__ = ("asked", "attempt", "begun", "calls", "failures", "reserved")

    def __init__(self, attempt: Attempt, now: float, calls: int) -> None:
        self.attempt, self.begun, self.calls = attempt, now, calls
        self.failures, self.asked, self.reserved = 0, now, 0.0


class CallJob(Simulation):
    """Actors with concurrent assessments. Each computes on a core, then calls a model several times in sequence."""

    def __init__(self, cluster: Cluster, work: Work, model: Model, seed: int = 0) -> None:
        super().__init__(cluster, work, max(int(cluster.cores * model.actors_per_core), 1), seed)
        self.model = model
        self.pace = Pace(model.requests_per_minute, model.tokens_per_minute)
        self.queue: deque[Row] = deque()
        self.next_turn = False  # whether a reserved call waits for its start time
        self.calls_in_flight, self.changed = 0, 0.0

    def run(self) -> Outcome:
        outcome = super().run()
        self.count_calls(0)
        tokens = (outcome.prompt_tokens + outcome.completion_tokens) / max(outcome.calls, 1)
        outcome.limit_share = outcome.call_rate() * self.pace.spacing
        outcome.token_share = outcome.call_rate() * tokens * self.pace.seconds_per_token
        return outcome

    def take(self, attempt: Attempt) -> None:
        self.at(attempt.ready, self.arrived, attempt)

    def arrived(self, attempt: Attempt) -> None:
        if attempt.alive:
            attempt.actor.queue.extend([attempt] * attempt.rows)
            self.fill(attempt.actor)

    def fill(self, actor: Actor) -> None:
        """Starts as many assessments as the actor may run."""
        while actor.queue and actor.running < self.model.at_a_time:
            actor.running += 1
            whole = int(self.model.calls)
            calls = whole + (self.chance.random() < self.model.calls - whole)
            row = Row(actor.queue.popleft(), self.now, calls)
            seconds = draw(self.chance, self.work.cpu_seconds, self.work.cpu_cv)
            cores = actor.node.cores
            end = max(self.now, cores[0]) + seconds
            heapq.heapreplace(cores, end)
            self.outcome.cpu_busy += seconds
            self.at(end, self.ask, row)

    def ask(self, row: Row) -> None:
        if not row.attempt.alive:
            return
        if row.calls == 0:
            self.end_row(row)
            return
        row.asked = self.now
        self.queue.append(row)
        if not self.next_turn:
            self.turn()

    def turn(self) -> None:
        """Starts calls in the order of their requests, as soon as the limit allows."""
        while self.queue:
            start, reserved = self.pace.reserve(self.now)
            if start > self.now:
                self.next_turn = True
                self.at(start, self.granted, reserved)
                return
            self.begin(reserved)

    def granted(self, reserved: float) -> None:
        self.next_turn = False
        self.begin(reserved)
        self.turn()

    def begin(self, reserved: float) -> None:
        """Starts the first call in the queue, and skips calls of lost blocks."""
        while self.queue:
            row = self.queue.popleft()
            if row.attempt.alive:
                break
        else:
            self.pace.settle_unknown(reserved)
            return
        row.reserved = reserved
        row.attempt.calls += 1
        self.count_calls(1)
        self.outcome.calls += 1
        self.outcome.waited += self.now - row.asked
        self.outcome.starts.append(self.now)
        seconds, failure = self.fate()
        self.at(self.now + seconds, self.answered, row, failure)

    def fate(self) -> tuple[float, str]:
        """Returns the duration of a call, and the kind of its failure or an empty string."""
        model, lot = self.model, self.chance.random()
        if lot < model.refused_share:
            return model.refusal_seconds, "refused"
        seconds = draw(self.chance, model.seconds, model.cv)
        if model.straggler_share and self.chance.random() < model.straggler_share:
            seconds *= model.straggler_factor
        if seconds > model.timeout:
            return model.timeout, "timeout"
        return seconds, "failed" if lot < model.refused_share + model.failure_share else ""

    def answered(self, row: Row, failure: str) -> None:
        self.count_calls(-1)
        self.outcome.ends.append(self.now)
        if failure:
            self.pace.settle_unknown(row.reserved)
            if failure == "refused":
                self.pace.rest_until(self.now + self.model.respite_seconds)
            self.retry(row)
            return
        written = draw(self.chance, self.model.completion_tokens, self.model.tokens_cv)
        self.outcome.prompt_tokens += self.model.prompt_tokens
        self.outcome.completion_tokens += written
        self.pace.settle(row.reserved, self.model.prompt_tokens + written)
        row.calls -= 1
        row.failures = 0
        self.ask(row)

    def retry(self, row: Row) -> None:
        if not row.attempt.alive:
            return
        row.failures += 1
        if row.failures >= self.model.attempts:
            self.outcome.errors += 1  # The row is done, with an error in its column.
            self.end_row(row)
            return
        pause = self.model.backoff_seconds * 2 ** (row.failures - 1)
        self.at(self.now + pause * (1 - self.chance.random() / 2), self.ask, row)

    def end_row(self, row: Row) -> None:
        attempt = row.attempt
        self.outcome.row_times.append(self.now - row.begun)
        attempt.actor.running -= 1
        attempt.open -= 1
        if attempt.open == 0:
            self.store(attempt)
        self.fill(attempt.actor)

    def done(self, attempt: Attempt) -> None:
        """Does nothing: the actor has already continued."""

    def wasted(self, attempt: Attempt) -> float:
        return attempt.calls / self.model.calls if self.model.calls else 0.0

    def count_calls(self, change: int) -> None:
        self.outcome.in_flight_area += self.calls_in_flight * (self.now - self.changed)
        self.changed = self.now
        self.calls_in_flight += change


def simulate(cluster: Cluster, work: Work, model: Model | None = None, seed: int = 0) -> Outcome:
    """Runs one simulation: per call with a model, per block without."""
    return (CallJob(cluster, work, model, seed) if model else CpuJob(cluster, work, seed)).run()
