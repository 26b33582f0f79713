"""Compares the simulation of large jobs (scripts/simulate_scale.py) with results computed by hand."""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import simulate_scale
from scale_jobs import CallJob, CpuJob, simulate
from scale_model import Cluster, Model, Pace, Work, quantile

STEADY = Model(calls=5, seconds=2.0, cv=0.0, actors_per_core=1.0, at_a_time=4)


def exactly_once(outcome) -> bool:
    return set(outcome.shards) == {1}


def test_makespan_of_constant_work_is_exact():
    cluster = Cluster(nodes=3, cores=4)
    outcome = simulate(cluster, Work(rows=12 * 10 * 64, block_rows=64, cpu_seconds=0.05, block_seconds=0.3))
    assert outcome.makespan == pytest.approx(10 * (64 * 0.05 + 0.3))
    assert outcome.loads()["cpu"] == pytest.approx(1.0)
    assert outcome.bottleneck() == "cpu"
    assert outcome.seconds_for(2 * outcome.rows) == pytest.approx(2 * outcome.makespan, rel=0.02)


def test_makespan_with_storage_latency_is_exact():
    """Reads overlap with the previous block, except for the first. A core waits for its write unless writes overlap."""
    cluster = Cluster(nodes=1, cores=2, request_seconds=0.1, read_requests=2, write_requests=3)
    work = Work(rows=2 * 10 * 64, block_rows=64, cpu_seconds=0.05)
    assert simulate(cluster, work).makespan == pytest.approx(0.2 + 10 * (3.2 + 0.3))
    assert simulate(replace(cluster, write_overlaps=True), work).makespan == pytest.approx(0.2 + 10 * 3.2 + 0.3)


def test_makespan_with_a_model_is_exact():
    """4 actors with 4 concurrent rows each, in 3 rounds of one block: processor work, then 5 calls of 2 s."""
    outcome = simulate(Cluster(cores=4), Work(rows=4 * 4 * 3, block_rows=4), STEADY)
    assert outcome.makespan == pytest.approx(3 * 5 * 2.0)
    assert outcome.calls == 48 * 5
    assert outcome.bottleneck() == "model latency"


def test_last_block_may_be_smaller():
    outcome = simulate(Cluster(cores=1), Work(rows=130, block_rows=64, cpu_seconds=1.0))
    assert outcome.makespan == pytest.approx(130)
    assert len(outcome.shards) == 3


def test_storage_bounds_a_job_with_little_work():
    cluster = Cluster(nodes=2, cores=8, read_bandwidth=100e6)
    work = Work(rows=64 * 2000, block_rows=64, cpu_seconds=0.001, read_bytes=1e6)
    outcome = simulate(cluster, work)
    assert outcome.bottleneck() == "storage"
    assert outcome.rate() == pytest.approx(2 * 100, rel=0.01)
    busy = simulate(cluster, replace(work, cpu_seconds=0.2))
    assert busy.bottleneck() == "cpu"
    assert busy.rate() == pytest.approx(16 / 0.2, rel=0.01)


def test_driver_bounds_many_small_blocks():
    outcome = simulate(Cluster(nodes=4, cores=4, dispatch_seconds=0.01), Work(rows=8000, block_rows=1, cpu_seconds=0.1))
    assert outcome.bottleneck() == "driver"
    assert outcome.rate() == pytest.approx(100, rel=0.01)


def test_an_actor_never_holds_more_blocks_than_it_may():
    most = 0

    class Watched(CpuJob):
        def take(self, attempt):
            nonlocal most
            most = max(
                most,
                attempt.actor.held,
                sum(1 for other in attempt.actor.node.attempts if other.actor is attempt.actor),
            )
            super().take(attempt)

    Watched(
        Cluster(nodes=2, cores=2, in_flight=3, mtbf=50.0, recovery_seconds=5.0),
        Work(rows=6400, block_rows=16, cpu_seconds=0.05, cpu_cv=0.5),
    ).run()
    assert most == 3


LIMITED = Model(
    calls=5, seconds=2.0, cv=0.5, straggler_share=0.02, failure_share=0.02, actors_per_core=2.0, at_a_time=8
)


def test_no_minute_has_more_calls_than_the_limit_and_it_is_reached():
    model = replace(LIMITED, requests_per_minute=3000)
    outcome = simulate(Cluster(nodes=2), Work(rows=8000, block_rows=16, cpu_seconds=0.03, cpu_cv=0.3), model)
    starts = outcome.starts
    most = max(bisect_left(starts, start + 60.0 - 1e-6) - index for index, start in enumerate(starts))
    assert most <= 3000
    middle = [start for start in starts if 60 <= start < 360]
    assert len(middle) / 5 == pytest.approx(3000, rel=0.02)
    assert outcome.bottleneck() == "rate limit"
    assert outcome.limit_share == pytest.approx(1.0, rel=0.02)


def test_tokens_a_minute_are_kept_on_average():
    model = replace(
        LIMITED, failure_share=0.0, tokens_per_minute=6e6, prompt_tokens=1800, completion_tokens=200, tokens_cv=1.0
    )
    outcome = simulate(Cluster(nodes=2), Work(rows=4000, block_rows=16), model)
    tokens = (outcome.prompt_tokens + outcome.completion_tokens) / outcome.calls
    assert tokens == pytest.approx(2000, rel=0.02)
    middle = sum(60 <= end < 360 for end in outcome.ends)
    assert middle / 5 * tokens == pytest.approx(6e6, rel=0.02)
    assert outcome.bottleneck() == "token limit"


def test_pace_spaces_calls_and_settles_tokens():
    pace = Pace(60, 6000)
    assert pace.reserve(10.0) == (10.0, 2000.0)
    assert pace.reserve(10.0) == (30.0, 2000.0), "2000 tokens are paid for in 20 s"
    pace.settle(2000.0, 100.0)
    pace.settle(2000.0, 100.0)
    assert pace.reserve(10.0) == (31.0, 100.0), "the difference is given back, the spacing of 1 s is left"


def test_a_refusal_makes_all_wait():
    model = replace(STEADY, seconds=0.5, requests_per_minute=6000, refused_share=0.001)
    outcome = simulate(Cluster(nodes=4), Work(rows=8000, block_rows=16), model)
    assert outcome.calls / outcome.makespan == pytest.approx(1 / (0.01 + 0.001 * 2.0), rel=0.08)
    assert outcome.errors == 0


def test_little_s_law():
    """Calls in flight equal calls per second times mean latency, including stragglers."""
    model = replace(STEADY, cv=0.8, straggler_share=0.05, straggler_factor=6.0, timeout=1e9, requests_per_minute=1200)
    outcome = simulate(Cluster(nodes=2), Work(rows=6000, block_rows=16, cpu_seconds=0.01), model, seed=3)
    latency = 2.0 * (1 + 0.05 * (6.0 - 1))
    assert outcome.in_flight_area / outcome.makespan == pytest.approx(
        outcome.calls / outcome.makespan * latency, rel=0.03
    )
    assert outcome.calls / outcome.makespan == pytest.approx(20.0, rel=0.03)


def test_no_more_calls_at_a_time_than_places():
    most = 0

    class Watched(CallJob):
        def count_calls(self, change):
            nonlocal most
            super().count_calls(change)
            most = max(most, self.calls_in_flight)

    Watched(Cluster(cores=2), Work(rows=500, block_rows=16), replace(STEADY, cv=0.5)).run()
    assert most == 2 * 4


def test_retries_run_out_into_error_rows():
    """An image fails when one of its calls fails three times: about 5 * 0.2^3."""
    model = replace(STEADY, failure_share=0.2)
    outcome = simulate(Cluster(nodes=2), Work(rows=20_000, block_rows=16), model)
    assert outcome.errors / outcome.rows == pytest.approx(1 - (1 - 0.2**3) ** 5, rel=0.1)
    assert len(outcome.row_times) == outcome.rows, "an error is a value of its row"
    assert exactly_once(outcome)


def test_lost_nodes_waste_half_a_block_a_core():
    cluster = Cluster(nodes=20, cores=8, mtbf=500.0, recovery_seconds=50.0)
    work = Work(rows=64 * 40_000, block_rows=64, cpu_seconds=0.5, cpu_cv=0.3)
    outcome = simulate(cluster, work, seed=5)
    assert exactly_once(outcome)
    assert outcome.losses == pytest.approx(20 * outcome.makespan / (500 + 50), rel=0.2)
    assert outcome.wasted_rows == pytest.approx(outcome.losses * 8 * 64 / 2, rel=0.1)
    spent = work.rows * work.cpu_seconds + outcome.wasted_rows * work.cpu_seconds
    assert outcome.cpu_busy == pytest.approx(spent, rel=0.01), "what is wasted is computed once more, and nothing else"


def test_larger_blocks_waste_more():
    cluster = Cluster(nodes=10, cores=8, mtbf=1000.0, recovery_seconds=50.0)
    work = Work(rows=4096 * 1500, cpu_seconds=0.1)
    small, large = (simulate(cluster, replace(work, block_rows=rows), seed=2) for rows in (256, 2048))
    assert large.wasted_rows / large.losses == pytest.approx(8 * small.wasted_rows / small.losses, rel=0.25)


def test_lost_nodes_with_a_model():
    cluster = Cluster(nodes=4, cores=4, mtbf=200.0, recovery_seconds=60.0)
    outcome = simulate(
        cluster, Work(rows=8000, block_rows=16, cpu_seconds=0.03), replace(STEADY, requests_per_minute=1500)
    )
    assert outcome.losses > 15
    assert exactly_once(outcome)
    assert outcome.calls == pytest.approx(5 * (outcome.rows + outcome.wasted_rows)), (
        "calls of lost blocks were made for nothing"
    )
    assert outcome.wasted_rows > 0


def test_a_new_driver_does_only_what_has_no_shard():
    """With constant work, the driver dies in the sixth block of every core and wastes half a block each."""
    cluster = Cluster(nodes=2, cores=4, driver_dies_at=55.0, driver_restart_seconds=30.0)
    outcome = simulate(cluster, Work(rows=8 * 10 * 10, block_rows=10, cpu_seconds=1.0))
    assert outcome.makespan == pytest.approx(55 + 30 + 5 * 10)
    assert outcome.wasted_rows == pytest.approx(8 * 5)
    assert exactly_once(outcome)


def test_a_shard_that_is_being_written_is_lost_with_its_node():
    """One core, 10 s of work and 4 s of writing: at 12 s no block is written, at 26 s one is."""
    cluster = Cluster(cores=1, request_seconds=4.0, read_requests=0, driver_restart_seconds=30.0)
    work = Work(rows=20, block_rows=10, cpu_seconds=1.0)
    early = simulate(replace(cluster, driver_dies_at=12.0), work)
    assert (early.makespan, early.wasted_rows) == (pytest.approx(12 + 30 + 2 * 14), 10)
    late = simulate(replace(cluster, driver_dies_at=26.0), work)
    assert (late.makespan, late.wasted_rows) == (pytest.approx(26 + 30 + 14), 10)
    assert exactly_once(early) and exactly_once(late)


def test_a_seed_decides_everything():
    def found(seed):
        cluster = Cluster(nodes=3, cores=4, mtbf=300.0, recovery_seconds=20.0, request_seconds=0.03)
        outcome = simulate(cluster, Work(rows=2000, block_rows=16, cpu_seconds=0.1, cpu_cv=0.5), LIMITED, seed)
        return outcome.makespan, outcome.calls, outcome.wasted_rows, list(outcome.row_times)

    assert found(7) == found(7)
    assert found(7) != found(8)


def test_a_sample_says_what_the_whole_job_takes():
    """Extrapolates with the rate of the middle of the run. Stragglers add 1 % of variation to each of the two runs."""
    cluster = Cluster(nodes=2, request_seconds=0.03, write_requests=3)
    work = Work(rows=64 * 32 * 60, block_rows=64, cpu_seconds=0.01, cpu_cv=0.3, block_seconds=0.01)
    part, whole = simulate(cluster, work), simulate(cluster, replace(work, rows=10 * work.rows))
    assert part.seconds_for(whole.rows) == pytest.approx(whole.makespan, rel=0.02)
    work, model = Work(rows=6000, block_rows=16, cpu_seconds=0.03), replace(LIMITED, at_a_time=2)
    part, whole = simulate(cluster, work, model), simulate(cluster, replace(work, rows=24_000), model)
    assert part.seconds_for(whole.rows) == pytest.approx(whole.makespan, rel=0.04)


def test_stragglers_need_a_second_block_in_flight():
    work, model = Work(rows=8000, block_rows=16), replace(LIMITED, straggler_share=0.05)
    alone, two = (simulate(Cluster(in_flight=held), work, model).rate() for held in (1, 2))
    assert two > 1.15 * alone


def test_quantiles():
    outcome = simulate(Cluster(), Work(rows=6400, cpu_seconds=0.1, cpu_cv=0.5))
    assert quantile(outcome.row_times, 0.5) == pytest.approx(0.1 / (1 + 0.25) ** 0.5, rel=0.02)
    assert quantile(outcome.block_times, 0.99) >= quantile(outcome.block_times, 0.5) > 0


def test_tables_come_from_the_figures(monkeypatch, capsys):
    arguments = ["simulate_scale.py", "--only", "measured", "files", "--set", "shard_bytes_per_row.score=1000"]
    monkeypatch.setattr(sys, "argv", arguments)
    simulate_scale.main()
    printed = capsys.readouterr().out
    assert "| 64 | 1,562,500 | 64 kB |" in printed
    with pytest.raises(SystemExit, match="no such figure"):
        simulate_scale.change(json.loads(simulate_scale.FIGURES.read_text()), "prices.nothing=1")


def test_the_document_has_a_place_for_every_table():
    text = simulate_scale.DOCUMENT.read_text()
    for name in simulate_scale.TABLES:
        assert f"<!-- {name} -->\n" in text and f"<!-- /{name} -->" in text
