#!/usr/bin/env python3
"""Reports the accuracy on the held-out fifth: whole images at 384 pixels, as in Rust.

    evaluate.py --datasets /work/shared/datasets --work /work/train --wheel WHEEL [--name checkpoint] [--features features.npz]

Writes WORK/report.md. With --features it also stores features and outputs of all photos and damaged forms.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from damage import KINDS, TID
from labels import ATTRIBUTES, ORDERED
from losses import class_weights
from model import FusedModel, keep_memory, load, split, whole
from scipy.stats import pearsonr, rankdata, spearmanr

# Forms for validation that the short report uses.
SHORT_FORMS = 240
# Damaged forms for training whose features are stored.
TRAINED_FORMS = 1500


def srcc(a: Iterable[float], b: Iterable[float]) -> float:
    return float(spearmanr(a, b).statistic)


def plcc(a: Iterable[float], b: Iterable[float]) -> float:
    return float(pearsonr(a, b).statistic)


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    ranks = rankdata(np.concatenate([positive, negative]))
    count = len(positive)
    return float((ranks[:count].sum() - count * (count + 1) / 2) / (count * len(negative)))


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def corrected(logits: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Takes the class weights of training out again, so that the probabilities fit the frequencies."""
    return logits - np.log(weights)


def named(outputs: np.ndarray) -> dict[str, np.ndarray]:
    return {name: part.numpy() for name, part in split(torch.from_numpy(outputs)).items()}


def short_report(model: FusedModel, data) -> str:
    """A line about the validation photos and some damaged forms of photos that were never fitted to."""
    _, outputs = whole(model, data.images, data.validation)
    out = named(outputs)
    photos = [data.photos[row] for row in data.validation]
    opinions, subsets = np.array([p.opinion for p in photos]), np.array([p.subset for p in photos])
    labeled = np.array([bool(p.labels) for p in photos])
    quality = np.array([p.labels.get("quality", 0) for p in photos])
    each = [srcc(out["opinion"][subsets == s], opinions[subsets == s]) for s in (1, 2, 3)]
    exact = []
    for name in ATTRIBUTES:
        right = [ATTRIBUTES[name].index(p.labels[name]) for p in photos if p.labels]
        exact.append(f"{name} {np.mean(out[name][labeled].argmax(1) == right):.2f}")
    held = [row for row, form in enumerate(data.forms) if form["validation"] and form["kind"] in [*TID, "clean"]]
    few = sorted(np.random.default_rng(0).permutation(held)[:SHORT_FORMS].tolist())
    _, damaged = whole(model, data.damaged, few)
    wanted = [data.forms[row]["target"] for row in few]
    damaged = named(damaged)
    both = standard(out["opinion"]) + standard(out["quality"])
    return (
        f"SRCC {srcc(out['opinion'], opinions):.4f} PLCC {plcc(out['opinion'], opinions):.4f} "
        f"subsets {each[0]:.3f} {each[1]:.3f} {each[2]:.3f} both {srcc(both, opinions):.4f} "
        f"quality {srcc(out['quality'][labeled], quality[labeled]):.4f} "
        f"quality head on opinions {srcc(out['quality'], opinions):.4f} "
        f"damage {srcc(damaged['opinion'], wanted):.4f} {srcc(damaged['quality'], wanted):.4f} | " + " ".join(exact)
    )


def photo_tables(data, out: dict[str, np.ndarray]) -> str:
    photos = [data.photos[row] for row in data.validation]
    opinions, subsets = np.array([p.opinion for p in photos]), np.array([p.subset for p in photos])
    labeled = np.array([bool(p.labels) for p in photos])
    quality = np.array([p.labels.get("quality", 0.0) for p in photos])
    text = f"## Photos that were never fitted to ({len(photos)}, {labeled.sum()} with labels)\n\n"
    text += "| photos | number | SRCC opinion head | PLCC | SRCC quality head | SRCC mix 1:1 | SRCC mix 2:1 |\n"
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    one = standard(out["opinion"]) + standard(out["quality"])
    two = 2 * standard(out["opinion"]) + standard(out["quality"])
    for subset in (0, 1, 2, 3):
        where = subsets == subset if subset else subsets > 0
        numbers = [
            srcc(out["opinion"][where], opinions[where]),
            plcc(out["opinion"][where], opinions[where]),
            srcc(out["quality"][where], opinions[where]),
            srcc(one[where], opinions[where]),
            srcc(two[where], opinions[where]),
        ]
        name = f"subset {subset}" if subset else "all"
        text += f"| {name} | {where.sum()} | " + " | ".join(f"{n:.4f}" for n in numbers) + " |\n"
    level = 1 + 4 * opinions
    text += f"\nRMSE of the opinion head: {np.sqrt(np.mean((out['opinion'] - level) ** 2)):.3f} levels. "
    text += "With `quality`: "
    for name, scores in (("quality head", out["quality"]), ("opinion head", out["opinion"]), ("mix 1:1", one)):
        text += f"{name} SRCC {srcc(scores[labeled], quality[labeled]):.4f}, "
        text += f"PLCC {plcc(scores[labeled], quality[labeled]):.4f}; "
    text += "quality head in subsets 1, 2, 3: "
    parts = [srcc(out["quality"][labeled & (subsets == s)], quality[labeled & (subsets == s)]) for s in (1, 2, 3)]
    return text + ", ".join(f"{part:.3f}" for part in parts) + ".\n"


def attribute_tables(data, out: dict[str, np.ndarray]) -> str:
    photos = [data.photos[row] for row in data.validation]
    labeled = np.array([bool(p.labels) for p in photos])
    weights = class_weights([data.photos[row] for row in data.train])
    text = "\n## Attributes (validation photos with labels)\n\n"
    text += "As trained (class weights in the loss), and with the class weights taken out again (logits minus the "
    text += "logarithm of the weight). `most common` always says the most common class.\n\n"
    text += (
        "| attribute | most common | exact | within one level | balanced | exact, corrected | within one | balanced |\n"
    )
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    detail = ""
    for name, classes in ATTRIBUTES.items():
        truth = np.array([classes.index(p.labels[name]) for p in photos if p.labels])
        logits = out[name][labeled]
        row = [f"{100 * np.bincount(truth).max() / len(truth):.1f}"]
        for values in (logits, corrected(logits, weights[name].numpy())):
            guess = values.argmax(1)
            recalls = [np.mean(guess[truth == c] == c) for c in range(len(classes)) if (truth == c).any()]
            close = f"{100 * np.mean(np.abs(guess - truth) <= 1):.1f}" if name in ORDERED else ""
            row += [f"{100 * np.mean(guess == truth):.1f}", close, f"{100 * np.mean(recalls):.1f}"]
        text += f"| {name} | " + " | ".join(row) + " |\n"
        guess = corrected(logits, weights[name].numpy()).argmax(1)
        raw = logits.argmax(1)
        cells = []
        for c, label in enumerate(classes):
            count = (truth == c).sum()
            if count:
                found = 100 * np.mean(raw[truth == c] == c), 100 * np.mean(guess[truth == c] == c)
                cells.append(f"{label} {found[0]:.0f}/{found[1]:.0f} % of {count}")
        detail += f"- {name}: " + ", ".join(cells) + "\n"
    text += "\nFound of each class (as trained/corrected):\n\n" + detail
    quality = np.array([p.labels["quality"] for p in photos if p.labels])
    opinion = np.array([p.opinion for p in photos])
    logits = corrected(out["main_problem"], weights["main_problem"].numpy())
    odds = np.exp(logits - logits.max(1, keepdims=True))
    problem = 1 - odds[:, 0] / odds.sum(1)
    low, high = np.quantile(quality, [0.25, 0.75])
    text += f"\nAUC of `has a problem` (1 - P(none)), worst against best quarter: by quality {auc(problem[labeled][quality <= low], problem[labeled][quality >= high]):.4f}, "
    low, high = np.quantile(opinion, [0.25, 0.75])
    text += f"by opinion {auc(problem[opinion <= low], problem[opinion >= high]):.4f}. "
    none = np.array([p.labels["main_problem"] == "none" for p in photos if p.labels])
    text += (
        f"Of `main_problem` other than none against none: {auc(problem[labeled][~none], problem[labeled][none]):.4f}.\n"
    )
    return text


def damage_table(data, rows: list[int], out: dict[str, np.ndarray]) -> str:
    forms = [data.forms[row] for row in rows]
    contents = sorted({form["content"] for form in forms})
    text = f"\n## Damage of {len(contents)} photos that were never fitted to ({len(forms)} forms)\n\n"
    wanted = np.array([form["target"] for form in forms])
    tid = np.array([form["kind"] in TID for form in forms])
    text += "Rank correlation with the targets (set from TID2013's mean opinions by kind and level, not opinions about these images): "
    for name in ("opinion", "quality"):
        text += f"{name} head {srcc(out[name][tid], wanted[tid]):.4f} (24 kinds of TID2013), {srcc(out[name], wanted):.4f} (all); "
    mix = standard(out["opinion"]) + standard(out["quality"])
    text += f"mix 1:1 {srcc(mix[tid], wanted[tid]):.4f}.\n\n"
    text += "Opinion head: rank correlation of the fall with the target, within each photo (mean) and over all; share of forms below their clean photo; fall at level 5.\n\n"
    text += "| kind | within a photo | over all | below the clean photo | fall at level 5 | attribute implied, exact |\n| --- | ---: | ---: | ---: | ---: | ---: |\n"
    place = {(form["content"], form["kind"], form["level"]): index for index, form in enumerate(forms)}
    score = out["opinion"]
    for kind in KINDS:
        within, falls, targets, last, below = [], [], [], [], []
        for content in contents:
            clean = score[place[content, "clean", 0]]
            index = [place[content, kind, level] for level in range(1, 6)]
            fall = clean - score[index]
            within.append(srcc(-fall, wanted[index]))
            falls += fall.tolist()
            targets += wanted[index].tolist()
            last.append(fall[4])
            below += (fall > 0).tolist()
        cells = [np.mean(within), srcc(-np.array(falls), targets), np.mean(below), np.mean(last)]
        right = []
        for index, form in enumerate(forms):
            if form["kind"] == kind:
                for name, value in form["implied"].items():
                    truth = int(np.argmax(value)) if isinstance(value, list) else ATTRIBUTES[name].index(value)
                    right.append(out[name][index].argmax() == truth)
        known = f"{100 * np.mean(right):.0f} %" if right else ""
        text += f"| {kind} | " + " | ".join(f"{cell:.3f}" for cell in cells) + f" | {known} |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--name", default="checkpoint")
    parser.add_argument("--features", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    keep_memory()
    torch.set_num_threads(arguments.threads)
    from train import Data

    data = Data(arguments.datasets, arguments.work, arguments.wheel)
    model = load(arguments.work / f"{arguments.name}.pt")
    _, outputs = whole(model, data.images, data.validation)
    held = [row for row, form in enumerate(data.forms) if form["validation"]]
    _, form_outputs = whole(model, data.damaged, held)
    text = "# Fused-NR 2: validation\n\n"
    out = named(outputs)
    text += photo_tables(data, out) + attribute_tables(data, out) + damage_table(data, held, named(form_outputs))
    (arguments.report or arguments.work / "report.md").write_text(text)
    print(text)
    if arguments.features:
        features, _ = whole(model, data.images, range(len(data.photos)))
        rows = [row for row, form in enumerate(data.forms) if not form["validation"]]
        rows = np.random.default_rng(0).permutation(rows)[:TRAINED_FORMS].tolist()
        form_features, _ = whole(model, data.damaged, rows)
        np.savez(
            arguments.features,
            names=np.array([photo.name for photo in data.photos]),
            validation=np.array([photo.validation for photo in data.photos]),
            subset=np.array([photo.subset for photo in data.photos]),
            level=np.array([photo.level for photo in data.photos]),
            features=features,
            form_features=form_features,
            form_level=data.form_targets.level[rows].numpy(),
        )


if __name__ == "__main__":
    main()
