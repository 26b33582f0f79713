"""Fixtures: example photos as files and arrays, and the command line to compare scores with."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

import agenticiqa

ROOT = Path(__file__).resolve().parents[2]
CODED = "examples/osprey-compressed.jpg"
ORIGINAL = "examples/osprey.jpg"


def pixels(png: bytes) -> numpy.ndarray:
    """Decodes an 8-bit PNG file with Pillow, which is exact for PNG."""
    return numpy.array(Image.open(io.BytesIO(png)))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test in the root of the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def coded() -> numpy.ndarray:
    """A crop of the compressed photo, decoded by agenticiqa. Pillow decodes JPEG with differences in the last bit."""
    return pixels(agenticiqa.Picture(ROOT / CODED).crop(200, 100, 240, 180).to_png())


@pytest.fixture(scope="session")
def original() -> numpy.ndarray:
    return pixels(agenticiqa.Picture(ROOT / ORIGINAL).crop(200, 100, 240, 180).to_png())


@pytest.fixture(scope="session")
def program() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the most recently built command line."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "agenticiqa" for profile in ("debug", "release")]
    built = sorted((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime)
    if not built:
        pytest.fail("the command line is not built: run cargo build -p agenticiqa-cli")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(built[-1]), *map(str, arguments)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)

    return run


@pytest.fixture(scope="session")
def rows(program: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., list[dict[str, Any]]]:
    """Returns the output of ``agenticiqa score``."""

    def score(*arguments: object) -> list[dict[str, Any]]:
        done = program("score", *arguments, "--format", "json", "--quiet")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return score


def python(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs code in a new process."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60, **options)


def succeeds(code: str, **options: Any) -> str:
    """Runs code that must succeed and returns its output."""
    done = python(code, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def processor_seconds_of_children() -> float:
    """Returns the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processor_seconds(pid: int) -> float:
    """Returns the processor time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(code: str, after: float = 0.4, **variables: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Sends SIGINT after the first line of output. Returns the processor seconds until the process ended, and the process.

    Wall time depends on the load of the machine. It is only limited: a process that hangs is killed.
    """
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    ended = processor_seconds_of_children()
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, **pipes) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(after)
        assert process.poll() is None, "it ended before it could be interrupted"
        before = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    seconds = processor_seconds_of_children() - ended - before
    return seconds, subprocess.CompletedProcess(command, process.returncode, first + out, err)
