#!/usr/bin/env python3
"""Simulates large jobs on a cluster, event by event, and prints their duration and cost.

    scripts/simulate_scale.py                                          all tables, two minutes on one core
    scripts/simulate_scale.py --only capacity --nodes 1 20             one table, for other cluster sizes
    scripts/simulate_scale.py --set prices.node_usd_per_hour=0.3 --set cluster.cores=32
    scripts/simulate_scale.py --write-docs                             all tables, into docs/scale.md

Measured and assumed figures are in docs/scale-measured.json. The simulation is in scale_model.py and scale_jobs.py. A
job is simulated until its rate is steady, and extrapolated at that rate. The tables list the number of simulated
images. Only the table of failures simulates all images.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scale_jobs import simulate
from scale_model import NEVER, Cluster, Model, Outcome, Work, quantile

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "scale-measured.json"
DOCUMENT = ROOT / "docs" / "scale.md"
SMALL, LARGE = "512x384", "4000x3000"
DAY = 86400.0
# Requests and tokens per minute. The last pair is the highest combined limit of a provider.
LIMITS = [(500, NEVER), (10_000, NEVER), (30_000, NEVER), (30_000, 150e6)]
# Length of a run: blocks per actor, or images per concurrent assessment, with a minimum.
BLOCKS_PER_ACTOR, ROWS_PER_PLACE, FEWEST_ROWS = 100, 4, 40_000
LOSSES = {"30 days": 30 * DAY, "1 day": DAY, "1 hour": 3600.0}
LOSS_ROWS, LOSS_NODES = 20_000_000, 100
LOSS_SEEDS = {64: 3, 512: 10, 4096: 30}  # runs by rows per block: fewer blocks simulate faster


@dataclass(frozen=True)
class Job:
    name: str
    work: Work
    model: Model | None = None


def jobs(figures: dict) -> list[Job]:
    """Returns the jobs of the capacity table. `sample` sets their number of images."""
    picture, overhead = figures["pictures"][SMALL], figures["overhead"]
    seconds, size, large = picture["seconds"], picture["bytes"], picture["png_bytes"]

    def work(kind: str, cpu: float, read: float) -> Work:
        return Work(
            rows=0,
            block_rows=figures["block_rows"][kind],
            cpu_seconds=cpu + overhead["row_seconds"],
            cpu_cv=figures["cpu_cv"],
            block_seconds=overhead["block_seconds"],
            read_bytes=read,
            shard_bytes=figures["shard_bytes_per_row"][kind],
        )

    pair = 2 * seconds["decode"] + seconds["SSIM"] + seconds["Fused-FR"]
    found = [
        Job("score, PSNR of PNG pairs", work("score", 2 * seconds["decode png"] + seconds["PSNR"], 2 * large)),
        Job("score, SSIM and Fused-FR", work("score", pair, 2 * size)),
        Job("score, Fused-NR", work("score", seconds["decode"] + seconds["Fused-NR"], size)),
        Job("assess, built in", work("assess", seconds["assess builtin"], size)),
    ]
    for requests, tokens in LIMITS:
        model = Model(**figures["model"], requests_per_minute=requests, tokens_per_minute=tokens)
        limit = f"{requests:,} requests" + (f", {tokens / 1e6:.0f}M tokens" if tokens < NEVER else "")
        found.append(Job(f"assess, model, {limit} per minute", work("assess", seconds["assess model"], size), model))
    return found


def cluster(figures: dict, nodes: int, block_rows: int, **changes: float) -> Cluster:
    overhead = figures["overhead"]
    dispatch = overhead["task_seconds"] * min(block_rows / overhead["rows_per_task"], 1.0)
    return Cluster(nodes=nodes, dispatch_seconds=dispatch, **(figures["cluster"] | changes))


def sample(job: Job, machines: Cluster, most: int) -> Job:
    """Sets the number of images so that the rate becomes steady."""
    if job.model:
        places = int(machines.nodes * machines.cores * job.model.actors_per_core) * job.model.at_a_time
        rows = max(ROWS_PER_PLACE * places, FEWEST_ROWS)
    else:
        rows = machines.nodes * machines.cores * BLOCKS_PER_ACTOR * job.work.block_rows
    return replace(job, work=replace(job.work, rows=min(rows, most)))


def cost(figures: dict, job: Job, outcome: Outcome, machines: Cluster, rows: int) -> tuple[float, float]:
    """Returns the cost of machines and storage, and of tokens, in US dollars."""
    prices, share = figures["prices"], rows / outcome.rows
    blocks = rows / job.work.block_rows
    money = machines.nodes * outcome.seconds_for(rows) / 3600 * prices["node_usd_per_hour"]
    money += blocks * machines.read_requests * prices["get_usd_per_million"] / 1e6
    money += blocks * machines.write_requests * prices["put_usd_per_million"] / 1e6
    tokens = outcome.prompt_tokens * prices["prompt_usd_per_million"]
    tokens += outcome.completion_tokens * prices["completion_usd_per_million"]
    return money, tokens * share / 1e6


def capacity(figures: dict, options: argparse.Namespace) -> list[str]:
    rows = []
    for job in jobs(figures):
        for nodes in options.nodes:
            machines = cluster(figures, nodes, job.work.block_rows)
            run = sample(job, machines, options.pictures)
            outcome = simulate(machines, run.work, run.model, options.seed)
            seconds = outcome.seconds_for(options.pictures)
            money, tokens = cost(figures, run, outcome, machines, options.pictures)
            calls = f"{outcome.call_rate():.1f}" if job.model else "-"
            if job.model and job.model.requests_per_minute < NEVER:
                calls += f" of {job.model.requests_per_minute / 60:.1f}"
            rows.append(
                [
                    job.name,
                    str(nodes),
                    span(seconds),
                    f"{options.pictures / seconds:,.1f}",
                    f"{outcome.loads()['cpu']:.0%}",
                    calls,
                    f"{span(quantile(outcome.row_times, 0.5))} / {span(quantile(outcome.row_times, 0.99))}",
                    outcome.bottleneck(),
                    f"{money:,.0f}" + (f" + {tokens:,.0f}" if tokens else ""),
                    amount(outcome.rows),
                ]
            )
    head = [
        "job",
        "nodes",
        "time",
        "images/s",
        "cores busy",
        "calls/s",
        "time per image, p50 / p99",
        "bottleneck",
        "USD (nodes + tokens)",
        "simulated",
    ]
    return table(head, rows, "lrrrrrrlrr")


def failures(figures: dict, options: argparse.Namespace) -> list[str]:
    """Simulates all images of the job, because losses depend on the full duration."""
    seconds, overhead = figures["pictures"][LARGE]["seconds"], figures["overhead"]
    whole = Work(
        rows=LOSS_ROWS,
        cpu_seconds=seconds["decode"] + seconds["Fused-NR"] + overhead["row_seconds"],
        cpu_cv=figures["cpu_cv"],
        block_seconds=overhead["block_seconds"],
        read_bytes=figures["pictures"][LARGE]["bytes"],
        shard_bytes=figures["shard_bytes_per_row"]["score"],
    )
    cells: dict[str, list[str]] = {}
    shortest = None
    for block_rows, runs in LOSS_SEEDS.items():
        work = replace(whole, block_rows=block_rows)
        calm = simulate(cluster(figures, LOSS_NODES, block_rows), work, seed=options.seed)
        shortest = shortest or calm.makespan
        cases = {f"a node is lost every {name}": ({"mtbf": mtbf}, runs) for name, mtbf in LOSSES.items()}
        cases = {"nothing": ({}, 1)} | cases | {"the driver, at half time": ({"driver_dies_at": calm.makespan / 2}, 1)}
        for name, (change, count) in cases.items():
            machines = cluster(figures, LOSS_NODES, block_rows, **change)
            found = [simulate(machines, work, seed=options.seed + number) for number in range(count)]
            if any(set(outcome.shards) != {1} for outcome in found):
                raise SystemExit("a block was not written exactly once: the simulation has a bug")
            makespan = mean(outcome.makespan for outcome in found)
            wasted = mean(outcome.wasted_rows / outcome.rows for outcome in found)
            losses = mean(outcome.losses for outcome in found)
            cells.setdefault(name, []).append(
                f"{losses:.1f}; {span(makespan)}, {makespan / shortest:.3f}; {100 * wasted:.3f} %"
            )
    head = ["what is lost", *(f"blocks of {block_rows:,}" for block_rows in LOSS_SEEDS)]
    return table(head, [[name, *row] for name, row in cells.items()], "l" + "r" * len(LOSS_SEEDS))


def stragglers(figures: dict, options: argparse.Namespace) -> list[str]:
    """Simulates one node without limits, so that model latency is the bottleneck."""
    job, rows, shares = next(job for job in jobs(figures) if job.model), [], (0.0, 0.01, 0.05)
    for held in (1, 2):
        for places in (4, 8, 16):
            row = [str(held), str(places)]
            for share in shares:
                model = replace(job.model, straggler_share=share, at_a_time=places, requests_per_minute=NEVER)
                machines = cluster(figures, 1, job.work.block_rows, in_flight=held)
                outcome = simulate(machines, replace(job.work, rows=FEWEST_ROWS // 4), model, options.seed)
                in_use = outcome.rate() * outcome.in_flight_area / outcome.rows  # concurrent calls, by Little's law
                in_use /= int(machines.cores * model.actors_per_core) * places
                times = [span(quantile(outcome.row_times, part)) for part in (0.5, 0.99)]
                row.append(
                    f"{outcome.rate():.1f}; {in_use:.0%}; {' / '.join(times)}; {span(quantile(outcome.block_times, 0.99))}"
                )
            rows.append(row)
    return table(
        ["blocks in flight", "concurrent calls", *(f"{share:.0%} stragglers" for share in shares)], rows, "rrrrr"
    )


def refusals(figures: dict, options: argparse.Namespace) -> list[str]:
    """Simulates ten nodes at 30,000 requests per minute. Every refusal pauses all calls."""
    job, rows = [job for job in jobs(figures) if job.model][2], []
    for share in (0.0, 1e-5, 1e-4, 1e-3):
        machines = cluster(figures, 10, job.work.block_rows)
        work = replace(job.work, rows=FEWEST_ROWS)
        outcome = simulate(machines, work, replace(job.model, refused_share=share), options.seed)
        rows.append(
            [f"{share * 1e6:,.0f}", f"{outcome.call_rate():.1f}", f"{outcome.limit_share:.0%}", str(outcome.errors)]
        )
    return table(
        ["refused per million", "calls/s", "of the limit", f"rows with an error, of {FEWEST_ROWS:,}"], rows, "rrrr"
    )


def files(figures: dict, options: argparse.Namespace) -> list[str]:
    """Computes the number and size of shards of 100 million rows."""
    rows, prices, size = [], figures["prices"], figures["shard_bytes_per_row"]
    for block_rows in (16, 64, 512, 4096):
        shards = options.pictures / block_rows
        requests = shards * figures["cluster"]["write_requests"]
        rows.append(
            [
                f"{block_rows:,}",
                f"{shards:,.0f}",
                data(block_rows * size["score"]),
                data(block_rows * size["assess"]),
                f"{requests / 1e6:,.2f}M",
                f"{requests * prices['put_usd_per_million'] / 1e6:,.2f}",
            ]
        )
    return table(["rows per shard", "shards", "score shard", "assess shard", "write requests", "USD"], rows, "rrrrrr")


def measured(figures: dict, _: argparse.Namespace) -> list[str]:
    said, (small, large) = figures["measured"], (figures["pictures"][size] for size in (SMALL, LARGE))
    rows = [
        [
            name,
            *(f"{of['seconds'][name] * 1e3:g} ms" if name in of["seconds"] else "-" for of in (small, large)),
            said.get(name, "-"),
        ]
        for name in small["seconds"]
    ]
    model, shards = figures["model"], figures["shard_bytes_per_row"]
    rows += [
        [
            "bytes of a JPEG / PNG",
            *(f"{data(of['bytes'])} / {data(of['png_bytes'])}" for of in (small, large)),
            said["bytes"],
        ],
        [
            "bytes per row, score / assess",
            f"{shards['score']} / {shards['assess']}",
            "the same",
            said["shard_bytes_per_row"],
        ],
        ["calls per image", f"{model['calls']:g}", f"{model['calls']:g}", said["calls"]],
        [
            "tokens per call, in / out",
            *[f"{model['prompt_tokens']:,.0f} / {model['completion_tokens']:,.0f}"] * 2,
            said["tokens"],
        ],
        [
            "call of a tiny local model",
            *["{seconds:g} s, {tokens:g} tokens".format(**figures["tiny_vlm"])] * 2,
            said["tiny_vlm"],
        ],
        ["mean latency of a call", *[f"{model['seconds']:g} s"] * 2, said["model"]],
        [
            "overhead per row / block",
            *["{row_seconds:g} / {block_seconds:g} s".format(**figures["overhead"])] * 2,
            said["overhead"],
        ],
    ]
    return [
        f"{said['date']}, {said['machine']}. One core each.",
        "",
        *table(["what", SMALL, LARGE, "how"], rows, "lrrl"),
    ]


def compared(figures: dict, options: argparse.Namespace) -> list[str]:
    """Compares jobs that ran on this machine, with two actors on two cores, with their simulation."""
    rows = []
    for done in figures["jobs"]:
        job = next(job for job in jobs(figures) if job.name.startswith(done["job"]))
        work, model, name = replace(job.work, rows=done["rows"], block_rows=16, read_bytes=0.0), None, done["job"]
        if "seconds" in done:
            limit = done["requests_per_minute"] or NEVER
            model = replace(
                job.model,
                seconds=done["seconds"],
                cv=0.0,
                straggler_share=0.0,
                failure_share=0.0,
                requests_per_minute=limit,
                actors_per_core=1.0,
            )
            name += f" of {done['seconds']:g} s" + (f", {limit:,} requests per minute" if limit < NEVER else "")
        machines = replace(
            cluster(figures, 1, work.block_rows),
            cores=2,
            request_seconds=0.0,
            read_bandwidth=NEVER,
            write_bandwidth=NEVER,
        )
        simulated = simulate(machines, work, model, options.seed).rate()
        rows.append(
            [name, str(done["rows"]), f"{done['rate']:.1f}", f"{simulated:.1f}", f"{done['rate'] / simulated:.0%}"]
        )
    return table(["job", "images", "images/s, run", "simulated", "run / simulated"], rows, "lrrrr")


def table(head: list[str], rows: list[list[str]], sides: str) -> list[str]:
    rule = ["---:" if side == "r" else "---" for side in sides]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)]


def span(seconds: float) -> str:
    for unit, length in (("days", DAY), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def amount(count: float) -> str:
    return f"{count / 1e6:g}M" if count >= 1e6 else f"{count / 1e3:.0f}k"


def data(size: float) -> str:
    unit, length = next(pair for pair in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)) if size >= pair[1])
    return f"{size / length:.3g} {unit}"


TABLES: dict[str, tuple[str, Callable[[dict, argparse.Namespace], list[str]]]] = {
    "measured": ("What was measured", measured),
    "compared": ("Compared with jobs", compared),
    "files": ("Shards", files),
    "capacity": ("Capacity", capacity),
    "failures": ("Losses", failures),
    "stragglers": ("Stragglers", stragglers),
    "refusals": ("Refused calls", refusals),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, default=FIGURES, help="measured and assumed figures (%(default)s)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a figure, for example model.seconds=4"
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), help="only these tables")
    parser.add_argument(
        "--nodes", nargs="+", type=int, default=[1, 10, 100], help="cluster sizes of the capacity table (%(default)s)"
    )
    parser.add_argument("--pictures", type=int, default=100_000_000, help="number of images (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (%(default)s)")
    parser.add_argument("--write-docs", action="store_true", help="update the tables in docs/scale.md")
    return parser.parse_args()


def change(figures: dict, setting: str) -> None:
    """Applies a setting such as `prices.node_usd_per_hour=0.3` to an existing figure."""
    name, _, value = setting.partition("=")
    *parents, last = name.split(".")
    try:
        for parent in parents:
            figures = figures[parent]
        whole = isinstance(figures[last], int) and float(value).is_integer()
        figures[last] = int(value) if whole else float(value)
    except (KeyError, TypeError, ValueError):
        raise SystemExit(f"--set {setting}: no such figure, or not a number") from None


def main() -> None:
    options = arguments()
    figures = json.loads(options.figures.read_text())
    for setting in options.set:
        change(figures, setting)
    blocks = {}
    for name in options.only:
        title, make = TABLES[name]
        blocks[name] = make(figures, options)
        print(f"## {title}\n\n" + "\n".join(blocks[name]) + "\n", flush=True)
    if options.write_docs:
        from compare_peers import fill

        fill(DOCUMENT, blocks)


if __name__ == "__main__":
    main()
