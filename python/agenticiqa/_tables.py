"""Assessments as table columns, for Ray and Spark."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from ._agent import Agent, Run
from ._records import Assessment
from .errors import AgenticIQAError, AssessmentError

#: The column names. ``quality_score`` is a number, all others are strings.
COLUMNS = ("final_answer", "quality_score", "quality_level", "status", "error", "record")


def columns(found: Iterable[Assessment | AgenticIQAError]) -> dict[str, list[Any]]:
    """Converts assessments to columns. ``error`` is why there is no answer; ``record`` is the full record as JSON."""
    rows = [_row(one) for one in found]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _row(found: Assessment | AgenticIQAError) -> tuple[Any, ...]:
    if isinstance(found, AgenticIQAError):
        return None, None, None, "error", str(found), None
    if found.status == "error":
        return None, found.score, found.level, "error", "; ".join(found.problems), found.to_json()
    return found.answer, found.score, found.level, found.status, None, found.to_json()


def assessed(
    agent: Agent,
    images: Sequence[Any],
    queries: Sequence[str | None],
    references: Sequence[Any],
    at_a_time: int = 1,
    **question: Any,
) -> dict[str, list[Any]]:
    """Assesses each image, with at most ``at_a_time`` assessments running."""
    found: list[Assessment | AgenticIQAError] = []
    running: deque[Run | AgenticIQAError] = deque()
    for image, query, reference in zip(images, queries, references, strict=True):
        if len(running) == at_a_time:
            found.append(_end(running.popleft()))
        try:
            running.append(agent.stream(image, query, reference=reference, **question))
        except AgenticIQAError as error:
            running.append(error)
    found.extend(map(_end, running))
    return columns(found)


def _end(run: Run | AgenticIQAError) -> Assessment | AgenticIQAError:
    if isinstance(run, AgenticIQAError):
        return run
    try:
        return run.result()
    except AssessmentError as error:
        return error.assessment if isinstance(error.assessment, Assessment) else error
    except AgenticIQAError as error:
        return error
