"""Typed assessment records. ``to_dict()`` returns the record in the form that the command line prints."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

#: The five quality levels.
Level = Literal["Excellent", "Good", "Fair", "Poor", "Bad"]


@dataclass(frozen=True, slots=True)
class Distortion:
    """A detected distortion and its severity."""

    #: The name of the region, or "Global" for the whole image.
    part: str
    name: str
    severity: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement behind an attribute."""

    name: str
    value: float
    #: Empty if the value has no unit.
    unit: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """How the image or a region looks on one axis, such as lighting or sharpness."""

    #: The name of the region, or "Global" for the whole image.
    part: str
    axis: str
    #: The most likely level, such as "very dark".
    level: str
    #: Where the level lies, such as "dark" or "bright". "none" if it is neutral.
    direction: str
    #: The position on the axis. 0 is neutral. Signed axes run from -1 to 1, others from 0 to 1.
    value: float
    #: The probability of the level.
    probability: float
    #: For example the kind of blur, such as "motion". ``None`` if it is not known.
    kind: str | None
    #: Why the level is "not applicable". ``None`` if it applies.
    reason: str | None
    measurements: list[Measurement]


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of the score: the clean start, what a fault costs, or the rest."""

    name: str
    #: In levels of the score. Faults are never positive.
    value: float
    #: 90% prediction interval. ``None`` for the clean start and the rest.
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Advice:
    """An edit that raises the score."""

    #: The name of the region, or "Global" for the whole image.
    part: str
    #: For example "exposure", with the amount in stops.
    operation: str
    amount: float
    expected_gain: float


@dataclass(frozen=True, slots=True)
class ToolLog:
    """The result of a tool run."""

    tool: str
    part: str
    raw_score: float | None
    normalized_score: float | None
    interval: tuple[float, float] | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of the reasons, with JSON pointers to its evidence in the record."""

    sentence: str
    evidence: list[str]


@dataclass(frozen=True, slots=True)
class Assessment:
    """An answer with its score and the evidence for every sentence."""

    #: A sentence, the letter of an option, or the letter of a quality level (A is excellent, E is
    #: bad).
    answer: str
    answer_form: Literal["score", "choice", "text"]
    #: From 1 (bad) to 5 (excellent). ``None`` if no tool returned a score.
    score: float | None
    #: 90% prediction interval of the mean opinion score.
    interval: tuple[float, float] | None
    level: Level | None
    reasons: str
    citations: list[Citation]
    distortions: list[Distortion]
    #: Empty if the backend does not describe images.
    attributes: list[Attribute]
    #: The parts of the score, which sum to it. Empty if the backend measures no parts.
    contributions: list[Contribution]
    #: Edits that raise the score, largest gain first. Empty unless ``what_if`` was set.
    advice: list[Advice]
    #: What to do, in words, in the language of the question.
    recommendations: list[str]
    tools: list[ToolLog]
    #: "partial" means that a step failed; ``problems`` has the reasons.
    status: Literal["success", "partial", "error"]
    problems: list[str]
    #: Information that is not a problem, such as an applied color profile.
    notes: list[str]
    #: Cost in US dollars. ``None`` if the price of a model is unknown.
    cost_usd: float | None
    record: dict[str, Any] = field(repr=False)
    _json: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_json(cls, line: str) -> Assessment:
        """Parses a record from JSON, such as a line written by ``agenticiqa batch``."""
        return replace(cls.from_record(json.loads(line)), _json=line)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Assessment:
        """Converts a record from its dictionary form."""
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
            attributes=[
                Attribute(
                    part=part,
                    axis=axis,
                    level=shown["level"],
                    direction=shown["direction"],
                    value=shown["value"],
                    probability=shown["probability"],
                    kind=shown.get("kind"),
                    reason=shown.get("reason"),
                    measurements=[
                        Measurement(measured["name"], measured["value"], measured.get("unit", ""))
                        for measured in shown.get("measurements") or []
                    ],
                )
                for part, all_shown in (evidence.get("attributes") or {}).items()
                for axis, shown in all_shown.items()
            ],
            contributions=[
                Contribution(part["name"], part["value"], _interval(part.get("interval")))
                for part in result.get("contributions") or []
            ],
            advice=[
                Advice(edit["object"], edit["operation"], edit["amount"], edit["expected_gain"])
                for edit in result.get("advice") or []
            ],
            recommendations=result.get("recommendations") or [],
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

    def waterfall(self, width: int = 32) -> str:
        """Returns the parts of the score as a chart of text, one part per line. Empty without parts."""
        names = max((len(part.name) for part in self.contributions), default=0)
        lines, reached = [], 1.0
        for place, part in enumerate(self.contributions):
            start, reached = reached, part.value if place == 0 else reached + part.value
            first, last = sorted(round((min(max(at, 1.0), 5.0) - 1.0) / 4.0 * width) for at in (start, reached))
            lines.append(f"{part.name:{names}}  {part.value:+.2f}  {' ' * first}{'█' * max(last - first, 1)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns the full record, as printed by ``agenticiqa assess --format json``."""
        return self.record

    def to_json(self) -> str:
        """Returns the full record as one line of JSON, byte for byte as the command line writes it."""
        return self._json or json.dumps(self.record, ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        if self.score is None:
            return self.answer
        return f"{self.answer} ({self.score:.2f} of 5)"


@dataclass(frozen=True, slots=True)
class Event:
    """A progress event of a running assessment."""

    #: For example "node_started", "plan", "tool_ended" or "done".
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
