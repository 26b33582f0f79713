"""The parts of the simulation of a large job: cluster, storage, model, limiter, and the events that all jobs share.

Imported by scale_jobs.py and simulate_scale.py. Times are in seconds, prices in US dollars. The simulation is
deterministic: the same parameters and seed give the same events.
"""

from __future__ import annotations

import heapq
import math
import random
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

NEVER = math.inf


@dataclass(frozen=True)
class Cluster:
    """The machines, their network and storage, and how often they fail."""

    nodes: int = 1
    cores: int = 16
    in_flight: int = 2  # maximum blocks per actor: one computing, one being read
    read_bandwidth: float = NEVER  # bytes per second per node
    write_bandwidth: float = NEVER
    request_seconds: float = 0.0  # latency of one request to the object store
    read_requests: int = 1  # sequential, per block
    write_requests: int = 1  # 3 for a move: put under a temporary name, copy, delete
    write_overlaps: bool = False  # whether an actor computes the next block during a write
    dispatch_seconds: float = 0.0  # per block, on the driver, which handles one block at a time
    mtbf: float = NEVER  # mean time between failures of a node
    recovery_seconds: float = 300.0
    driver_dies_at: float = NEVER
    driver_restart_seconds: float = 120.0


@dataclass(frozen=True)
class Work:
    """The work per image, and the number of images per block."""

    rows: int
    block_rows: int = 64
    cpu_seconds: float = 0.0  # mean per image on one core, everything included
    cpu_cv: float = 0.0  # coefficient of variation of one image
    block_seconds: float = 0.0  # on one core, once per block
    read_bytes: float = 0.0
    shard_bytes: float = 0.0  # per row


@dataclass(frozen=True)
class Model:
    """A remote vision-language model, and how it is called."""

    calls: float = 5.0  # mean per image, sequential
    seconds: float = 2.0  # mean of a call without stragglers
    cv: float = 0.5
    straggler_share: float = 0.0
    straggler_factor: float = 10.0
    timeout: float = 60.0
    failure_share: float = 0.0  # 5xx and similar
    refused_share: float = 0.0  # 429
    refusal_seconds: float = 0.2
    respite_seconds: float = 2.0  # pause of all calls after a refusal
    attempts: int = 3
    backoff_seconds: float = 0.5
    prompt_tokens: float = 7500.0
    completion_tokens: float = 200.0
    tokens_cv: float = 0.0
    requests_per_minute: float = NEVER
    tokens_per_minute: float = NEVER
    actors_per_core: float = 2.0
    at_a_time: int = 8  # concurrent assessments per actor


def draw(chance: random.Random, mean: float, cv: float) -> float:
    """Draws from a lognormal distribution with this mean and coefficient of variation."""
    if cv <= 0.0 or mean <= 0.0:
        return mean
    variance = math.log1p(cv * cv)
    return chance.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))


class Link:
    """A connection that handles one transfer at a time."""

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth, self.free, self.busy = bandwidth, 0.0, 0.0

    def transfer(self, at: float, size: float) -> float:
        seconds = size / self.bandwidth
        self.free = max(self.free, at) + seconds
        self.busy += seconds
        return self.free


class Pace:
    """Schedules calls like `Pace` in crates/vlm/src/limits.rs, with seconds in place of instants."""

    FIRST_GUESS = 2000.0

    def __init__(self, requests_per_minute: float, tokens_per_minute: float) -> None:
        self.spacing, self.seconds_per_token = 60.0 / requests_per_minute, 60.0 / tokens_per_minute
        self.next = self.paid = self.tokens = self.settled = 0.0

    def reserve(self, now: float) -> tuple[float, float]:
        """Returns when the call may start, and its estimated number of tokens."""
        expected = self.tokens / self.settled if self.settled else self.FIRST_GUESS
        start = max(now, self.next, self.paid if self.seconds_per_token else 0.0)
        self.next = start + self.spacing
        self.paid = max(self.paid, start) + expected * self.seconds_per_token
        return start, expected

    def settle(self, reserved: float, used: float) -> None:
        self.paid += (used - reserved) * self.seconds_per_token
        self.tokens += used
        self.settled += 1

    def settle_unknown(self, reserved: float) -> None:
        self.paid -= reserved * self.seconds_per_token

    def rest_until(self, end: float) -> None:
        self.next = max(self.next, end)


class Actor:
    """A worker. `held` is the number of its blocks that are not written yet."""

    __slots__ = ("held", "node", "queue", "running", "working")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.reset()

    def reset(self) -> None:
        self.held, self.working, self.running = 0, False, 0
        self.queue: deque = deque()


class Node:
    def __init__(self, cluster: Cluster, actors: int) -> None:
        self.up = True
        self.reading, self.writing = Link(cluster.read_bandwidth), Link(cluster.write_bandwidth)
        self.actors = [Actor(self) for _ in range(actors)]
        self.attempts: dict[Attempt, None] = {}
        self.cores = [0.0] * cluster.cores  # heap of the times at which cores become free


class Attempt:
    """An attempt to compute a block on an actor."""

    __slots__ = ("actor", "alive", "begun", "block", "calls", "end", "open", "ready", "rows", "start")

    def __init__(self, block: int, rows: int, actor: Actor, now: float) -> None:
        self.block, self.rows, self.actor, self.begun = block, rows, actor, now
        self.ready = self.start = self.end = now
        self.alive, self.open, self.calls = True, rows, 0


@dataclass
class Outcome:
    """The result of a run."""

    rows: int
    nodes: int
    cores: int
    makespan: float = 0.0
    cpu_busy: float = 0.0  # core seconds, including lost blocks
    read_busy: float = 0.0  # link seconds of all nodes
    write_busy: float = 0.0
    store_wait: float = 0.0  # core seconds of waiting for the object store
    driver_busy: float = 0.0
    losses: int = 0
    wasted_rows: float = 0.0  # lost work, in images
    errors: int = 0
    calls: int = 0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    waited: float = 0.0  # total seconds that calls waited for the limiter
    in_flight_area: float = 0.0  # integral of calls in flight over time
    limit_share: float = 0.0  # calls per second in the middle of the run, divided by the limit
    token_share: float = 0.0  # the same for tokens
    shards: bytearray = field(default_factory=bytearray)  # number of writes of each block
    block_times: array = field(default_factory=lambda: array("d"))  # from dispatch to write
    row_times: array = field(default_factory=lambda: array("d"))  # work of one image
    ends: array = field(default_factory=lambda: array("d"))  # end times of blocks or calls, in order
    starts: array = field(default_factory=lambda: array("d"))  # start times of calls

    def share(self, busy: float, of: int) -> float:
        return busy / (of * self.makespan)

    def rate(self) -> float:
        """Returns images per second in the middle half of the run, without start and end effects."""
        first, last = len(self.ends) // 4, 3 * len(self.ends) // 4
        span = self.ends[last] - self.ends[first] if last > first else 0.0
        return (last - first) / len(self.ends) * self.rows / span if span > 0 else self.rows / self.makespan

    def call_rate(self) -> float:
        """Returns started calls per second in the middle half of the calls."""
        first, last = len(self.starts) // 4, 3 * len(self.starts) // 4
        span = self.starts[last] - self.starts[first] if last > first else 0.0
        return (last - first) / span if span > 0 else 0.0

    def seconds_for(self, rows: int) -> float:
        """Returns the time for that many images. Images beyond the simulated ones are added at `rate`."""
        return self.makespan + max(rows - self.rows, 0) / self.rate()

    def loads(self) -> dict[str, float]:
        """Returns the load of each possible bottleneck, from 0 to 1."""
        links = max(self.share(self.read_busy, self.nodes), self.share(self.write_busy, self.nodes))
        cores = self.nodes * self.cores
        return {
            "cpu": self.share(self.cpu_busy, cores),
            "storage": links,
            "rate limit": self.limit_share,
            "token limit": self.token_share,
            "storage latency": self.share(self.store_wait, cores),
            "driver": self.share(self.driver_busy, 1),
        }

    def bottleneck(self) -> str:
        """Returns the bottleneck.

        A limit that is reached comes first, because everything that waits for it looks busy. Model
        latency comes last.
        """
        loads = self.loads()
        limit = max(("rate limit", "token limit"), key=loads.__getitem__)
        most = limit if loads[limit] > 0.95 else max(loads, key=loads.__getitem__)
        return "model latency" if self.calls and loads[most] < 0.85 else most


def quantile(values: array, share: float) -> float:
    """Returns a quantile, or 0 if there are no values."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else 0.0


class Simulation:
    """The event queue, waiting blocks and failures. Subclasses define how an actor processes a block."""

    def __init__(self, cluster: Cluster, work: Work, actors_per_node: int, seed: int) -> None:
        self.cluster, self.work, self.chance = cluster, work, random.Random(seed)
        self.events: list[tuple[float, int, Callable, tuple]] = []
        self.now, self.count, self.stopped, self.driver_free = 0.0, 0, False, 0.0
        self.nodes = [Node(cluster, actors_per_node) for _ in range(cluster.nodes)]
        blocks = -(-work.rows // work.block_rows)
        self.waiting = deque(range(blocks))
        self.left = blocks
        self.outcome = Outcome(work.rows, cluster.nodes, cluster.cores, shards=bytearray(blocks))

    def at(self, time: float, action: Callable, *arguments: object) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, action, arguments))

    def run(self) -> Outcome:
        if self.cluster.mtbf < NEVER:
            for node in self.nodes:
                self.at(self.chance.expovariate(1 / self.cluster.mtbf), self.lose, node)
        if self.cluster.driver_dies_at < NEVER:
            self.at(self.cluster.driver_dies_at, self.driver_dies)
        self.spread()
        while self.left:
            self.now, _, action, arguments = heapq.heappop(self.events)
            action(*arguments)
        self.outcome.makespan = self.now
        self.outcome.read_busy = sum(node.reading.busy for node in self.nodes)
        self.outcome.write_busy = sum(node.writing.busy for node in self.nodes)
        return self.outcome

    def spread(self) -> None:
        """Gives blocks to actors with free capacity, those with the fewest blocks first.

        Later, an actor gets a new block for each one that it has written, which is the back-pressure.
        """
        for depth in range(self.cluster.in_flight):
            for index in range(len(self.nodes[0].actors)):
                for node in self.nodes:
                    if node.up and node.actors[index].held == depth:
                        self.feed(node.actors[index])

    def feed(self, actor: Actor) -> None:
        """Gives the next block to an actor with free capacity."""
        if not self.waiting or self.stopped:
            return
        block = self.waiting.popleft()
        rows = min(self.work.block_rows, self.work.rows - block * self.work.block_rows)
        attempt = Attempt(block, rows, actor, self.now)
        actor.held += 1
        actor.node.attempts[attempt] = None
        self.driver_free = max(self.driver_free, self.now) + self.cluster.dispatch_seconds
        self.outcome.driver_busy += self.cluster.dispatch_seconds
        read = actor.node.reading.transfer(self.driver_free, rows * self.work.read_bytes)
        attempt.ready = read + self.cluster.read_requests * self.cluster.request_seconds
        self.take(attempt)

    def store(self, attempt: Attempt) -> None:
        """Starts to write the shard."""
        sent = attempt.actor.node.writing.transfer(self.now, attempt.rows * self.work.shard_bytes)
        self.at(sent + self.cluster.write_requests * self.cluster.request_seconds, self.stored, attempt)

    def stored(self, attempt: Attempt) -> None:
        if not attempt.alive:
            return
        self.outcome.shards[attempt.block] += 1
        self.outcome.block_times.append(self.now - attempt.begun)
        self.left -= 1
        del attempt.actor.node.attempts[attempt]
        attempt.actor.held -= 1
        self.done(attempt)
        self.feed(attempt.actor)

    def lose(self, node: Node) -> None:
        self.outcome.losses += 1
        node.up = False
        self.drop(node)
        self.at(self.now + self.cluster.recovery_seconds, self.recover, node)
        self.spread()

    def recover(self, node: Node) -> None:
        node.up = True
        self.at(self.now + self.chance.expovariate(1 / self.cluster.mtbf), self.lose, node)
        self.spread()

    def drop(self, node: Node) -> None:
        """Returns the blocks in flight on a node to the front of the queue."""
        for attempt in node.attempts:
            attempt.alive = False
            self.outcome.wasted_rows += self.wasted(attempt)
        self.waiting.extendleft(attempt.block for attempt in reversed(node.attempts))
        node.attempts.clear()
        for actor in node.actors:
            actor.reset()
        node.reading.free = node.writing.free = self.now
        node.cores = [self.now] * self.cluster.cores

    def driver_dies(self) -> None:
        """Loses the cluster with its driver. A new run computes the blocks without a shard."""
        self.stopped = True
        for node in self.nodes:
            self.drop(node)
        self.at(self.now + self.cluster.driver_restart_seconds, self.driver_returns)

    def driver_returns(self) -> None:
        self.stopped = False
        self.spread()

    def take(self, attempt: Attempt) -> None:
        """Gives a block to an actor. Its images have arrived at `attempt.ready`."""
        raise NotImplementedError

    def done(self, attempt: Attempt) -> None:
        """Called when the shard of a block is written."""
        raise NotImplementedError

    def wasted(self, attempt: Attempt) -> float:
        """Returns the finished part of a lost block, in images."""
        raise NotImplementedError
