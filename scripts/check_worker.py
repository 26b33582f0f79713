#!/usr/bin/env python3
"""Runs the worker with the real pyiqa and compares its scores with direct calls; measures what a round trip costs.

    scripts/check_worker.py                     makes the environment of the peers (about 7 GB) if it is not there
    scripts/check_worker.py --venv /opt/peers   another place for it

The images are a photograph of the repository and its JPEG of quality 20. Metrics that need weights are in the table with the
reason if the weights are not here. Ends with an error if a score differs, if fewer than ten metrics were served, or if the worker
takes more than 5 ms a call besides the metric at 512x384.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare_peers import load_pair
from peers import DEFAULT_VENV, ROOT, enter_venv

FULL_REFERENCE = [
    "psnr",
    "psnry",
    "ssim",
    "ssimc",
    "ms_ssim",
    "cw_ssim",
    "fsim",
    "vif",
    "gmsd",
    "vsi",
    "nlpd",
    "mad",
    "lpips",
    "dists",
    "topiq_fr",
]
NO_REFERENCE = ["entropy", "piqe", "niqe", "brisque", "ilniqe", "musiq", "clipiqa", "qalign"]
SIZES = ("512x384", "1920x1080")
REPETITIONS = 60
ASKED = 5.0
STAND_IN = ROOT / "crates" / "agent" / "tests" / "worker" / "stand_in_pyiqa"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, default=DEFAULT_VENV, help="environment with pyiqa (%(default)s)")
    options = parser.parse_args()
    enter_venv(options.venv)
    example = build()
    with tempfile.TemporaryDirectory() as folder:
        files, pixels = {}, {}
        for size in (*SIZES, "256x192"):
            pixels[size] = pair(size)
            files[size] = [save(Path(folder) / f"{size}-{i}.png", picture) for i, picture in enumerate(pixels[size])]
        wrong = compare(example, files, pixels)
        slow = round_trips(example, files, pixels)
    return 1 if wrong or slow else 0


def build() -> Path:
    command = ["cargo", "build", "--release", "-p", "agenticiqa", "--example", "worker_round_trip"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "worker_round_trip"


def pair(size: str):
    return load_pair(argparse.Namespace(images=None, photo=None, size=size))[:2]


def save(path: Path, pixels) -> Path:
    from PIL import Image

    Image.fromarray(pixels).save(path, compress_level=1)
    return path


def by_worker(example: Path, files: list[Path], repetitions: int, metrics: list[str], **variables: str) -> list[dict]:
    command = [example, sys.executable, *files, str(repetitions), *metrics]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, **variables})
    return [json.loads(line) for line in run.stdout.splitlines()]


def compare(example: Path, files: dict, pixels: dict) -> bool:
    """Scores of the worker beside those of direct calls."""
    import pyiqa
    import torch

    print(
        f"\npyiqa {pyiqa.__version__}, torch {torch.__version__}\n\n| metric | worker | direct | |\n| --- | ---: | ---: | --- |"
    )
    served = wrong = 0
    for name in FULL_REFERENCE + NO_REFERENCE:
        size = "256x192" if name == "mad" else "512x384"  # pyiqa's MAD takes minutes on larger images
        kind = "FR" if name in FULL_REFERENCE else "NR"
        ours = by_worker(example, files[size], 0, [f"{kind}:{name}"])[0]
        if "error" in ours:
            print(f"| {name} | | | {ours['error'][:150].replace('|', '/')} |", flush=True)
            continue
        reference, distorted = (
            torch.from_numpy(p.copy()).permute(2, 0, 1)[None].contiguous().float() / 255 for p in pixels[size]
        )
        torch.manual_seed(123)
        metric = pyiqa.create_metric(name, device="cpu")
        direct = float(metric(distorted, reference) if kind == "FR" else metric(distorted))
        equal = ours["score"] == direct
        served, wrong = served + 1, wrong + (not equal)
        print(f"| {name} | {ours['score']:.9g} | {direct:.9g} | {'equal' if equal else 'DIFFERS'} |", flush=True)
    print(f"\n{served} metrics served, {wrong} differ", flush=True)
    return wrong > 0 or served < 10


def round_trips(example: Path, files: dict, pixels: dict) -> bool:
    """Milliseconds of a call besides the metric: images into shared memory, the pipe, floats, the answer."""
    print("\n| call | size | whole, ms | metric, ms | besides, ms | of which the change to floats, ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    besides = {}
    for size in SIZES:
        for label, metric, variables in (
            ("an instant metric", "NR:constant", {"PYTHONPATH": str(STAND_IN)}),
            ("an instant metric of a pair", "FR:nothing", {"PYTHONPATH": str(STAND_IN)}),
            ("psnr", "FR:psnr", {}),
        ):
            row = by_worker(example, files[size], REPETITIONS, [metric], **variables)[0]
            if "error" in row:
                raise SystemExit(f"{metric}: {row['error']}")
            whole, own = row["seconds"], row["metric_seconds"]
            rest = statistics.median(a - b for a, b in zip(whole, own)) * 1e3
            besides[size, label] = rest
            floats = change_to_floats(pixels[size][0]) * (2 if metric.startswith("FR") else 1)
            print(
                f"| {label} | {size} | {statistics.median(whole) * 1e3:.2f} | {statistics.median(own) * 1e3:.2f} | "
                f"{rest:.2f} | {floats:.2f} |",
                flush=True,
            )
    return any(rest > ASKED for (size, _), rest in besides.items() if size == SIZES[0])


def change_to_floats(pixels) -> float:
    """Milliseconds that Torch takes to make floats over 0..1 of an image in memory: no caller of pyiqa is spared that."""
    import torch

    planes = torch.from_numpy(pixels.copy()).permute(2, 0, 1).contiguous()
    out = torch.empty(planes.shape)
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        out.copy_(planes).div_(255.0)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


if __name__ == "__main__":
    sys.exit(main())
