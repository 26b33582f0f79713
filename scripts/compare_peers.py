#!/usr/bin/env python3
"""Compares scores and run times of our metrics with other Python packages on the same images.

    scripts/compare_peers.py                                  a 1920x1080 pair made from a photo of the repository
    scripts/compare_peers.py --images REF DIST --only SSIM    your own pair, and one metric
    scripts/compare_peers.py --cold-start --memory            also cold starts, and peak memory at 50 megapixels
    scripts/compare_peers.py --write-docs                     everything, into docs/performance.md and docs/accuracy.md

The packages (pinned in peers.py) are installed on first use, in a virtual environment outside the repository. Each time
is the minimum of several interleaved rounds, after a warm-up. Images of the peers are tensors in memory. ILNIQE needs
AGENTICIQA_ILNIQE_MODEL, the path of the authors' templateModel.mat.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import math
import os
import platform
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ours
from peers import DEFAULT_VENV, METRICS, NO_REFERENCE, REQUIREMENTS, ROOT, Peers, enter_venv, luma, on_luma, threads

THREADS = (1, 2)
# Calls per round. A peer gets fewer if they take longer than PATIENCE seconds.
REPETITIONS = 4
PATIENCE = 2
# Target speedups over the fastest Python peer, on one thread.
TARGETS = {name: 10 for name in METRICS if name not in {"PSNR", "ENTROPY", "ILNIQE"}} | {"CW-SSIM": 20, "MAD": 20}
LUMA_TARGETS = {"SSIM": 2, "GMSD": 1}
LARGE = (8660, 5774)
# A peer that takes longer than this many seconds runs once, on one thread.
SLOW = 10


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--venv", type=Path, default=DEFAULT_VENV, help="virtual environment of the peers (%(default)s)"
    )
    parser.add_argument(
        "--images", type=Path, nargs=2, metavar=("REF", "DIST"), help="a pair of images, used unchanged"
    )
    parser.add_argument("--photo", type=Path, help="make the pair from this image: fitted to --size, JPEG quality 20")
    parser.add_argument("--size", default="1920x1080", help="size of the pair made from a photo (%(default)s)")
    parser.add_argument("--only", nargs="+", metavar="METRIC", help="only these metrics")
    parser.add_argument("--rounds", type=int, default=5, help="number of interleaved rounds (%(default)s)")
    parser.add_argument(
        "--budget", type=float, default=30, help="start no new round of a metric after this many seconds (%(default)s)"
    )
    parser.add_argument(
        "--cpu-time", action="store_true", help="measure processor time on one thread, for a busy machine"
    )
    parser.add_argument("--cold-start", action="store_true", help="also measure the whole command line program")
    parser.add_argument("--memory", action="store_true", help="also measure peak memory at 50 megapixels")
    parser.add_argument("--no-build", action="store_true", help="use the existing programs in target/release")
    parser.add_argument("--no-peers", action="store_true", help="only our metrics")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file instead of stdout")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--write-docs", action="store_true", help="update the tables in docs/")
    parsed = parser.parse_args()
    known = {fold(name): name for name in METRICS}
    unknown = [name for name in parsed.only or [] if fold(name) not in known]
    if unknown:
        parser.error(f"unknown metric: {', '.join(unknown)} (known: {', '.join(METRICS)})")
    if not re.fullmatch(r"\d+x\d+", parsed.size):
        parser.error(f"--size {parsed.size}: write it as 1920x1080")
    parsed.only = [known[fold(name)] for name in parsed.only or METRICS]
    return parsed


def fold(name: str) -> str:
    return re.sub("[-_ ]", "", name).lower()


def shipped_photo() -> Path:
    """Returns the largest photo of the repository."""
    folders = (ROOT / "examples", ROOT / "tests" / "data")
    pictures = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".jpg", ".png"}]
    if not pictures:
        raise SystemExit("examples/ has no image: name one with --photo, or a pair with --images")
    return max(pictures, key=lambda path: path.stat().st_size)


def load_pair(options: argparse.Namespace):
    """Returns reference and distorted image as uint8 RGB arrays, and a description of them."""
    import numpy
    from PIL import Image, ImageOps

    if options.images:
        pictures = [Image.open(path).convert("RGB") for path in options.images]
        if pictures[0].size != pictures[1].size:
            raise SystemExit(f"{options.images[0]} and {options.images[1]} differ in size")
        described = " against ".join(f"`{path.name}`" for path in reversed(options.images))
        return *[numpy.asarray(picture) for picture in pictures], described
    photo = options.photo or shipped_photo()
    width, height = map(int, options.size.split("x"))
    reference = ImageOps.fit(Image.open(photo).convert("RGB"), (width, height), Image.Resampling.LANCZOS)
    distorted = Image.open(io.BytesIO(jpeg(reference, 20))).convert("RGB")
    return numpy.asarray(reference), numpy.asarray(distorted), f"`{photo.name}`, its JPEG of quality 20 against it"


def jpeg(picture, quality: int) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def compare(metric: str, files: tuple[Path, Path], rivals: list, options: argparse.Namespace) -> dict:
    """Returns scores and minimum times by package: {"ours"|package: {"value", "1", "2"} or {"error"}}."""
    import torch

    table: dict[str, dict] = {"ours": {}} | {peer.package: {} for peer in rivals}
    begin = time.monotonic()
    with torch.no_grad():
        for turn in range(options.rounds + 1):
            for count in (1,) if options.cpu_time else THREADS:
                measure_ours(table["ours"], metric, files, count, options.cpu_time)
                with threads(count):
                    for peer in rivals:
                        measure_peer(table[peer.package], peer, count, options.cpu_time, warm=turn > 0)
            if turn > 0 and time.monotonic() - begin > options.budget:
                break
    return table


def measure_ours(row: dict, metric: str, files: tuple[Path, Path], count: int, cpu_time: bool) -> None:
    if "error" in row:
        return
    result = ours.measure(*files, metric, count, REPETITIONS)
    if result.error:
        row["error"] = result.error
        return
    row["value"] = result.score
    row[str(count)] = min(row.get(str(count), math.inf), result.cpu_seconds if cpu_time else result.seconds)


def measure_peer(row: dict, peer, count: int, cpu_time: bool, warm: bool) -> None:
    if "error" in row or row.get("1", 0) > SLOW:
        return
    clock = time.thread_time if cpu_time else time.perf_counter
    start = time.monotonic()
    for _ in range(REPETITIONS):
        begin = clock()
        try:
            row["value"] = peer.call()
        except Exception as error:  # A failing peer must not end the comparison.
            row["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
            return
        seconds = clock() - begin
        if warm or seconds > SLOW:
            row[str(count)] = min(row.get(str(count), math.inf), seconds)
        if time.monotonic() - start > PATIENCE:
            return


def run_comparison(folder: Path, options: argparse.Namespace) -> dict:
    reference, distorted, described = load_pair(options)
    files = tuple(
        ours.write_netpbm(folder / f"{name}.ppm", image) for name, image in (("ref", reference), ("dist", distorted))
    )
    gray = luma(reference), luma(distorted)
    gray_files = tuple(ours.write_netpbm(folder / f"{name}.pgm", image) for name, image in zip(("ref", "dist"), gray))
    peers = Peers()
    report = {"pair": described, "size": list(reference.shape[1::-1]), "metrics": {}, "luma": {}}
    for metric in options.only:
        print(f"{metric} ...", file=sys.stderr, flush=True)
        rivals = [] if options.no_peers else peers.of(metric, reference, distorted)
        report["metrics"][metric] = compare(metric, files, rivals, options)
        if metric in LUMA_TARGETS and not options.no_peers:
            report["luma"][metric] = compare(metric, gray_files, on_luma(metric, *gray), options)
    return report


def cold_start(folder: Path, options: argparse.Namespace) -> dict:
    """Measures the whole program in seconds for each metric, with the pair as JPEG and as PNG files."""
    from PIL import Image

    if not ours.PROGRAM.exists():
        return {}
    for name, pixels in zip(("ref", "dist"), load_pair(options)[:2]):
        picture = Image.fromarray(pixels)
        (folder / f"{name}.jpg").write_bytes(jpeg(picture, 90))
        picture.save(folder / f"{name}.png")
    table = {}
    for metric in options.only:
        print(f"cold start of {metric} ...", file=sys.stderr, flush=True)
        table[metric] = {
            suffix: ours.whole_process(score_command(folder, suffix, metric), repetitions=4 * options.rounds)
            for suffix in ("jpg", "png")
        }
    return table


def score_command(folder: Path, suffix: str, metric: str) -> list[str]:
    command = [str(ours.PROGRAM), "score", str(folder / f"dist.{suffix}"), "--tool", metric]
    return command if metric in NO_REFERENCE else [*command, "--reference", str(folder / f"ref.{suffix}")]


def memory(folder: Path, options: argparse.Namespace) -> dict:
    """Measures the peak memory of each metric in a separate process, on a pair of 50 megapixels."""
    import numpy
    from PIL import Image, ImageOps

    reference, distorted, _ = load_pair(options)
    files = []
    for name, pixels in (("ref", reference), ("dist", distorted)):
        large = ImageOps.fit(Image.fromarray(pixels), LARGE, Image.Resampling.BICUBIC)
        files.append(ours.write_netpbm(folder / f"{name}-large.ppm", numpy.asarray(large)))
    table = {}
    for metric in options.only:
        print(f"memory of {metric} ...", file=sys.stderr, flush=True)
        if ours.measure(*small_pair(folder), metric).error:
            table[metric] = None
            continue
        command = [str(ours.BENCH), *map(str, files), str(max(THREADS)), "1", metric]
        table[metric] = ours.peak_memory(command)
    return table


def small_pair(folder: Path) -> tuple[Path, Path]:
    """Returns a small pair of noise, to check whether a metric is available."""
    import numpy

    noise = numpy.random.default_rng(7).integers(0, 256, (512, 512, 3), numpy.uint8)
    path = folder / "noise.ppm"
    return (path, path) if path.exists() else (ours.write_netpbm(path, noise), path)


# Tables


def fastest(row: dict, count: int) -> tuple[str, float] | None:
    """Returns the fastest peer with that many threads, and its time in seconds."""
    times = [(name, cells[str(count)]) for name, cells in row.items() if name != "ours" and str(count) in cells]
    return min(times, key=lambda entry: entry[1], default=None)


def milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    value = seconds * 1e3
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    return [line(header), line(["---"] + ["---:"] * (len(header) - 1)), *map(line, rows)]


def values_table(report: dict) -> list[str]:
    packages = ("pyiqa", "piq", "scikit-image")
    rows = []
    for metric, row in report["metrics"].items():
        own = row["ours"].get("value")
        cells = [metric, "not available" if own is None else f"{own:.6g}"]
        for package in packages:
            value = row.get(package, {}).get("value")
            difference = "" if own is None or value is None else f" ({value - own:+.1e})"
            cells.append("-" if value is None else f"{value:.6g}{difference}")
        rows.append(cells)
    return table_lines(["metric", "ours", *packages], rows)


def times_table(entries: dict, targets: dict[str, int]) -> list[str]:
    header = ["metric", "ours, 1 thread", "fastest peer", "its time", "ratio", "target"]
    header += ["ours, 2 threads", "speed-up", "fastest peer, 2 threads", "ratio"]
    rows = []
    for metric, row in entries.items():
        one, two = row["ours"].get("1"), row["ours"].get("2")
        cells = [metric, milliseconds(one) if one else "not available"]
        cells += rival_cells(row, 1, one, named=True)
        cells += [f"{targets[metric]}x" if metric in targets else "-"]
        cells += [milliseconds(two), f"{one / two:.2f}x" if one and two else "-"]
        cells += rival_cells(row, 2, two, named=False)
        rows.append(cells)
    return table_lines(header, rows)


def rival_cells(row: dict, count: int, own: float | None, named: bool) -> list[str]:
    rival = fastest(row, count)
    if rival is None:
        return ["-"] * (3 if named else 2)
    name, seconds = rival
    ratio = f"**{seconds / own:.1f}x**" if own else "-"
    return [name, milliseconds(seconds), ratio] if named else [f"{name} {milliseconds(seconds)}", ratio]


def all_times_table(report: dict) -> list[str]:
    packages = ("ours", "pyiqa", "piq", "scikit-image")
    rows = [
        [metric] + [milliseconds(row.get(package, {}).get("1")) for package in packages]
        for metric, row in report["metrics"].items()
    ]
    return table_lines(["metric", *packages], rows)


def cold_table(table: dict) -> list[str]:
    rows = [[metric, milliseconds(cells["jpg"]), milliseconds(cells["png"])] for metric, cells in table.items()]
    return table_lines(["metric", "JPEG files", "PNG files"], rows)


def memory_table(table: dict) -> list[str]:
    rows = [[metric, "not available" if size is None else f"{size / 1e6:.0f}"] for metric, size in table.items()]
    return table_lines(["metric", "peak, MB"], rows)


def machine() -> str:
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "?")
    peers = ", ".join(REQUIREMENTS[:4]).replace("==", " ")
    today = datetime.date.today().isoformat()
    return f"{today}, {model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}; {peers}."


def sections(report: dict) -> dict[str, list[str]]:
    """Returns every table by the name of its marker in docs/performance.md."""
    clock = " Processor time on one thread, because the machine was busy." if report["cpu_time"] else ""
    size = "x".join(map(str, report["size"]))
    found = {"run": [f"{report['machine']} Pair: {report['pair']}, {size}.{clock}"]}
    found["times"] = times_table(report["metrics"], TARGETS)
    if report["luma"]:
        found["luma"] = times_table(report["luma"], LUMA_TARGETS)
    found["all-times"] = all_times_table(report)
    found["values"] = values_table(report)
    if report.get("cold_start"):
        found["cold-start"] = cold_table(report["cold_start"])
    if report.get("memory"):
        found["memory"] = memory_table(report["memory"])
    return found


TITLES = {
    "run": "Run",
    "times": "Times in ms",
    "luma": "On luma, against OpenCV's quality module, ms",
    "all-times": "All peers, one thread, ms",
    "values": "Values (difference to ours)",
    "cold-start": "The whole program, ms",
    "memory": "Peak memory at 50 megapixels",
}


def fill(document: Path, blocks: dict[str, list[str]]) -> None:
    """Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->` in a document."""
    text = document.read_text()
    for name, lines in blocks.items():
        block = "\n".join([f"<!-- {name} -->", *lines, f"<!-- /{name} -->"])
        text, count = re.subn(f"<!-- {name} -->.*?<!-- /{name} -->", lambda _: block, text, flags=re.DOTALL)
        if count == 0:
            print(f"{document}: has no marker <!-- {name} -->", file=sys.stderr)
    document.write_text(text)


def main() -> None:
    options = arguments()
    enter_venv(options.venv)
    if not options.no_build:
        ours.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = {"machine": machine(), "cpu_time": options.cpu_time} | run_comparison(folder, options)
        if options.cold_start or options.write_docs:
            report["cold_start"] = cold_start(folder, options)
        if options.memory or options.write_docs:
            report["memory"] = memory(folder, options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    blocks = sections(report)
    if options.write_docs:
        fill(ROOT / "docs" / "performance.md", blocks)
        import check_official

        fill(ROOT / "docs" / "accuracy.md", check_official.sections())
    markdown = "\n\n".join(f"## {TITLES[name]}\n\n" + "\n".join(lines) for name, lines in blocks.items()) + "\n"
    if options.markdown:
        options.markdown.write_text(markdown)
    else:
        print(markdown)


if __name__ == "__main__":
    main()
