#!/usr/bin/env python3
"""Compares scores of the worker with direct calls of pyiqa, and measures the overhead of a round trip.

    scripts/check_worker.py                     creates the environment of the peers (about 7 GB) on first use
    scripts/check_worker.py --venv /opt/peers   uses another location for it

The images are a photo of the repository and its JPEG of quality 20. Metrics whose weights are missing are listed with
the reason. Exits with an error if a score differs, if fewer than ten metrics ran, or if the overhead of a call is more
than 5 ms at 512x384.
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
STAND_IN = ROOT / "crates" / "agenticiqa" / "tests" / "suite" / "worker" / "stand_in_pyiqa"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, default=DEFAULT_VENV, help="virtual environment with pyiqa (%(default)s)")
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
    command = ["cargo", "build", "--release", "-p", "agenticiqa-tools", "--example", "worker_round_trip"]
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
    """Prints the scores of the worker and of direct calls."""
    import pyiqa
    import torch

    print(
        f"\npyiqa {pyiqa.__version__}, torch {torch.__version__}\n\n| metric | worker | direct | |\n| --- | ---: | ---: | --- |"
    )
    served = wrong = 0
    for name in FULL_REFERENCE + NO_REFERENCE:
        size = "256x192" if name == "mad" else "512x384"  # MAD of pyiqa takes minutes on larger images
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
    print(f"\n{served} metrics ran, {wrong} differ", flush=True)
    return wrong > 0 or served < 10


def round_trips(example: Path, files: dict, pixels: dict) -> bool:
    """Measures the overhead of a call in milliseconds: shared memory, the pipe, conversion to floats, the answer."""
    print("\n| call | size | total, ms | metric, ms | overhead, ms | of which conversion to floats, ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    besides = {}
    for size in SIZES:
        for label, metric, variables in (
            ("constant metric", "NR:constant", {"PYTHONPATH": str(STAND_IN)}),
            ("constant metric of a pair", "FR:nothing", {"PYTHONPATH": str(STAND_IN)}),
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
    """Measures the conversion of an image to floats by Torch in milliseconds. Direct calls of pyiqa need it too."""
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
