"""The agent: records like those of the command line, events, asyncio, and models that hang, fail or answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import CODED, ORIGINAL
from model import Model, serve
from PIL import Image

import agenticiqa
from agenticiqa import Agent, AgenticIQAError, Assessment, AssessmentError, Event, assess, assess_async, stream

KEY = "sk-never-to-be-seen"
# Fields that differ between runs: times, and whether a score was cached.
TIMES = {"execution_time", "timestamp", "execution_time_ms", "node_times_ms", "cached"}


def timeless(record: Any) -> Any:
    if isinstance(record, dict):
        return {key: timeless(value) for key, value in record.items() if key not in TIMES}
    return [timeless(value) for value in record] if isinstance(record, list) else record


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    """Points the ``openai.`` provider to a server."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def use(server: Model) -> str:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        return "openai.same"

    return use


@pytest.mark.parametrize(
    ("words", "query", "options"),
    [
        (["--reference", ORIGINAL], None, {"reference": ORIGINAL}),
        ([], "Is the bird sharp?", {"regions": {"bird": (100, 50, 300, 200)}}),
        (["-o", "Blur", "-o", "Blocks"], "What is wrong with it?", {"options": ["Blur", "Blocks"]}),
        (
            ["--tool", "NIQE", "--answer", "score", "--max-replan", "0"],
            None,
            {"tools": ["NIQE"], "answer": "score", "max_replan": 0},
        ),
        (["--answer", "text"], "How good is it?", {"answer": "text"}),
    ],
)
def test_the_record_is_that_of_the_program(program, words, query, options):
    asked = ["--query", query] if query else []
    boxes = [f"--region={name}={','.join(map(str, box))}" for name, box in options.get("regions", {}).items()]
    done = program("assess", CODED, *asked, *words, *boxes, "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    found = assess(CODED, query, what_if=True, **options)
    assert timeless(found.to_dict()) == timeless(json.loads(done.stdout))
    assert json.loads(found.to_json()) == found.to_dict()


def test_reasons_sum_to_the_score_and_are_drawn():
    found = assess(CODED, what_if=True)
    assert abs(sum(part.value for part in found.contributions) - found.score) < 1e-6
    lines = found.waterfall().splitlines()
    assert len(lines) == len(found.contributions) and all("█" in line for line in lines)
    assert found.recommendations == found.to_dict()["summarizer_result"]["recommendations"]
    assert any("original" in sentence for sentence in found.recommendations)


def test_the_typed_form_says_what_the_record_says():
    found = assess(CODED, reference=ORIGINAL)
    record = found.to_dict()
    result, evidence = record["summarizer_result"], record["executor_evidence"]
    assert (found.answer, found.answer_form, found.score) == ("C", "score", result["quality_score"])
    assert found.interval == tuple(result["score_interval"]) and found.interval[0] < found.score < found.interval[1]
    assert (found.level, found.reasons, found.status) == ("Fair", result["quality_reasoning"], "success")
    assert (found.problems, found.notes, found.cost_usd) == ([], [], 0.0)
    [damage] = found.distortions
    assert (damage.part, damage.name, damage.severity) == (
        "Global",
        "Compression",
        "moderate",
    ) and "JPEG" in damage.explanation
    shown = [("Global", axis, one["level"], one["value"]) for axis, one in evidence["attributes"]["Global"].items()]
    assert shown and [(one.part, one.axis, one.level, one.value) for one in found.attributes] == shown
    assert [log.tool for log in found.tools] == [log["tool_name"] for log in evidence["tool_logs"]]
    assert (
        found.tools[0].raw_score == agenticiqa.score(CODED, ORIGINAL, found.tools[0].tool)
        and found.tools[0].error is None
    )
    assert [cited.sentence for cited in found.citations] == [cited["sentence"] for cited in result["used_evidence"]]
    assert all(pointer.startswith("/") for cited in found.citations for pointer in cited.evidence)
    assert str(found) == f"C ({found.score:.2f} of 5)"
    assert Assessment.from_record(record) == found


def test_answers_in_every_form(coded):
    choice = assess(coded, "What is wrong with it?", options=["Noise", "Compression", "Darkness"])
    assert (choice.answer_form, choice.answer) == ("choice", "B")
    text = assess(coded, "Is it noisy?")
    assert text.answer_form == "text" and text.answer.startswith(("No", "Probably not"))
    assert assess(coded).answer_form == "score"
    part = assess(coded, "Is the face sharp?", regions={"face": numpy.array([10, 10, 100, 100])}, tools=["Sharpness"])
    assert {log.part for log in part.tools} == {"face"}


def test_a_picture_in_any_form(coded, tmp_path):
    name = tmp_path / "photo.png"
    Image.fromarray(coded).save(name)
    expected = assess(name)
    for form in (coded, Image.fromarray(coded), coded / 255, agenticiqa.Picture(coded), name.read_bytes()):
        found = assess(form)
        assert (found.answer, found.score, found.distortions) == (expected.answer, expected.score, expected.distortions)
        assert found.to_dict()["image_path"] == "image"
    named = assess(coded, reference=coded, name="photo", reference_name="before", sample_id="7").to_dict()
    assert (named["image_path"], named["reference_path"], named["sample_id"]) == ("photo", "before", "7")
    assert assess(Path(CODED), name="photo").to_dict()["image_path"] == "photo"


def test_events_come_in_order():
    run = stream(CODED, reference=ORIGINAL)
    events = list(run)
    assert all(isinstance(event, Event) for event in events)
    nodes = [(event.kind, event.data["node"]) for event in events if event.kind.startswith("node_")]
    assert nodes == [
        (f"node_{kind}", node) for node in ("planner", "executor", "summarizer") for kind in ("started", "ended")
    ]
    kinds = [event.kind for event in events]
    assert kinds[:3] == ["node_started", "plan", "node_ended"] and kinds[-1] == "done" and kinds.count("done") == 1
    logs = [event.data["log"] for event in events if event.kind == "tool_ended"]
    found = run.result()
    assert sorted(log["tool_name"] for log in logs) == sorted(log.tool for log in found.tools)
    assert events[-1].to_dict() == {"event": "done", "status": found.status}
    assert list(run) == [] and run.result() is found


def test_a_run_that_nobody_listens_to_ends_too():
    run = stream(CODED)
    assert next(iter(run)).kind == "node_started"
    assert run.result().status == "success"


def test_events_in_asyncio():
    async def listen() -> tuple[list[str], Assessment]:
        run = stream(CODED)
        return [event.kind async for event in run], await run

    kinds, found = asyncio.run(listen())
    assert kinds[0] == "node_started" and kinds[-1] == "done" and found.status == "success"


def test_many_at_a_time(model):
    """All assessments call the model before it answers any, which sequential calls could not."""
    with serve(delay=0.4) as server:
        backend = model(server)

        async def ask() -> tuple[int, list[Assessment]]:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            found = await asyncio.gather(*(assess_async(CODED, backend=backend) for _ in range(6)))
            ticking.cancel()
            return ticks, found

        ticks, found = asyncio.run(ask())
        assert server.busiest(0.4) >= 4
    assert [assessment.answer for assessment in found] == ["B"] * 6
    assert ticks > 20


def test_many_at_a_time_without_a_model(coded):
    async def ask() -> list[Assessment]:
        return await asyncio.gather(*(assess_async(picture) for picture in [coded, coded[::-1], coded[:, ::-1]] * 4))

    found = asyncio.run(ask())
    assert [timeless(one.to_dict()) for one in found[:3]] * 4 == [timeless(one.to_dict()) for one in found]


def test_asyncio_can_cancel(model):
    with serve(delay=60) as server:
        backend = model(server)

        async def give_up() -> None:
            task = asyncio.create_task(assess_async(CODED, backend=backend))
            while not server.asked:
                await asyncio.sleep(0.01)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(give_up())

        async def too_long() -> None:
            await asyncio.wait_for(assess_async(CODED, backend=backend), 0.2)

        with pytest.raises(TimeoutError):
            asyncio.run(too_long())
    assert assess(CODED).status == "success"


def test_a_run_can_be_canceled(model):
    with serve(delay=60) as server:
        run = stream(CODED, backend=model(server))
        assert next(iter(run)).kind == "node_started"
        run.cancel()
        with pytest.raises(AgenticIQAError, match="the assessment was canceled"):
            run.result()


def test_a_model_answers(model):
    with serve() as server:
        agent = Agent(model(server))
        assert agent.backends == ("openai.same",) * 3 and repr(agent) == "Agent(openai.same)"
        found = agent.assess(CODED)
        assert found.answer == "B" and found.to_dict()["metadata"]["tokens_used"]["planner"] == 1100
        assert found.cost_usd is None
        assert asyncio.run(agent.assess_async(CODED)).answer == "B"
        assert KEY not in found.to_json()
    assert [event.kind for event in Agent().stream(CODED)][-1] == "done"


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "the key was refused: set OPENAI_API_KEY"), (500, "the server failed (status 500, out of order)")],
)
def test_a_model_that_fails(model, status, words):
    with serve(status=status) as server, pytest.raises(AssessmentError) as caught:
        assess(CODED, backend=model(server))
    error = caught.value
    assert str(error).startswith("no answer: planner: openai.same: ") and words in str(error)
    assert error.assessment.status == "error" and error.assessment.problems and error.assessment.score is None
    assert KEY not in str(error) + repr(error) + repr(error.assessment) + error.assessment.to_json()


def test_a_model_that_is_not_there(model, monkeypatch):
    with serve() as server:
        backend = model(server)
    with pytest.raises(AssessmentError, match="cannot be reached"):
        assess(CODED, backend=backend)
    # A changed environment creates a new agent.
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(AgenticIQAError, match="OPENAI_API_KEY"):
        assess(CODED, backend=backend)


def test_settings_by_name(tmp_path):
    cache = tmp_path / "cache"
    agent = Agent(settings={"max_replan_iterations": 0, "executor.temperature": 0.2}, cache=cache)
    first, again = agent.assess(CODED, reference=ORIGINAL), agent.assess(CODED, reference=ORIGINAL)
    assert any(cache.rglob("*")) and first.score == again.score
    other = Agent(cache=cache).assess(CODED, reference=ORIGINAL)
    assert {log["cached"] for log in other.to_dict()["executor_evidence"]["tool_logs"]} == {True}
