"""Runs our metrics for the comparisons, with the example `bench_pair` and the command line program."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from peers import ROOT

BENCH = ROOT / "target" / "release" / "examples" / "bench_pair"
PROGRAM = ROOT / "target" / "release" / "agenticiqa"

# The peak memory of a child includes that of its parent at the start, so a small process starts
# the measured one.
PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)
"""


@dataclass
class Result:
    """Seconds, processor seconds and score, or an error."""

    seconds: float = float("inf")
    cpu_seconds: float = float("inf")
    score: float = float("nan")
    error: str = ""


def build() -> None:
    """Builds the example and the command line program."""
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "-p", "agenticiqa-metrics", "--example", "bench_pair"],
        cwd=ROOT,
        check=True,
    )
    if (ROOT / "crates" / "cli").exists():
        subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "agenticiqa"], cwd=ROOT, check=True)


def write_netpbm(path: Path, image) -> Path:
    """Writes a uint8 array as binary PPM (RGB) or PGM (gray)."""
    kind = "P6" if image.ndim == 3 else "P5"
    header = f"{kind}\n{image.shape[1]} {image.shape[0]}\n255\n".encode()
    with path.open("wb") as file:
        file.write(header)
        file.write(image.tobytes())
    return path


def measure(reference: Path, distorted: Path, metric: str, threads: int = 1, repetitions: int = 1) -> Result:
    """Runs `bench_pair`."""
    command = [BENCH, reference, distorted, threads, repetitions, metric]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        return Result(error=done.stderr.strip() or f"ended with {done.returncode}")
    line = json.loads(done.stdout)
    if "error" in line:
        return Result(error=line["error"])

    def number(name: str) -> float:
        return float("inf") if line[name] is None else line[name]

    return Result(number("seconds"), number("cpu_seconds"), number("score"))


def peak_memory(command: list[str]) -> int | None:
    """Returns the peak memory of a command in bytes, or None if it fails."""
    done = subprocess.run([sys.executable, "-S", "-c", PEAK, *command], capture_output=True, text=True)
    kib, _, code = done.stdout.strip().partition(" ")
    return int(kib) * 1024 if code == "0" else None


def whole_process(command: list[str], repetitions: int) -> float | None:
    """Returns the minimum run time of a command in seconds, or None if it fails."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - begin)
        if done.returncode != 0:
            return None
    return best
