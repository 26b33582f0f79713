#!/usr/bin/env python3
"""Measures how often the built-in analyst answers questions about labeled photos correctly.

Questions with options are made from the labels of each photo (see `labels.py`), each where the answer
is clear; the evidence comes from records of an earlier run, so that no image is read again:

    agenticiqa batch --input photos.jsonl --output records.jsonl
    cargo build -p agenticiqa-agent --example answer
    scripts/training/questions.py --labels LABELS --records records.jsonl [--validation]

Without `--validation`, the photos that may be used for fitting count; with it, the others.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import subprocess
import tempfile
from pathlib import Path

from split import is_validation

BLURRED = ("blurry", "very blurry")
# Question, options, and the label of each option: a field and its values.
SCALES = [
    ("How sharp is this photo?", "sharpness", {"Sharp": ("sharp",), "Average": ("slightly soft",), "Blurry": BLURRED}),
    (
        "How would you rate the clarity?",
        "sharpness",
        {"High": ("sharp",), "Acceptable": ("slightly soft",), "Low": BLURRED},
    ),
    (
        "How is the clarity of the photo?",
        "sharpness",
        {"Good": ("sharp",), "Fair": ("slightly soft",), "Poor": BLURRED},
    ),
    (
        "How blurry is it?",
        "sharpness",
        {"Not blurry": ("sharp",), "Slightly blurry": ("slightly soft",), "Very blurry": BLURRED},
    ),
    (
        "How is the light of this photo?",
        "lighting",
        {"Dark": ("dark", "very dark"), "Medium": ("medium",), "Bright": ("bright", "very bright")},
    ),
    (
        "How is its brightness?",
        "lighting",
        {"Low": ("dark", "very dark"), "Medium": ("medium",), "High": ("bright", "very bright")},
    ),
    ("How is the exposure?", "exposure", {"Underexposed": ("under",), "Just fine": ("ok",), "Overexposed": ("over",)}),
    ("How is the contrast?", "contrast", {"Low": ("low",), "Medium": ("normal",), "High": ("high",)}),
    (
        "How colorful is the photo?",
        "colour",
        {"Dull": ("dull", "monochrome"), "Normal": ("normal",), "Colorful": ("vivid",)},
    ),
    (
        "How is the color saturation?",
        "colour",
        {"Low": ("dull", "monochrome"), "Medium": ("normal",), "High": ("vivid",)},
    ),
    ("How strong is the noise?", "noise", {"None": ("none",), "Slight": ("slight",), "Strong": ("strong",)}),
]
# Question, field, values for yes, values for no.
CLOSED = [
    ("Is this photo clear?", "sharpness", ("sharp",), BLURRED),
    ("Is the photo blurry?", "sharpness", BLURRED, ("sharp",)),
    ("Is it in focus?", "sharpness", ("sharp",), BLURRED),
    (
        "Does it have motion blur?",
        "main_problem",
        ("motion blur",),
        ("none", "underexposure", "overexposure", "noise", "blur"),
    ),
    ("Is the photo underexposed?", "exposure", ("under",), ("ok", "over")),
    ("Does it suffer from overexposure?", "exposure", ("over",), ("ok", "under")),
    ("Is the picture bright?", "lighting", ("bright", "very bright"), ("dark", "very dark")),
    ("Does it give a dark impression?", "lighting", ("dark", "very dark"), ("bright", "very bright")),
    ("Is the lighting sufficient?", "lighting", ("medium", "bright"), ("very dark",)),
    ("Is the photo colorful?", "colour", ("vivid",), ("dull", "monochrome")),
    ("Are the colors vivid?", "colour", ("vivid",), ("dull", "monochrome")),
    ("Is there noise in the photo?", "noise", ("strong",), ("none",)),
    ("Is the contrast high?", "contrast", ("high",), ("low",)),
    ("Is it hazy?", "haze", (True,), (False,)),
    ("Is it in black and white?", "colour", ("monochrome",), ("vivid", "normal")),
]
PROBLEMS = {
    "blur": "Out of focus",
    "motion blur": "Motion blur",
    "noise": "Noise",
    "underexposure": "Underexposure",
    "overexposure": "Overexposure",
    "compression": "Compression artifacts",
}
ABSENT = {
    "Out of focus": lambda row: row["sharpness"] == "sharp",
    "Motion blur": lambda row: row["blur_kind"] != "motion",
    "Noise": lambda row: row["noise"] == "none",
    "Underexposure": lambda row: row["exposure"] in ("ok", "over"),
    "Overexposure": lambda row: row["exposure"] in ("ok", "under"),
    "Compression artifacts": lambda row: row["compression"] == "none",
}


def questions(row: dict) -> list[tuple[str, str, list[str], str]]:
    """Returns kind, question, options and right option."""
    made = []
    for text, field, options in SCALES:
        right = [option for option, values in options.items() if row[field] in values]
        if right:
            made.append((f"how: {field}", text, list(options), right[0]))
    for text, field, yes, no in CLOSED:
        if row[field] in yes or row[field] in no:
            made.append((f"yes/no: {field}", text, ["Yes", "No"], "Yes" if row[field] in yes else "No"))
    problem = PROBLEMS.get(row["main_problem"])
    absent = [name for name, is_absent in ABSENT.items() if is_absent(row)]
    if problem:
        others = [name for name in absent if name != problem]
        if len(others) > 1:
            random.shuffle(others)
            options = [problem, *others[:3]]
            random.shuffle(options)
            made.append(("what: worst", "What is the worst distortion of this photo?", options, problem))
        if others:
            made.append(("what: not", "Which quality issue does not exist here?", [problem, others[0]], others[0]))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--answer", type=Path, default=Path("target/debug/examples/answer"))
    parser.add_argument("--validation", action="store_true")
    parser.add_argument("--wrong", help="print the wrong answers of this kind")
    arguments = parser.parse_args()
    random.seed(0)
    labels = {}
    for line in arguments.labels.read_text().splitlines():
        row = json.loads(line)
        labels[row["sample_id"]] = row
    with tempfile.TemporaryDirectory() as folder:
        lines, truths = [], []
        for line in arguments.records.read_text().splitlines():
            record = json.loads(line)
            row = labels.get(record["sample_id"])
            if row is None or is_validation(row["sample_id"]) != arguments.validation:
                continue
            path = Path(folder) / f"{row['sample_id']}.json"
            path.write_text(line)
            for kind, text, options, right in questions(row):
                lines.append(json.dumps({"query": text, "options": options, "record": str(path)}))
                truths.append((kind, text, options, right, row["sample_id"]))
        run = subprocess.run([arguments.answer], input="\n".join(lines), capture_output=True, text=True, check=True)
    tally: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    chance = 0.0
    for (kind, text, options, right, name), line in zip(truths, run.stdout.splitlines(), strict=True):
        letter = json.loads(line)["answer"]
        given = options[ord(letter) - ord("A")] if letter else ""
        chance += 1 / len(options)
        for key in (kind, kind.split(":")[0], "all"):
            tally[key][0] += given == right
            tally[key][1] += 1
        if arguments.wrong == kind and given != right:
            print(f"{name}: {text} {given}, not {right}: {json.loads(line)['why'][:200]}")
    for key, (right, count) in sorted(tally.items()):
        print(f"{key:24} {count:6} {100 * right / count:6.1f} %")
    print(f"{'by chance':24} {len(truths):6} {100 * chance / max(1, len(truths)):6.1f} %")


if __name__ == "__main__":
    main()
