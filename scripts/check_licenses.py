#!/usr/bin/env python3
"""Checks the license and the source of every dependency against deny.toml, as `cargo deny check licenses sources` does.

cargo-deny is the better check, and takes minutes to build; .github/workflows/test.yml runs it.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def allowed(expression: str, licenses: set[str]) -> bool:
    """Evaluates an SPDX expression: each license is replaced by whether it is allowed."""
    words = re.findall(r"[()]|[\w.+-]+", expression.replace("/", " OR "))
    result, position = [], 0
    while position < len(words):
        word = words[position]
        if word in ("(", ")"):
            result.append(word)
        elif word in ("AND", "OR"):
            result.append(word.lower())
        else:
            if words[position + 1 : position + 2] == ["WITH"]:
                word = " ".join(words[position : position + 3])
                position += 2
            result.append(str(word in licenses))
        position += 1
    return bool(eval(" ".join(result)))


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]
    exceptions = {rule["name"]: set(rule["allow"]) for rule in rules["exceptions"]}
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    problems = []
    packages = json.loads(metadata.stdout)["packages"]
    for package in packages:
        name, source, expression = package["name"], package["source"], package["license"]
        if source not in (None, REGISTRY):
            problems.append(f"{name}: unknown source {source}")
        if source is None:
            continue
        licenses = set(rules["allow"]) | exceptions.get(name, set())
        if expression is None or not allowed(expression, licenses):
            problems.append(f"{name} {package['version']}: license {expression} is not allowed")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(packages)} packages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
