#!/usr/bin/env python3
"""Compares the throughput of pyiqa and our tools in pairs per second, on all cores. Files are decoded for each pair.

    /path/to/venv/bin/python scripts/compare_throughput.py PAIRS.jsonl [--seconds 20] [--rounds 3] [--program PATH]

Use the virtual environment of scripts/compare_peers.py. Build the program with
`cargo build --release -p agenticiqa-tools --example score_pairs`.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import time

METRICS = ["ssim", "fsim", "vsi", "gmsd"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", help="JSON Lines with image_path and reference_path")
    parser.add_argument("--seconds", type=float, default=20, help="length of a round of each side (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds (%(default)s)")
    parser.add_argument("--program", default="target/release/examples/score_pairs", help="our program (%(default)s)")
    arguments = parser.parse_args()
    import numpy
    import pyiqa
    import torch
    from PIL import Image

    torch.set_num_threads(os.cpu_count())
    with open(arguments.pairs) as file:
        lines = [json.loads(line) for line in file]
    metrics = [pyiqa.create_metric(name, device="cpu") for name in METRICS]

    def tensor(path):
        pixels = numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float32) / 255
        return torch.from_numpy(pixels).permute(2, 0, 1)[None]

    def theirs():
        start, busy, scored = time.monotonic(), time.process_time(), 0
        with torch.no_grad():
            while time.monotonic() - start < arguments.seconds:
                line = lines[scored % len(lines)]
                image, reference = tensor(line["image_path"]), tensor(line["reference_path"])
                for metric in metrics:
                    float(metric(image, reference))
                scored += 1
        return scored / (time.monotonic() - start), (time.process_time() - busy) / scored * 1e3

    def ours():
        command = [arguments.program, str(arguments.seconds), ",".join(METRICS), arguments.pairs]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rate, scored = re.match(r"([\d.]+) pairs (?:a|per) second \((\d+)", out).groups()
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return float(rate), busy / int(scored) * 1e3

    theirs()  # Warm up: the first calls are slower.
    rounds = []
    for number in range(arguments.rounds):
        rounds.append((theirs(), ours()))
        (their_rate, their_time), (our_rate, our_time) = rounds[-1]
        print(
            f"round {number + 1}: pyiqa {their_rate:.2f} pairs per second ({their_time:.1f} ms of processor time each), "
            f"ours {our_rate:.1f} ({our_time:.2f} ms)",
            flush=True,
        )
    rates = [max(found[side][0] for found in rounds) for side in (0, 1)]
    times = [min(found[side][1] for found in rounds) for side in (0, 1)]
    print(f"best: {rates[1] / rates[0]:.1f} times the throughput, processor time divided by {times[0] / times[1]:.1f}")


main()
