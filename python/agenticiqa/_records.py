"""The assessment record with types. The record itself, as the program prints it, is in ``to_dict()``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

#: What a mean opinion of five levels is called.
Level = Literal["Excellent", "Good", "Fair", "Poor", "Bad"]


@dataclass(frozen=True, slots=True)
class Distortion:
    """Damage that was found, and how bad it is."""

    #: The part of the image; "Global" is the whole.
    part: str
    name: str
    severity: str
    explanation: str


@dataclass(frozen=True, slots=True)
class ToolLog:
    """One run of one tool."""

    tool: str
    part: str
    raw_score: float | None
    normalized_score: float | None
    interval: tuple[float, float] | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of the reasons, and where in the evidence it comes from (JSON pointers)."""

    sentence: str
    evidence: list[str]


@dataclass(frozen=True, slots=True)
class Assessment:
    """An answer, its score, and the evidence behind every sentence."""

    #: The answer: a sentence, the letter of an option, or the letter of a level (A excellent to E bad).
    answer: str
    answer_form: Literal["score", "choice", "text"]
    #: From 1 (bad) to 5 (excellent), where tools gave scores.
    score: float | None
    #: Nine of ten mean opinions are expected in it.
    interval: tuple[float, float] | None
    level: Level | None
    reasons: str
    citations: list[Citation]
    distortions: list[Distortion]
    tools: list[ToolLog]
    #: "partial" says that something went wrong on the way; ``problems`` tells what.
    status: Literal["success", "partial", "error"]
    problems: list[str]
    #: What is no problem and worth knowing, such as a color profile that was applied.
    notes: list[str]
    #: US dollars; ``None`` where the price of a model is not known.
    cost_usd: float | None
    record: dict[str, Any] = field(repr=False)
    _json: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_json(cls, line: str) -> Assessment:
        """The typed form of a record as JSON, such as a line that ``agenticiqa batch`` has written."""
        return replace(cls.from_record(json.loads(line)), _json=line)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Assessment:
        """The typed form of a record."""
        result = record.get("summarizer_result") or {}
        evidence = record.get("executor_evidence") or {}
        metadata = record["metadata"]
        return cls(
            answer=result.get("final_answer", ""),
            answer_form=result.get("answer_form", "text"),
            score=result.get("quality_score"),
            interval=_interval(result.get("score_interval")),
            level=result.get("quality_level"),
            reasons=result.get("quality_reasoning", ""),
            citations=[Citation(cited["sentence"], cited["evidence"]) for cited in result.get("used_evidence") or []],
            distortions=[
                Distortion(part, found["type"], found["severity"], found["explanation"])
                for part, all_found in (evidence.get("distortion_analysis") or {}).items()
                for found in all_found
            ],
            tools=[
                ToolLog(
                    tool=log["tool_name"],
                    part=log["object_name"],
                    raw_score=log["raw_score"],
                    normalized_score=log["normalized_score"],
                    interval=_interval(log.get("interval")),
                    error=log["error"],
                )
                for log in evidence.get("tool_logs") or []
            ],
            status=metadata["final_status"],
            problems=metadata.get("error_details") or [],
            notes=metadata.get("notes") or [],
            cost_usd=metadata.get("cost_usd"),
            record=record,
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole record, as ``agenticiqa assess --format json`` prints it."""
        return self.record

    def to_json(self) -> str:
        """The whole record as one line of JSON, to the letter as the program writes it."""
        return self._json or json.dumps(self.record, ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        if self.score is None:
            return self.answer
        return f"{self.answer} ({self.score:.2f} of 5)"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened while an assessment ran."""

    #: Such as "node_started", "plan", "tool_ended", "done".
    kind: str
    data: dict[str, Any]

    @classmethod
    def from_json(cls, line: str) -> Event:
        data = json.loads(line)
        return cls(data.pop("event"), data)

    def to_dict(self) -> dict[str, Any]:
        return {"event": self.kind, **self.data}


def _interval(value: list[float] | None) -> tuple[float, float] | None:
    return None if value is None else (value[0], value[1])
