#!/usr/bin/env python3
"""Compares our scores and those of other packages with the authors' values. Prints Markdown.

The images are the five calibration pairs from scripts/fetch-test-data. A score is reproduced if it is within 0.1 % or
half a unit of the last digit of the authors' value. MDSI and HaarPSI have no authors' values for these pairs and are
compared with piq in float64.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ours
from peers import DEFAULT_VENV, ROOT, Peers, enter_venv, threads

PAIRS = ("I03", "I04", "I06", "I08", "I19")
# Strings, because the number of digits matters.
OFFICIAL = {
    "PSNR": "21.11 20.99 27.01 23.30 21.62",
    "SSIM": "0.6993 0.9978 0.9989 0.9669 0.6519",
    "MS-SSIM": "0.6733 0.9996 0.9998 0.9566 0.8462",
    "CW-SSIM": "0.2763 0.9996 1.0000 0.9068 0.8658",
    "FSIM": "0.6890 0.9702 0.9927 0.9575 0.8220",
    "GMSD": "0.220347639 0.000522059 0.000448281 0.134631933 0.204996494",
    "VIF": "0.0172 0.9891 0.9924 0.9103 0.1745",
    "VSI": "0.9139 0.9620 0.9922 0.9571 0.9262",
    "NLPD": "0.561610097 0.019534799 0.015915632 0.302802107 0.432604962",
    "MAD": "195.2796 80.8379 30.3918 84.3542 202.2371",
    "BRISQUE": "94.6421 -0.107618 0.992889 5.35827 72.2617",
    "NIQE": "15.7536294 3.6549215 3.2354774 3.1840333 8.6351966",
    "ILNIQE": "113.4801 23.9968 19.9750 22.4493 56.6721",
    "PIQE": "100.00 21.62 35.86 41.15 76.95",
    "ENTROPY": "6.9511 6.9661 7.5309 7.5566 5.7629",
}
AGAINST_PIQ = ("MDSI", "HaarPSI")
PIQ_TOLERANCE = 1e-6


def reproduced(value: float, official: str) -> bool:
    """Returns whether a value is within 0.1 % or half a unit of the last digit."""
    digits = len(official.partition(".")[2])
    expected = float(official)
    return abs(value - expected) <= max(1e-3 * abs(expected), 0.5 * 10.0**-digits * (1 + 1e-9))


def load(folder: Path):
    """Returns the pixels and PPM files of the pairs."""
    import numpy
    from PIL import Image

    source = Path(os.environ.get("AGENTICIQA_TEST_DATA", ROOT / "test-data")) / "calibration"
    pairs = {}
    for name in PAIRS:
        pixels, files = [], []
        for side in ("ref_dir", "dist_dir"):
            path = source / side / f"{name}.bmp"
            if not path.exists():
                raise SystemExit(f"{path} is missing: run scripts/fetch-test-data first")
            pixels.append(numpy.asarray(Image.open(path).convert("RGB")))
            files.append(ours.write_netpbm(folder / f"{name}-{side}.ppm", pixels[-1]))
        pairs[name] = (tuple(pixels), tuple(files))
    return pairs


def our_values(metric: str, pairs: dict) -> list[float] | None:
    results = [ours.measure(*files, metric) for _, files in pairs.values()]
    if any(result.error for result in results):
        print(f"{metric}: {next(result.error for result in results if result.error)}", file=sys.stderr)
        return None
    return [result.score for result in results]


def peer_values(peers: Peers, metric: str, pairs: dict) -> dict[str, list[float]]:
    """Returns the values of every peer that does not fail."""
    import torch

    values: dict[str, list[float]] = {}
    with torch.no_grad(), threads(1):
        for pixels, _ in pairs.values():
            for peer in peers.of(metric, *pixels):
                try:
                    values.setdefault(peer.package, []).append(peer.call())
                except Exception as error:
                    print(f"{metric} of {peer.package}: {error}", file=sys.stderr)
    return {package: row for package, row in values.items() if len(row) == len(pairs)}


def best_peer(values: dict[str, list[float]], official: list[str]) -> tuple[str, list[float]] | None:
    """Returns the peer that reproduces the most values, and of equal ones the closest."""

    def rank(entry: tuple[str, list[float]]) -> tuple[int, float]:
        hits = sum(map(reproduced, entry[1], official))
        return -hits, sum(map(deviation, entry[1], official))

    return min(values.items(), key=rank, default=None)


def deviation(value: float, official: str) -> float:
    return abs(value - float(official)) / abs(float(official))


def row_cells(label: str, values: list[float], official: list[str]) -> list[str]:
    cells = [label]
    for value, expected in zip(values, official):
        # One more digit than the authors, so that near misses are visible.
        decimals = len(expected.partition(".")[2]) + 1
        text = f"{value:.{decimals}f} ({100 * deviation(value, expected):.2g} %)"
        cells.append(text if reproduced(value, expected) else f"**{text}**")
    return [*cells, str(sum(map(reproduced, values, official)))]


def official_table(pairs: dict) -> list[str]:
    peers = Peers()
    lines = table_head("metric", *PAIRS, "within")
    totals = {"ours": 0, "peers": 0, "available": 0}
    for metric, text in OFFICIAL.items():
        official = text.split()
        lines.append(line([f"{metric}, authors", *official, ""]))
        own = our_values(metric, pairs)
        if own is None:
            lines.append(line(["ours", "not available", *[""] * len(PAIRS)]))
        else:
            lines.append(line(row_cells("ours", own, official)))
            totals["ours"] += sum(map(reproduced, own, official))
            totals["available"] += len(own)
        best = best_peer(peer_values(peers, metric, pairs), official)
        if best:
            lines.append(line(row_cells(best[0], best[1], official)))
            totals["peers"] += sum(map(reproduced, best[1], official))
    count = len(OFFICIAL) * len(PAIRS)
    summary = f"Ours reproduces **{totals['ours']} of {count}** values, the best peer of each metric {totals['peers']}."
    if totals["available"] < count:
        summary += f" {count - totals['available']} of ours are not available in this build."
    return [summary, "", *lines]


def piq_table(pairs: dict) -> list[str]:
    """Returns a table of the largest differences to piq in float64."""
    peers = Peers(double=True)
    lines = table_head("metric", *PAIRS, f"largest difference to piq (limit: {PIQ_TOLERANCE:g})")
    for metric in AGAINST_PIQ:
        own = our_values(metric, pairs)
        rival = peer_values(peers, metric, pairs)["piq"]
        if own is None:
            lines.append(line([metric, "not available", *[""] * len(PAIRS)]))
            continue
        largest = max(abs(a - b) for a, b in zip(own, rival))
        lines.append(line([metric, *[f"{value:.8f}" for value in own], f"{largest:.1e}"]))
    return lines


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_head(*header: str) -> list[str]:
    return [line(list(header)), line(["---"] + ["---:"] * (len(header) - 1))]


def sections() -> dict[str, list[str]]:
    """Returns both tables by the name of their marker in docs/accuracy.md."""
    with tempfile.TemporaryDirectory() as name:
        pairs = load(Path(name))
        return {"official": official_table(pairs), "piq": piq_table(pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--venv", type=Path, default=DEFAULT_VENV, help="virtual environment of the peers (%(default)s)"
    )
    parser.add_argument("--no-build", action="store_true", help="use the existing bench_pair in target/release")
    options = parser.parse_args()
    enter_venv(options.venv)
    if not options.no_build:
        ours.build()
    for lines in sections().values():
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
