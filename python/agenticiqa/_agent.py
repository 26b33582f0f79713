"""The agent: answers questions about images. Blocking, as a stream of events, or with asyncio."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from . import _native, _pictures
from ._metrics import Image, Region
from ._records import Assessment, Event
from .errors import AgenticIQAError, AssessmentError, SettingsError

if TYPE_CHECKING:
    import asyncio

# Seconds between two checks for Ctrl-C while a call waits.
_ATTENTION = 0.1
# The largest accepted value of `max_replan`.
_MOST_PLANS = 5
# Prefixes of the environment variables that affect settings.
_PROVIDERS = {name.split("_")[0] + "_" for name in _native.provider_variables()}
_VARIABLES = ("AGENTICIQA_", "ORT_", "XDG_", "HOME", *sorted(_PROVIDERS))


def overrides(settings: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Converts settings to the name and value pairs that ``--backend-override`` accepts."""
    return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in (settings or {}).items()]


class Agent:
    """Answers questions about images. Create it once and reuse it: it holds settings, tools and model clients.

    ``backend`` is "builtin" (the default, which uses measurements and no model) or a model such as
    "openai.gpt-4o". API keys are read from the environment. ``config`` is a settings folder or
    file. ``settings`` overrides single settings by name, for example ``{"planner.temperature":
    0.2}``. ``cache`` is a folder for tool scores; several processes can share it. ``calls`` is the
    maximum number of concurrent model calls. ``limiter`` applies rate limits across processes, for
    example `agenticiqa.ray.Limiter`.
    """

    def __init__(
        self,
        backend: str | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        cache: str | os.PathLike[str] | None = None,
        calls: int | None = None,
        limiter: Any = None,
    ) -> None:
        assignments = overrides(settings)
        if cache is not None:
            assignments.append(("cache.disk", os.fspath(cache)))
        path = None if config is None else os.fspath(config)
        self._native = _native.Agent(path, backend, None, assignments, calls, limiter)

    @property
    def backends(self) -> tuple[str, str, str]:
        """The backends of planner, executor and summarizer."""
        return self._native.backends

    def stream(self, image: Image, query: str | None = None, **question: Any) -> Run:
        """Starts answering a question and returns the run; see `stream`."""
        return Run(self._native, image, query, **question)

    def assess(self, image: Image, query: str | None = None, **question: Any) -> Assessment:
        """Answers a question; see `assess`."""
        return self.stream(image, query, **question).result()

    async def assess_async(self, image: Image, query: str | None = None, **question: Any) -> Assessment:
        """Answers a question without blocking the event loop; see `assess`."""
        return await self.stream(image, query, **question)

    def __repr__(self) -> str:
        return f"Agent({' / '.join(dict.fromkeys(self.backends))})"


class Run:
    """A running assessment. Iterate over it to receive events, call ``result()``, or await it.

    It starts when it is created and runs even if no one reads its events. Each event is delivered
    once.
    """

    def __init__(
        self,
        agent: _native.Agent,
        image: Image,
        query: str | None = None,
        *,
        reference: Image | None = None,
        options: Sequence[str] = (),
        regions: Mapping[str, Region] | None = None,
        tools: Sequence[str] = (),
        answer: Literal["auto", "score", "choice", "text"] = "auto",
        max_replan: int | None = None,
        what_if: bool = False,
        sample_id: str | None = None,
        name: str | None = None,
        reference_name: str | None = None,
    ) -> None:
        if isinstance(options, str) or isinstance(tools, str):
            raise TypeError("options and tools must be lists of strings")
        if answer not in ("auto", "score", "choice", "text"):
            raise SettingsError(f'answer must be "auto", "score", "choice" or "text", not {answer!r}')
        if max_replan is not None and not 0 <= max_replan <= _MOST_PLANS:
            raise SettingsError(f"max_replan must be from 0 to {_MOST_PLANS}, not {max_replan}")
        sides = ("name", "x", "y", "width", "height")
        boxes = [dict(zip(sides, (part, *_pictures.region(box)))) for part, box in (regions or {}).items()]
        question = {
            "query": query,
            "sample_id": sample_id,
            "options": list(options),
            "regions": boxes,
            "tools": list(tools),
            "answer": None if answer == "auto" else answer,
            "max_replan": max_replan,
            "what_if": what_if,
        }
        if reference is not None and reference_name is None and not isinstance(reference, (str, os.PathLike)):
            reference_name = "reference"
        self._begin(lambda wake: agent.start(image, reference, json.dumps(question), (name, reference_name), wake))

    @classmethod
    def _of_line(
        cls,
        agent: Agent,
        line: tuple[str, int, str],
        pictures: tuple[bytes | None, bytes | None] = (None, None),
        tools: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Run:
        """Starts the assessment of a manifest line. The record is the one that ``agenticiqa batch`` writes."""
        run = cls.__new__(cls)
        run._begin(lambda wake: agent._native.start_line(line, pictures, list(tools), timeout, wake))
        return run

    def _begin(self, start: Any) -> None:
        self._ended: Assessment | BaseException | None = None
        # Set while an event loop awaits this run.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        self._native: _native.Run = start(self._wake)

    def _wake(self) -> None:
        """Called from another thread whenever a message is ready."""
        loop, news = self._loop, self._news
        if loop is not None and news is not None and not loop.is_closed():
            loop.call_soon_threadsafe(news.set)

    def _hear(self, seconds: float) -> Event | None:
        try:
            heard = self._native.hear(seconds)
        except AgenticIQAError as error:
            self._ended = error
            return None
        if heard is None:
            return None
        ended, line = heard
        if not ended:
            return Event.from_json(line)
        self._ended = Assessment.from_json(line)
        return None

    def __iter__(self) -> Iterator[Event]:
        while self._ended is None:
            event = self._hear(_ATTENTION)
            if event is not None:
                yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        # Imported here because asyncio takes longer to load than the rest of the package.
        import asyncio

        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        try:
            while self._ended is None:
                self._news.clear()
                event = self._hear(0)
                if event is not None:
                    yield event
                elif self._ended is None:
                    await self._news.wait()
        except (asyncio.CancelledError, GeneratorExit):
            self.cancel()
            raise

    def __await__(self) -> Generator[Any, None, Assessment]:
        async def end() -> Assessment:
            await self.recorded()
            return self._conclude()

        return end().__await__()

    def result(self) -> Assessment:
        """Waits for the result. Ctrl-C cancels the assessment."""
        try:
            for _ in self:
                pass
        except BaseException:
            self.cancel()
            raise
        return self._conclude()

    async def recorded(self) -> Assessment:
        """Waits for the result. Does not raise `AssessmentError` when there is no answer: the record has the reason."""
        async for _ in self:
            pass
        return self._told()

    def cancel(self) -> None:
        """Cancels the assessment. Steps that have not started are skipped."""
        self._native.cancel()

    def _told(self) -> Assessment:
        if isinstance(self._ended, BaseException):
            raise self._ended
        assert self._ended is not None
        return self._ended

    def _conclude(self) -> Assessment:
        assessment = self._told()
        if assessment.status == "error":
            raise AssessmentError(f"no answer: {'; '.join(assessment.problems)}", assessment)
        return assessment


@lru_cache(maxsize=8)
def _agent(backend: str | None, config: str | None, folder: str, variables: tuple[tuple[str, str], ...]) -> Agent:
    return Agent(backend, config=config)


def _known(backend: str | None, config: str | os.PathLike[str] | None) -> Agent:
    """Returns a cached agent for these settings, or a new one if the environment has changed."""
    variables = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith(_VARIABLES)))
    return _agent(backend, None if config is None else os.fspath(config), os.getcwd(), variables)


def assess(
    image: Image,
    query: str | None = None,
    *,
    backend: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **question: Any,
) -> Assessment:
    """Answers a question about an image.

    - ``query``: the question. By default, the overall quality is assessed.
    - ``reference``: the reference image to compare with.
    - ``options``: the options of a multiple-choice question.
    - ``regions``: named bounding boxes as left, top, width and height, for example
      ``{"face": (120, 40, 200, 200)}``.
    - ``tools``: tools that must run.
    - ``answer``: the form of the answer, "auto", "score", "choice" or "text".
    - ``max_replan``: the maximum number of times the agent may plan again.
    - ``what_if``: try edits that could mend the faults of the image; ``advice`` lists those that raise the score.
    - ``sample_id``, ``name``, ``reference_name``: the names of the sample, the image and the reference in the record.
    - ``backend``, ``config``: as in `Agent`.

    >>> import numpy
    >>> noise = numpy.random.default_rng(1).normal(128, 25, (128, 128, 3))
    >>> print(assess(noise.clip(0, 255).astype(numpy.uint8), "Is it noisy?").answer)
    Yes. The image shows strong noise.
    """
    return _known(backend, config).assess(image, query, **question)


async def assess_async(
    image: Image,
    query: str | None = None,
    *,
    backend: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **question: Any,
) -> Assessment:
    """Like `assess`, for asyncio. Many calls can run concurrently."""
    return await _known(backend, config).assess_async(image, query, **question)


def stream(
    image: Image,
    query: str | None = None,
    *,
    backend: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **question: Any,
) -> Run:
    """Like `assess`, but returns at once. Iterate over the run (``for`` or ``async for``), then call ``result()``."""
    return _known(backend, config).stream(image, query, **question)
