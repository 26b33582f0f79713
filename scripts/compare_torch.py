#!/usr/bin/env python3
"""Compares the speed of LPIPS (AlexNet) and DISTS in PyTorch and in our two engines, and prints a table.

    scripts/compare_torch.py --models FOLDER                    FOLDER has lpips-alex.onnx, dists.onnx and their heads
    scripts/compare_torch.py --models FOLDER --library LIBRARY  also measures ONNX Runtime, given its shared library
    scripts/compare_torch.py --write-docs ...                   also updates the table in docs/performance.md

PyTorch runs the classes of pyiqa (in the virtual environment of peers.py) with random weights, which take the same time
as trained ones and need no download. Images are tensors in memory for all engines. Rounds of the engines alternate.
Each time is the minimum over all rounds and calls, after a warm-up call.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from peers import DEFAULT_VENV, ROOT, enter_venv

THREADS = (1, 2)
ROUNDS = 3
CALLS = {"LPIPS": 12, "DISTS": 2}
FILES = {"LPIPS": ("lpips-alex.onnx", "lpips-alex-head.onnx"), "DISTS": ("dists.onnx", "dists-head.onnx")}
MARK = "learned"


def torch_metrics():
    """Creates the metrics of pyiqa without downloads."""
    import torchvision

    for network in ("alexnet", "vgg16"):
        original = getattr(torchvision.models, network)
        setattr(torchvision.models, network, lambda original=original, **_: original(weights=None))
    from pyiqa.archs.dists_arch import DISTS
    from pyiqa.archs.lpips_arch import LPIPS

    return {
        "LPIPS": LPIPS(net="alex", pretrained=False, pnet_rand=True).eval(),
        "DISTS": DISTS(pretrained=False).eval(),
    }


def time_torch(metric, width: int, height: int, threads: int, calls: int) -> float:
    import torch

    torch.set_num_threads(threads)
    reference, distorted = torch.rand(2, 1, 3, height, width)
    best = float("inf")
    with torch.inference_mode():
        for _ in range(calls + 1):
            start = time.perf_counter()
            metric(reference, distorted)
            best = min(best, time.perf_counter() - start)
    return best * 1e3


def time_ours(program: Path, models: Path, name: str, size, threads: int, library: str | None) -> float:
    environment = {key: value for key, value in os.environ.items() if key != "ORT_DYLIB_PATH"}
    if library:
        environment["ORT_DYLIB_PATH"] = library
    arguments = [program, *(models / file for file in FILES[name]), *size, threads, CALLS[name]]
    done = subprocess.run([str(part) for part in arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return float(done.stdout.split()[-1])


def build() -> Path:
    subprocess.run(
        ["cargo", "build", "--release", "-p", "agenticiqa-onnx", "--example", "time_model"], cwd=ROOT, check=True
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "time_model"


def measure(arguments) -> list[str]:
    program = build()
    metrics = torch_metrics()
    engines = {"built in": None} | ({"ONNX Runtime": arguments.library} if arguments.library else {})
    width, height = arguments.size
    header = ["metric", "threads", "PyTorch ms", *(f"{engine} ms | PyTorch / {engine}" for engine in engines)]
    table = ["| " + " | ".join(header) + " |", "|" + "---|" * (3 + 2 * len(engines))]
    for name, metric in metrics.items():
        for threads in THREADS:
            torch_best, best = float("inf"), dict.fromkeys(engines, float("inf"))
            for _ in range(ROUNDS):
                torch_best = min(torch_best, time_torch(metric, width, height, threads, CALLS[name]))
                for engine, library in engines.items():
                    ours = time_ours(program, arguments.models, name, (width, height), threads, library)
                    best[engine] = min(best[engine], ours)
            cells = [cell for ms in best.values() for cell in (f"{ms:.0f}", f"{torch_best / ms:.2f}")]
            table.append("| " + " | ".join([name, str(threads), f"{torch_best:.0f}", *cells]) + " |")
            print(table[-1], file=sys.stderr, flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--venv", type=Path, default=DEFAULT_VENV, help="virtual environment of the peers (%(default)s)"
    )
    parser.add_argument("--models", type=Path, required=True, help="folder of the converted models")
    parser.add_argument("--library", help="shared library of ONNX Runtime")
    parser.add_argument("--size", type=int, nargs=2, default=(512, 384), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--write-docs", action="store_true", help="update the table in docs/performance.md")
    arguments = parser.parse_args()
    enter_venv(arguments.venv)
    import torch

    width, height = arguments.size
    when = f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, PyTorch {torch.__version__}, {width}x{height}"
    lines = [*measure(arguments), "", f"({when})"]
    print("\n".join(lines))
    if arguments.write_docs:
        page = ROOT / "docs" / "performance.md"
        block = f"<!-- {MARK} -->\n" + "\n".join(lines) + f"\n<!-- /{MARK} -->"
        text = re.sub(f"<!-- {MARK} -->.*?<!-- /{MARK} -->", lambda _: block, page.read_text(), flags=re.DOTALL)
        page.write_text(text)


if __name__ == "__main__":
    main()
