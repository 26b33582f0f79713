#!/usr/bin/env python3
"""Checks the architecture: which crate may use which, no cycles between modules, and the size of crates.

scripts/check_architecture.py          # prints what is wrong; exit code 1 if anything is
scripts/check_architecture.py --sizes  # also prints the lines of each crate
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 12_000

# The crates of the workspace that each crate may use. ARCHITECTURE.md has the picture.
MAY_USE: dict[str, set[str]] = {
    "pixels": set(),
    "metrics": {"pixels"},
    "distort": {"pixels"},
    "imaging": {"metrics"},
    "statistics": set(),
    "http": set(),
    "onnx": set(),
    "weights": set(),
    "vision": {"metrics"},
    "question": {"vision"},
    "tools": {"http", "imaging", "metrics", "onnx", "vision", "weights"},
    "vlm": {"http", "imaging", "metrics"},
    "agent": {"imaging", "metrics", "question", "tools", "vision", "vlm"},
    "batch": {"agent", "imaging", "metrics", "tools", "vlm"},
    "evaluation": {"agent", "batch", "distort", "imaging", "metrics", "statistics", "tools"},
    "photos": {"agent", "batch", "imaging", "metrics", "tools", "vision"},
    "agenticiqa": {
        *(
            "agent",
            "batch",
            "evaluation",
            "photos",
            "http",
            "imaging",
            "metrics",
            "onnx",
            "statistics",
            "tools",
            "vision",
            "vlm",
        )
    },
    "server": {"agenticiqa"},
    "cli": {"agenticiqa", "server"},
    "python": {"agenticiqa"},
    "fit": {"distort", "imaging", "metrics", "photos", "vision"},
}

# Modules that are one idea in several files and may use each other.
TOGETHER: dict[str, list[set[str]]] = {
    "cli": [{"arguments", "batch", "gate", "mcp"}],
    "imaging": [{"avif", "codecs", "decode", "format", "jpeg", "jpeg_quality", "raw", "tiff"}],
    "onnx": [{"builtin", "library", "model"}],
    "pixels": [{"image", "ops"}],
    "server": [{"app", "http", "jobs", "sources", "telemetry"}, {"openapi", "routes"}],
}


def crate_arrows(crate: Path) -> list[str]:
    """Returns the arrows of a crate that the table does not have."""
    manifest = tomllib.loads((crate / "Cargo.toml").read_text())
    used = {
        name.removeprefix("agenticiqa-") for name in manifest.get("dependencies", {}) if name.startswith("agenticiqa")
    }
    if crate.name not in MAY_USE:
        return [f"crates/{crate.name} is not in the table of scripts/check_architecture.py"]
    return [f"{crate.name} must not use {name}" for name in sorted(used - MAY_USE[crate.name])]


def without_tests(path: Path) -> str:
    """Returns a source file without its unit tests."""
    if "test" in path.stem or "tests" in path.parts:
        return ""
    return path.read_text().split("#[cfg(test)]\nmod tests {")[0]


def module_graph(crate: Path) -> dict[str, set[str]]:
    """Returns which top-level modules of a crate use which, without tests."""
    source = crate / "src"
    modules = {
        path.stem if path.suffix else path.name for path in source.iterdir() if path.name not in ("lib.rs", "main.rs")
    }
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for path in source.rglob("*.rs"):
        parts = path.relative_to(source).parts
        if parts[0] in ("lib.rs", "main.rs"):
            continue
        text = re.sub(r"^\s*//.*$", "", without_tests(path), flags=re.M)
        used = set(re.findall(r"\bcrate::(\w+)", text))
        if len(parts) == 1:
            used |= set(re.findall(r"\bsuper::(\w+)", text))
        for group in re.findall(r"\buse crate::\{([^}]*)\}", text):
            used |= {item.strip().split("::")[0] for item in group.split(",")}
        graph[parts[0].removesuffix(".rs")] |= (used & modules) - {parts[0].removesuffix(".rs")}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Returns groups of modules that use each other in circles (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def lines(crate: Path) -> int:
    """Returns the lines of a crate's sources without unit tests."""
    return sum(len(without_tests(path).splitlines()) for path in (crate / "src").rglob("*.rs"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", action="store_true", help="print the lines of each crate")
    arguments = parser.parse_args()
    problems = []
    for crate in sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml")):
        size = lines(crate)
        if arguments.sizes:
            print(f"{crate.name:12} {size:6}")
        problems += crate_arrows(crate)
        circles = [group for group in cycles(module_graph(crate)) if set(group) not in TOGETHER.get(crate.name, [])]
        problems += [f"{crate.name}: modules use each other: {', '.join(group)}" for group in circles]
        if size > MOST_LINES:
            problems.append(f"{crate.name} has {size} lines, more than {MOST_LINES}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
