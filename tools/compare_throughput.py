#!/usr/bin/env python3
"""Pairs a second of pyiqa and of ours, the tools alone, files decoded each time, both with all cores, in turns.

    /path/to/venv/bin/python tools/compare_throughput.py PAIRS.jsonl [--seconds 20] [--rounds 3] [--program PATH]

The venv is that of tools/compare_peers.py. PROGRAM is `cargo build --release -p agenticiqa --example score_pairs`.
"""
import argparse
import json
import os
import re
import subprocess
import time

METRICS = ["ssim", "fsim", "vsi", "gmsd"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default="target/release/examples/score_pairs")
    arguments = parser.parse_args()
    import numpy
    import pyiqa
    import torch
    from PIL import Image

    torch.set_num_threads(os.cpu_count())
    lines = [json.loads(line) for line in open(arguments.pairs)]
    metrics = [pyiqa.create_metric(name, device="cpu") for name in METRICS]

    def tensor(path):
        pixels = numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float32) / 255
        return torch.from_numpy(pixels).permute(2, 0, 1)[None]

    def theirs():
        start, scored = time.monotonic(), 0
        with torch.no_grad():
            while time.monotonic() - start < arguments.seconds:
                line = lines[scored % len(lines)]
                image, reference = tensor(line["image_path"]), tensor(line["reference_path"])
                for metric in metrics:
                    float(metric(image, reference))
                scored += 1
        return scored / (time.monotonic() - start)

    def ours():
        command = [arguments.program, str(arguments.seconds), ",".join(METRICS), arguments.pairs]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return float(re.match(r"[\d.]+", out)[0])

    theirs()  # the first calls are slower
    best = [0.0, 0.0]
    for number in range(arguments.rounds):
        found = [theirs(), ours()]
        best = [max(pair) for pair in zip(best, found)]
        print(f"round {number + 1}: pyiqa {found[0]:.2f}, ours {found[1]:.1f} pairs a second", flush=True)
    print(f"best: pyiqa {best[0]:.2f}, ours {best[1]:.1f}: {best[1] / best[0]:.1f} times")


main()
