"""Measures the speed of the package on this machine: ``python -m agenticiqa.bench``.

Reports the overhead of a call from Python, the gain from more threads, the times of pyiqa and piq
on the same arrays in the same process, and the import time. Every time is the minimum of several
runs, because disturbances only add time.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import agenticiqa

from ._peers import NAMES

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Pixels = NDArray[numpy.uint8]

PARTS = ("overhead", "threads", "peers", "import")
# Call overhead is measured at a patch size and at the image size of common databases.
SIZES = ((64, 64), (512, 384))


def least(call: Callable[[], object], repeat: int) -> float:
    """Returns the seconds of the fastest of ``repeat`` calls, after a warm-up call."""
    call()
    times = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def pair(width: int, height: int) -> tuple[Pixels, Pixels]:
    """Returns a noisy image and its reference, which has smooth areas, edges and texture."""
    import numpy

    random = numpy.random.default_rng(2004)
    rows, columns = numpy.mgrid[0:height, 0:width]
    waves = 110 + 60 * numpy.sin(columns / 17) * numpy.cos(rows / 23) + 30 * ((columns // 16 + rows // 16) % 2)
    original = waves[..., None] + random.normal(0, 3, (height, width, 3)) + [0, 8, -8]
    noisy = original + random.normal(0, 8, original.shape)
    image, reference = (numpy.clip(picture, 0, 255).astype(numpy.uint8) for picture in (noisy, original))
    return image, reference


def overhead(tool: str, repeat: int) -> list[dict[str, Any]]:
    """Measures the overhead of a call on arrays in microseconds: the total minus the run time that the metric reports.

    It has two parts, the call from Python and the conversion of pixels into planes. A `Picture`
    needs no conversion.
    """
    metric = agenticiqa.Metric(tool)

    def timed(*pictures: Any) -> tuple[float, float]:
        """Returns the overhead and the run time of the metric in seconds."""
        start = perf_counter()
        alone = metric.measure(*pictures).execution_time
        return perf_counter() - start - alone, alone

    rows = []
    for width, height in SIZES:
        image, reference = pair(width, height)
        ready = agenticiqa.Picture(image), agenticiqa.Picture(reference)
        # Calls are short, so many repetitions are affordable.
        arrays = [timed(image, reference) for _ in range(20 * repeat + 1)]
        pictures = [timed(*ready) for _ in range(20 * repeat + 1)]
        least_of_arrays, least_of_pictures = min(arrays)[0], min(pictures)[0]
        whole = least(lambda: metric(image, reference), 20 * repeat)
        rows.append(
            {
                "tool": tool,
                "size": f"{width}x{height}",
                "metric_us": min(alone for _, alone in arrays) * 1e6,
                "whole_us": whole * 1e6,
                "overhead_us": least_of_arrays * 1e6,
                "call_us": least_of_pictures * 1e6,
                "pixels_us": max(least_of_arrays - least_of_pictures, 0.0) * 1e6,
            }
        )
    return rows


def threads(tool: str, size: tuple[int, int], repeat: int) -> dict[str, Any]:
    """Measures images per second of ``score_many`` on one thread and on all threads."""
    image, reference = pair(*size)
    count = agenticiqa.threads()
    pictures = [image] * (8 * count)
    one, all_ = (
        least(lambda: agenticiqa.score_many(pictures, reference, tool, threads=number), repeat) for number in (1, count)
    )
    return {
        "tool": tool,
        "size": f"{size[0]}x{size[1]}",
        "threads": count,
        "one_per_second": len(pictures) / one,
        "all_per_second": len(pictures) / all_,
        "ratio": one / all_,
    }


def peers(size: tuple[int, int], repeat: int, tools: list[str]) -> list[dict[str, Any]]:
    """Compares the run times of pyiqa and piq with ours, on one thread and the same pixels.

    The ratio excludes conversion: their pixels are tensors, ours are planes. Our time with
    conversion is ``call_ms``.
    """
    rows: list[dict[str, Any]] = []
    modules = {}
    for name in ("pyiqa", "piq"):
        try:
            modules[name] = importlib.import_module(name)
        except ImportError:
            rows.append({"peer": name, "problem": f"not installed: pip install {name}"})
    if not modules:
        return rows
    torch = importlib.import_module("torch")
    before = agenticiqa.threads(), torch.get_num_threads()
    agenticiqa.set_threads(1)
    torch.set_num_threads(1)
    try:
        image, reference = pair(*size)
        tensors = [torch.from_numpy(array).permute(2, 0, 1)[None].float() / 255 for array in (image, reference)]
        for tool in tools:
            metric = agenticiqa.Metric(tool)
            ours = min(metric.measure(image, reference).execution_time for _ in range(repeat + 1))
            called = least(lambda: metric(image, reference), repeat)
            given = tensors if metric.needs_reference else tensors[:1]
            for peer, name in zip(("pyiqa", "piq"), NAMES[tool]):
                if name and peer in modules:
                    row = {"peer": peer, "tool": tool, "ours_ms": ours * 1e3, "call_ms": called * 1e3}
                    rows.append(row | _against(modules[peer], name, given, ours, repeat))
    finally:
        agenticiqa.set_threads(before[0])
        torch.set_num_threads(before[1])
    return rows


def _against(module: Any, name: str, given: list[Any], ours: float, repeat: int) -> dict[str, Any]:
    """Measures a metric of another package. Some download weights on first use, which fails without a network."""
    try:
        metric = module.create_metric(name, device="cpu") if hasattr(module, "create_metric") else getattr(module, name)
        theirs = least(lambda: float(metric(*given)), repeat)
    except Exception as error:
        return {"problem": f"needs its weights: {type(error).__name__}: {error}"}
    return {"theirs_ms": theirs * 1e3, "ratio": theirs / ours}


def import_time(repeat: int) -> dict[str, float]:
    """Measures ``import agenticiqa`` in a new interpreter in milliseconds, without the start of the interpreter."""

    def start(code: str) -> float:
        return least(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeat)

    return {"import_ms": max(start("import agenticiqa") - start("pass"), 0.0) * 1e3}


def _lines(report: dict[str, Any]) -> Iterator[str]:
    """Formats the report as text."""
    for row in report.get("overhead", []):
        yield (
            f"overhead  {row['tool']} at {row['size']}: {row['whole_us']:.0f} us in total, "
            f"{row['metric_us']:.0f} us in the metric; overhead {row['overhead_us']:.0f} us: "
            f"call {row['call_us']:.0f}, pixel conversion {row['pixels_us']:.0f}"
        )
    if many := report.get("threads"):
        yield (
            f"threads   {many['tool']} at {many['size']}: {many['one_per_second']:.0f} images per second on 1 thread, "
            f"{many['all_per_second']:.0f} on {many['threads']} ({many['ratio']:.2f} times as many)"
        )
    for row in report.get("peers", []):
        who = " ".join(filter(None, (row["peer"], row.get("tool"))))
        if "problem" in row:
            yield f"peers     {who}: {row['problem']}"
        else:
            ours = f"ours {row['ours_ms']:.2f} ms ({row['call_ms']:.2f} ms with conversion)"
            yield f"peers     {who}: {row['theirs_ms']:.2f} ms, {ours}, {row['ratio']:.1f} times as fast"
    if told := report.get("import"):
        yield f"import    {told['import_ms']:.0f} ms"


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    try:
        size = int(width), int(height)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, for example 512x384") from None
    # The minimum size of the multi-scale metrics.
    if min(size) < 192:
        raise argparse.ArgumentTypeError("the metrics need at least 192x192 pixels")
    return size


def main(arguments: list[str] | None = None) -> None:
    """Runs the benchmark and prints the report."""
    parser = argparse.ArgumentParser(prog="python -m agenticiqa.bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--size",
        type=_size,
        default=(512, 384),
        metavar="WxH",
        help="image size for threads and peers [default: 512x384]",
    )
    parser.add_argument(
        "--repeat", type=int, default=5, metavar="N", help="runs per measurement; the fastest counts [default: 5]"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="WHAT",
        help=f"run only this part: {', '.join(PARTS)}, or a metric to compare with peers; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.repeat < 1:
        parser.error("--repeat must be 1 or more")
    names = {name.lower(): name for name in (*PARTS, *NAMES)}
    if unknown := [name for name in chosen.only or [] if name.lower() not in names]:
        parser.error(f"--only {unknown[0]}: must be one of {', '.join(names.values())}")
    only = [names[name.lower()] for name in chosen.only or PARTS]
    tools = [name for name in only if name in NAMES]
    report: dict[str, Any] = {}
    if "overhead" in only:
        report["overhead"] = [row for tool in ("PSNR", "SSIM") for row in overhead(tool, chosen.repeat)]
    if "threads" in only:
        report["threads"] = threads("SSIM", chosen.size, chosen.repeat)
    if "peers" in only or tools:
        available = [tool.name for tool in agenticiqa.list_tools() if tool.available and tool.name in NAMES]
        report["peers"] = peers(chosen.size, chosen.repeat, tools or available)
    if "import" in only:
        report["import"] = import_time(chosen.repeat)
    for line in [json.dumps(report)] if chosen.json else _lines(report):
        print(line)


if __name__ == "__main__":
    main()
