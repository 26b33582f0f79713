#!/usr/bin/env python3
"""Measures the input of scripts/simulate_scale.py with the installed package, and writes docs/scale-measured.json.

    pip install '.[ray]' pillow && scripts/fetch-tiny-vlm && scripts/measure_scale.py

Takes some minutes on an otherwise idle machine. Times are the minimum of several runs on one core. Ray runs as a local
cluster. Its overhead per row and batch is the time of a job minus the time of the same work in one process. The script
also runs jobs like the simulated ones, to compare the simulation with. Figures that cannot be measured locally (model
latency, object store bandwidth, prices) are left unchanged.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import ray
import ray.data
from PIL import Image

import agenticiqa
import agenticiqa.ray as iqa

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "scale-measured.json"
SIZES = {"512x384": (512, 384), "4000x3000": (4000, 3000)}
TOOLS = {"PSNR": True, "SSIM": True, "Fused-FR": True, "Fused-NR": False}
QUESTION = "What is wrong with this image?"
# Images repeat, so the cache is disabled.
UNCACHED = {"cache.memory_entries": 0}
# Number of different images in a job.
DIFFERENT = 64
# The mock model of the jobs that call one.
SLOW_SECONDS, SLOW_PORT = 0.2, 8177


def least(call: Callable[[], object], repeat: int) -> float:
    """Returns the minimum processor time of a call in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def pictures(folder: Path, size: tuple[int, int], shift: int = 0) -> tuple[Path, Path]:
    """Writes a photo of that size, tiled if needed, as JPEG of quality 90 and as PNG."""
    photo = numpy.asarray(Image.open(ROOT / "examples" / "osprey.jpg").convert("RGB"))
    width, height = size
    rows, columns = (numpy.arange(length) + shift for length in (height, width))
    part = Image.fromarray(photo[rows % photo.shape[0]][:, columns % photo.shape[1]])
    jpeg, png = (folder / f"{width}-{shift}.{kind}" for kind in ("jpg", "png"))
    part.save(jpeg, quality=90)
    part.save(png)
    return jpeg, png


def samples(folder: Path, count: int) -> list[dict[str, str]]:
    """Returns rows of image pairs, with unique names and repeating images."""
    several = [pictures(folder, SIZES["512x384"], shift) for shift in range(0, 7 * DIFFERENT, 7)]
    return [
        {
            "sample_id": f"photographs/{number // 1000:03}/{number:06}.jpg",
            "image_path": str(jpeg),
            "reference_path": str(png),
        }
        for number, (jpeg, png) in zip(range(count), itertools.cycle(several))
    ]


def of_size(folder: Path, size: tuple[int, int], asked: agenticiqa.Agent) -> dict[str, Any]:
    """Measures decoding, tools and assessments at one image size, on one thread."""
    jpeg, png = pictures(folder, size)
    repeat = 7 if size[0] < 1000 else 3
    coded, original = numpy.asarray(Image.open(jpeg)), numpy.asarray(Image.open(png))
    seconds = {
        "decode": least(lambda: agenticiqa.Picture(jpeg), repeat),
        "decode png": least(lambda: agenticiqa.Picture(png), repeat),
    }
    for tool, compares in TOOLS.items():
        metric = agenticiqa.Metric(tool)
        # Arrays, so that nothing is cached between runs.
        seconds[tool] = min(metric.measure(coded, original if compares else None).execution_time for _ in range(repeat))
    agent = agenticiqa.Agent(settings=UNCACHED)
    agent.assess(jpeg, QUESTION)
    seconds["assess builtin"] = least(lambda: agent.assess(jpeg, QUESTION), repeat)
    seconds["assess model"] = least(lambda: asked.assess(jpeg, "Rate it."), repeat)
    return {
        "bytes": jpeg.stat().st_size,
        "png_bytes": png.stat().st_size,
        "seconds": {name: round(value, 6) for name, value in seconds.items()},
    }


class Counter:
    """A limiter without limits that counts calls and tokens."""

    def __init__(self) -> None:
        self.calls, self.tokens = 0, 0.0

    def reserve(self, _: str) -> tuple[float, float]:
        self.calls += 1
        return 0.0, 0.0

    def settle(self, _: str, __: float, used: float | None) -> None:
        self.tokens += used or 0.0

    def rest(self, _: str, __: float) -> None:
        pass


def of_tiny_vlm(folder: Path) -> dict[str, float]:
    """Measures seconds and tokens per call of a llama.cpp server with a tiny model, on one thread."""
    home = ROOT / "test-data" / "tiny-vlm"
    jpeg, _ = pictures(folder, SIZES["512x384"])
    command = [
        home / "venv" / "bin" / "python",
        ROOT / "scripts" / "tiny-vlm" / "serve.py",
        home / "model.gguf",
        "0",
        home / "projector.gguf",
    ]
    variables = {**os.environ, "TINY_VLM_THREADS": "1"}
    with subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    ) as server:
        url = next(line.split()[1] for line in server.stdout if line.startswith("LISTENING"))
        counter = Counter()
        agent = agenticiqa.Agent(
            "openai.tiny-vlm", settings=UNCACHED | {"providers.openai.base_url": f"{url}/v1/"}, limiter=counter
        )
        agent.assess(jpeg, "Rate it.")
        counter.calls, counter.tokens = 0, 0.0
        start = time.perf_counter()
        for _ in range(5):
            agent.assess(jpeg, "Rate it.")
        seconds = time.perf_counter() - start
        server.stdin.close()
    return {"seconds": round(seconds / counter.calls, 4), "tokens": round(counter.tokens / counter.calls)}


def of_jobs(folder: Path) -> list[dict[str, Any]]:
    """Runs jobs with two actors on Ray and returns images per second in the middle half of each job."""

    def rate(output: Path, rows: int) -> float:
        """Computes the rate from the file times, between the first and the third quarter."""
        written = sorted(path.stat().st_mtime for path in output.glob("*.parquet"))
        first, last = len(written) // 4, len(written) * 3 // 4
        return (last - first) * rows / len(written) / (written[last] - written[first])

    def rows(count: int) -> Any:
        alone = [{name: row[name] for name in ("sample_id", "image_path")} for row in samples(folder, count)]
        return ray.data.from_items(alone, override_num_blocks=16)

    iqa.score(rows(1536), ["Fused-NR"], output=str(folder / "scored"), batch_size=16, actors=2)
    iqa.assess(rows(1024), QUESTION, settings=UNCACHED, output=str(folder / "assessed"), actors=2)
    found = [
        {"job": "score, Fused-NR", "rows": 1536, "rate": rate(folder / "scored", 1536)},
        {"job": "assess, built in", "rows": 1024, "rate": rate(folder / "assessed", 1024)},
    ]
    command = [
        sys.executable,
        str(ROOT / "scripts" / "slow_model.py"),
        "--delay",
        str(SLOW_SECONDS),
        "--port",
        str(SLOW_PORT),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as model:
        model.stdout.readline()
        settings = UNCACHED | {"providers.openai.base_url": f"http://127.0.0.1:{SLOW_PORT}/v1/"}
        for count, limit in ((640, None), (320, 1200)):
            output = folder / f"asked-{limit}"
            limits = {"openai.*": {"requests_per_minute": limit}} if limit else {}
            iqa.assess(
                rows(count),
                "Rate it.",
                output=str(output),
                backend="openai.slow",
                settings=settings,
                limits=limits,
                actors=2,
            )
            job = {
                "job": "assess, model",
                "rows": count,
                "rate": rate(output, count),
                "seconds": SLOW_SECONDS,
                "requests_per_minute": limit,
            }
            found.append(job)
        model.terminate()
    return [job | {"rate": round(job["rate"], 2)} for job in found]


def of_ray(folder: Path) -> dict[str, Any]:
    """Measures the overhead of Ray per row and batch, and the size of the results."""
    rows = samples(folder, 2048)
    start = time.perf_counter()
    agenticiqa.score_table(
        [row["image_path"] for row in rows], [row["reference_path"] for row in rows], ["PSNR"], threads=1
    )
    alone = time.perf_counter() - start

    def job(batch_size: int, name: str) -> tuple[float, float]:
        """Returns the overhead in seconds between the first and the last file, and the bytes per row."""
        output = folder / name
        iqa.score(
            ray.data.from_items(rows, override_num_blocks=32),
            ["PSNR"],
            output=str(output),
            batch_size=batch_size,
            actors=1,
        )
        files = list(output.glob("*.parquet"))
        written = sorted(path.stat().st_mtime for path in files)
        # Measured from the first file, because the start of workers does not matter in a long job.
        work = alone * (1 - batch_size / len(rows))
        return (written[-1] - written[0]) - work, sum(path.stat().st_size for path in files) / len(rows)

    small, _ = job(16, "small")
    large, row_bytes = job(256, "large")
    # Solve for two unknowns: seconds = rows * row + batches * batch.
    batch = max((small - large) / (len(rows) / 16 - len(rows) / 256), 0.0)
    row = max((large - batch * len(rows) / 256) / len(rows), 0.0)
    answers = folder / "answers"
    iqa.assess(ray.data.from_items(rows[:64]), QUESTION, output=str(answers), batch_size=16, actors=1)
    record_bytes = sum(path.stat().st_size for path in answers.glob("*.parquet")) / 64
    return {"row_seconds": row, "block_seconds": batch, "score_bytes": row_bytes, "assess_bytes": record_bytes}


def main(asked: agenticiqa.Agent) -> None:
    agenticiqa.set_threads(1)
    figures = json.loads(FIGURES.read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size, pixels in SIZES.items():
            figures["pictures"][size] = of_size(folder, pixels, asked)
            print(size, figures["pictures"][size], flush=True)
        figures["tiny_vlm"] = of_tiny_vlm(folder)
        print("tiny-vlm", figures["tiny_vlm"], flush=True)
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        found, figures["jobs"] = of_ray(folder), of_jobs(folder)
        print(found, figures["jobs"], flush=True)
        ray.shutdown()
    figures["overhead"] |= {
        "row_seconds": round(found["row_seconds"], 6),
        "block_seconds": round(found["block_seconds"], 4),
    }
    figures["shard_bytes_per_row"] = {"score": round(found["score_bytes"]), "assess": round(found["assess_bytes"])}
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    measured = figures["measured"]
    measured |= {
        "date": date.today().isoformat(),
        "machine": f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
    }
    timed = "scripts/measure_scale.py, one thread, the minimum of several runs"
    measured |= dict.fromkeys(("decode", "decode png", *TOOLS), timed)
    measured["assess builtin"] = f"{timed}, processor time, decoding included"
    measured["assess model"] = f"{timed}, processor time with a local mock model"
    measured["tiny_vlm"] = (
        "scripts/measure_scale.py: llama.cpp on one core with the model of scripts/fetch-tiny-vlm, five assessments"
    )
    measured["bytes"] = (
        "measured: a photo as JPEG of quality 90 and as PNG; the large one is tiled, which PNG compresses well"
    )
    measured["shard_bytes_per_row"] = (
        "scripts/measure_scale.py: PSNR of pairs in batches of 256; records of the built-in analyst in batches of 16"
    )
    measured["overhead"] = (
        "scripts/measure_scale.py: 2,048 rows on a local Ray cluster in batches of 16 and of 256, minus the work; the driver time per task is assumed"
    )
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    # A separate process, so that its processor time is not counted.
    command = [sys.executable, str(ROOT / "python" / "tests" / "model.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as model:
        os.environ["OPENAI_API_KEY"] = "sk-not-a-key"
        url = model.stdout.readline().strip()
        main(agenticiqa.Agent("openai.same", settings=UNCACHED | {"providers.openai.base_url": url}))
        model.terminate()
