#!/usr/bin/env python3
"""Pairs a second of pyiqa and of ours, the tools alone, files decoded each time, both with all cores, in turns.

    /path/to/venv/bin/python scripts/compare_throughput.py PAIRS.jsonl [--seconds 20] [--rounds 3] [--program PATH]

The venv is that of scripts/compare_peers.py. PROGRAM is `cargo build --release -p agenticiqa-tools --example score_pairs`.
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
        rate, scored = re.match(r"([\d.]+) pairs a second \((\d+)", out).groups()
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return float(rate), busy / int(scored) * 1e3

    theirs()  # the first calls are slower
    rounds = []
    for number in range(arguments.rounds):
        rounds.append((theirs(), ours()))
        (their_rate, their_time), (our_rate, our_time) = rounds[-1]
        print(
            f"round {number + 1}: pyiqa {their_rate:.2f} pairs a second ({their_time:.1f} ms of processor time each), "
            f"ours {our_rate:.1f} ({our_time:.2f} ms)",
            flush=True,
        )
    rates = [max(found[side][0] for found in rounds) for side in (0, 1)]
    times = [min(found[side][1] for found in rounds) for side in (0, 1)]
    print(f"best: {rates[1] / rates[0]:.1f} times the throughput, {times[0] / times[1]:.1f} times less processor time")


main()
