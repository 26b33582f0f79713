"""Rate limits of models for a whole cluster. One actor schedules the calls of all workers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import ray

from .. import _native

# Seconds to wait for the actor. If its node is lost, Ray restarts it on another node.
_PATIENCE_SECONDS = 120.0


class _Keeper:
    """The actor that schedules the calls of every backend."""

    def __init__(self, limits: str) -> None:
        self._limiter = _native.RateLimiter(limits)
        self._turns = 0

    def reserve(self, backend: str) -> tuple[float, float]:
        self._turns += 1
        return self._limiter.reserve(backend)

    def settle(self, backend: str, reserved: float, used: float | None) -> None:
        self._limiter.settle(backend, reserved, used)

    def rest(self, backend: str, seconds: float) -> None:
        self._limiter.rest(backend, seconds)

    def turns(self) -> int:
        return self._turns


class Limiter:
    """Rate limits that apply to all workers together.

    ``limits`` has the form of ``limits`` in ``model_backends.yaml``: ``{"openai.gpt-4o":
    {"requests_per_minute": 500, "tokens_per_minute": 30000}}``. Names may end in ``*``. Pass the
    same limiter to several jobs to share its limits.
    """

    def __init__(self, limits: Mapping[str, Mapping[str, float]]) -> None:
        text = json.dumps({name: dict(limit) for name, limit in limits.items()})
        _native.RateLimiter(text)  # Reports invalid limits here and not in an actor that restarts forever.
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": here}
        self._keeper = ray.remote(**options)(_Keeper).remote(text)

    def reserve(self, backend: str) -> tuple[float, float]:
        """Returns the seconds until the call may start, and the estimated number of tokens."""
        turn: tuple[float, float] = ray.get(self._keeper.reserve.remote(backend), timeout=_PATIENCE_SECONDS)
        return turn

    def settle(self, backend: str, reserved: float, used: float | None) -> None:
        """Reports the end of a call and the tokens it used."""
        self._keeper.settle.remote(backend, reserved, used)

    def rest(self, backend: str, seconds: float) -> None:
        """Pauses all calls to a backend for some seconds, after it refused a call."""
        self._keeper.rest.remote(backend, seconds)

    def turns(self) -> int:
        """Returns the number of calls since the actor started."""
        count: int = ray.get(self._keeper.turns.remote())
        return count

    def __reduce__(self) -> tuple[Any, ...]:
        return _limiter, (self._keeper,)


def _limiter(keeper: Any) -> Limiter:
    limiter = Limiter.__new__(Limiter)
    limiter._keeper = keeper
    return limiter
