"""Processes and threads: pickling, forks, Ctrl-C and the interpreter lock."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
from conftest import CODED, ORIGINAL, interrupt, python, succeeds
from model import serve

from agenticiqa import Metric, Picture, assess, score, score_many

# Ctrl-C must end any call within a second: in processor seconds, with two threads.
PROMISED = 2.0
START = "import os, sys, numpy, agenticiqa\n"
# Runs code in a forked process, which is killed if it hangs.
FORKED = (
    START
    + """
import signal
photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
def use():
    print(agenticiqa.score(photo, photo), agenticiqa.score_many([photo] * 4, photo).tolist(), flush=True)
def ask():
    try:
        print(agenticiqa.assess(photo).status, flush=True)
    except agenticiqa.ForkError as error:
        print(type(error).__name__, error, flush=True)
{before}
child = os.fork()
if child == 0:
    signal.alarm(20)
    {inside}
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
{after}
"""
)
SCORED = "1.0 [1.0, 1.0, 1.0, 1.0]"
REFUSED = 'multiprocessing.get_context("spawn")'


def test_a_pickled_metric_is_the_same():
    for tool in ("SSIM", "Fused-NR"):
        metric = Metric(tool)
        again = pickle.loads(pickle.dumps(metric))
        assert again.name == tool and again(CODED, ORIGINAL) == metric(CODED, ORIGINAL)


def test_a_pickled_metric_keeps_its_settings(tmp_path):
    (tmp_path / "pipeline.yaml").write_text("images:\n  max_pixels: 1000\n")
    again = pickle.loads(pickle.dumps(Metric("PSNR", config=tmp_path)))
    with pytest.raises(ValueError, match="more than the limit of 1000"):
        again(CODED, ORIGINAL)


def test_pickled_results_are_the_same():
    picture = Picture(CODED)
    again = pickle.loads(pickle.dumps(picture))
    assert Metric("PSNR")(again, picture) == numpy.inf and repr(again) == repr(picture)
    measured = Metric("SSIM").measure(CODED, ORIGINAL)
    assert pickle.loads(pickle.dumps(measured)) == measured
    found = assess(CODED)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("before", "inside", "expected"),
    [
        ("", "use()", [SCORED]),
        ("", "ask()", ["success"]),
        ("use()", "use()", [SCORED] * 2),
        ("use()", "use(); ask()", [SCORED] * 2 + ["success"]),
        ("agenticiqa.set_threads(3); use()", "print(agenticiqa.threads())", [SCORED, "3"]),
        ("ask()", "ask()", ["success", REFUSED]),
        ("ask()", "use()", ["success", SCORED]),
        ("use(); ask()", "ask(); use()", [SCORED, "success", REFUSED, SCORED]),
    ],
)
def test_a_fork(before, inside, expected):
    """Metrics work in the child. The agent raises ForkError, because its threads cannot restart. The parent works."""
    lines = succeeds(FORKED.format(before=before, inside=inside, after="use(); ask()")).splitlines()
    lines, rest = lines[: len(expected)], lines[len(expected) :]
    assert all(part in line for part, line in zip(expected, lines, strict=True)), lines
    assert rest == [SCORED, "success"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, sys\nimport numpy, agenticiqa\n"
        "metric = agenticiqa.Metric('PSNR')\n"
        "def one(shift):\n"
        "    photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8), (64, 1))\n"
        "    return metric(photo + numpy.uint8(shift), photo)\n"
        "if __name__ == '__main__':\n"
        "    expected = [one(1), one(2), one(4)]\n"
        f"    with multiprocessing.get_context('{method}').Pool(2) as pool:\n"
        "        assert pool.map(one, [1, 2, 4]) == expected\n"
        "        assert pool.apply(metric, [numpy.zeros((32, 32), 'u1')] * 2) == numpy.inf\n"
        "    print('done')\n"
    )
    code = f"import runpy, sys; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')"
    if method == "fork":
        assert succeeds(code) == "done"
    else:
        # A spawned process imports the script again, so it must be a file.
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr


def ended_at_once(code: str, after: float = 0.4, **variables: str) -> None:
    seconds, done = interrupt(START + code + "\nprint('ended')", after, **variables)
    assert done.stdout == "go\n" and done.stderr.rstrip().endswith("KeyboardInterrupt"), done.stderr
    assert done.returncode == -signal.SIGINT and "panicked" not in done.stderr
    assert seconds < PROMISED


LARGE = "photo = numpy.random.default_rng(1).integers(0, 256, (4000, 6000, 3), dtype=numpy.uint8)\nprint('go', flush=True)\n"
SMALL = "photo = numpy.zeros(({0}, {0}, 3), numpy.uint8)\nprint('go', flush=True)\n"


@pytest.mark.parametrize("tool", ["MAD", "VIF"])
def test_an_interrupt_ends_a_long_score(tool):
    ended_at_once(LARGE + f"agenticiqa.score(photo, photo[::-1], '{tool}')")


def test_an_interrupt_ends_many_scores():
    """Interrupts large images, which rarely report progress, and small images, which always do."""
    ended_at_once(SMALL.format(1500) + "agenticiqa.score_many([photo] * 1000, photo, 'MAD')")
    ended_at_once(SMALL.format(64) + "agenticiqa.score_many([photo] * 500_000, photo, 'PSNR')")


def test_an_interrupt_ends_an_assessment():
    ended_at_once(LARGE + "agenticiqa.assess(photo, reference=photo[::-1])")


@pytest.mark.parametrize(
    "call",
    [
        "agenticiqa.assess(photo, backend='openai.slow')",
        "list(agenticiqa.stream(photo, backend='openai.slow'))",
        "import asyncio; asyncio.run(agenticiqa.assess_async(photo, backend='openai.slow'))",
    ],
)
def test_an_interrupt_ends_the_waiting_for_a_model(call):
    with serve(delay=60) as model:
        ended_at_once(SMALL.format(64) + call, after=1.0, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="sk-none")
        assert len(model.asked) == 1


def test_an_interrupt_while_an_array_is_read_is_not_lost():
    """An interrupt while the first array is read must not be mistaken for an error of the second."""
    code = (
        START
        + """
import signal, threading
photo = numpy.full((3000, 3000, 3), 0.3, numpy.float32)
for delay in (0.005, 0.01, 0.02, 0.03):
    timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        for _ in range(100):
            agenticiqa.score(photo, photo, "Brightness")
    except KeyboardInterrupt:
        print("heard")
"""
    )
    assert succeeds(code).splitlines() == ["heard"] * 4


def test_work_goes_on_after_an_interrupt():
    """Calls after an interrupt do not wait for the canceled work: MAD of the large image takes a minute."""
    code = (
        LARGE
        + """
try:
    agenticiqa.score(photo, photo[::-1], "MAD")
except KeyboardInterrupt:
    small = photo[:64, :64]
    print(agenticiqa.score(small, small), agenticiqa.score_many([small] * 3, small).tolist())
    sys.stdout.flush()
    os._exit(0)
"""
    )
    seconds, done = interrupt(START + code)
    assert done.stdout.split("\n")[1] == "1.0 [1.0, 1.0, 1.0]", done.stderr
    assert seconds < 10


@pytest.mark.parametrize(
    "work",
    [
        lambda: score_many([CODED] * 6, ORIGINAL, "VIF"),
        lambda: [score(CODED, ORIGINAL, "MAD") for _ in range(2)],
        lambda: [assess(CODED, reference=ORIGINAL) for _ in range(3)],
    ],
)
def test_other_threads_go_on(work):
    """Worker threads release the interpreter lock at every step, so that other threads run."""
    count, stopped = 0, threading.Event()

    def run() -> None:
        nonlocal count
        while not stopped.wait(0.001):
            count += 1

    thread = threading.Thread(target=run)
    thread.start()
    switch = sys.getswitchinterval()
    # No forced switches: other threads run only when the lock is released.
    sys.setswitchinterval(1000)
    try:
        before = count
        work()
        counted = count - before
    finally:
        sys.setswitchinterval(switch)
        stopped.set()
        thread.join()
    assert counted > 20


def test_many_threads_may_call_at_once(coded, original):
    expected = {name: score(coded, original, name) for name in ("SSIM", "GMSD", "NIQE", "PSNR")}
    with ThreadPoolExecutor(8) as pool:
        found = [(name, pool.submit(score, coded, original, name)) for _ in range(20) for name in expected]
        assert all(future.result() == expected[name] for name, future in found)
        batches = [pool.submit(score_many, [coded] * 5, original, "GMSD") for _ in range(6)]
        assert all(future.result().tolist() == [expected["GMSD"]] * 5 for future in batches)


def test_leaving_while_work_is_done_is_no_crash():
    """The interpreter shuts down while compute threads still run."""
    code = (
        START
        + """
import threading
photo = numpy.zeros((512, 512, 3), numpy.uint8)
work = threading.Thread(target=lambda: agenticiqa.score_many([photo] * 100000, photo, "PSNR"), daemon=True)
work.start()
run = agenticiqa.stream(photo)
import time; time.sleep({0})
"""
    )
    for moment in (0.0, 0.05, 0.2):
        done = python(code.format(moment))
        assert (done.returncode, done.stderr) == (0, "")


def test_a_picture_is_free_again(coded):
    """A metric keeps no reference to an array after the call."""
    photo = coded.copy()
    before = sys.getrefcount(photo)
    for _ in range(5):
        score(photo, photo, "SSIM")
        score_many([photo] * 3, photo, "PSNR")
    assert sys.getrefcount(photo) == before
    photo[:] = 0
