"""Limits of models that hold for the whole cluster: one actor says when a call may begin, every worker asks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import ray

from .. import _native

# A limiter that was lost with its node is started again elsewhere; until then whoever asks it waits.
_PATIENCE_SECONDS = 120.0


class _Keeper:
    """The actor: it keeps the time of every backend."""

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
    """How fast models may be asked, by all workers together.

    ``limits`` are those of ``model_backends.yaml``: ``{"openai.gpt-4o": {"requests_per_minute": 500, "tokens_per_minute": 30000}}``; names may end
    in ``*``. Give one limiter to several jobs and they share its limits.
    """

    def __init__(self, limits: Mapping[str, Mapping[str, float]]) -> None:
        text = json.dumps({name: dict(limit) for name, limit in limits.items()})
        _native.RateLimiter(text)  # What is wrong with the limits is said here and not by an actor that keeps starting.
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": here}
        self._keeper = ray.remote(**options)(_Keeper).remote(text)

    def reserve(self, backend: str) -> tuple[float, float]:
        """In how many seconds a call may begin, and how many tokens it is taken to cost."""
        turn: tuple[float, float] = ray.get(self._keeper.reserve.remote(backend), timeout=_PATIENCE_SECONDS)
        return turn

    def settle(self, backend: str, reserved: float, used: float | None) -> None:
        """A call has ended."""
        self._keeper.settle.remote(backend, reserved, used)

    def rest(self, backend: str, seconds: float) -> None:
        """The backend has refused a call: nobody is to ask it for so long."""
        self._keeper.rest.remote(backend, seconds)

    def turns(self) -> int:
        """How many calls it has let begin since it was started."""
        count: int = ray.get(self._keeper.turns.remote())
        return count

    def __reduce__(self) -> tuple[Any, ...]:
        return _limiter, (self._keeper,)


def _limiter(keeper: Any) -> Limiter:
    limiter = Limiter.__new__(Limiter)
    limiter._keeper = keeper
    return limiter
