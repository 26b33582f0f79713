"""The package: exports, import time, types, documentation and benchmark."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, processor_seconds_of_children, succeeds

import agenticiqa
from agenticiqa import bench

PUBLIC = [name for name in agenticiqa.__all__ if name != "__version__"]


def test_all_that_is_public_is_listed():
    helpers = {"Any", "TYPE_CHECKING"}
    meant = {
        name for name, value in vars(agenticiqa).items() if not name.startswith("_") and not inspect.ismodule(value)
    } - helpers
    # QualityMap is loaded on first use, because it imports NumPy.
    assert meant | {"QualityMap"} == set(PUBLIC) and list(agenticiqa.__all__) == sorted(agenticiqa.__all__)
    assert {name for name in agenticiqa.errors.__all__} <= set(PUBLIC)


def test_all_that_is_public_is_documented():
    for name in PUBLIC:
        value = getattr(agenticiqa, name)
        assert value.__doc__, name
        # The generated docstring of a dataclass does not count.
        assert not value.__doc__.startswith(f"{name}("), name
        for member, method in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (callable(method) or isinstance(method, (classmethod, property))):
                assert inspect.getdoc(method) or member in ("to_dict", "from_json"), f"{name}.{member}"


def test_the_version_is_that_of_the_program():
    manifest = (ROOT / "Cargo.toml").read_text()
    assert re.search(r'^version = "(.+)"$', manifest, re.MULTILINE)[1] == agenticiqa.__version__


def test_the_import_takes_less_than_that_of_numpy():
    """Compares processor time, because wall time depends on the load of the machine."""

    def seconds(code: str) -> float:
        times = []
        for _ in range(5):
            before = processor_seconds_of_children()
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
            times.append(processor_seconds_of_children() - before)
        return min(times)

    alone = seconds("pass")
    assert seconds("import agenticiqa") - alone < seconds("import numpy") - alone


def test_nothing_is_loaded_before_it_is_needed():
    heavy = "numpy", "asyncio", "PIL", "torch", "ray", "pyspark", "pandas", "agenticiqa.ray", "agenticiqa.spark"
    code = f"import sys, agenticiqa; print([name for name in {heavy} if name in sys.modules])"
    assert succeeds(code) == "[]"
    code = "import sys, agenticiqa; agenticiqa.score('examples/osprey.jpg', tool='NIQE'); print('numpy' in sys.modules)"
    assert succeeds(code) == "False"


@pytest.mark.parametrize("checked", ["package", "use"])
def test_types(checked, tmp_path):
    """The package passes strict type checks, and its users see its types."""
    pytest.importorskip("mypy")
    if checked == "package":
        done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return
    use = tmp_path / "use.py"
    use.write_text(
        "import agenticiqa\n"
        "reveal_type(agenticiqa.score('a', 'b'))\nreveal_type(agenticiqa.assess('a').score)\n"
        "reveal_type(agenticiqa.Metric('SSIM').map('a', 'b').best)\nagenticiqa.Metric(5)\n"
    )
    command = [sys.executable, "-m", "mypy", str(use)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    told = re.findall(r'Revealed type is "(.+?)"', done.stdout)
    assert [kind.replace("builtins.", "") for kind in told] == ["float", "float | None", "float"], done.stdout
    assert 'use.py:5: error: Argument 1 to "Metric" has incompatible type "int"' in done.stdout


def test_the_stub_says_what_is_there():
    """Compares the names in the stub with the native extension."""
    stub = (Path(agenticiqa.__file__).parent / "_native.pyi").read_text()
    native = agenticiqa._native  # type: ignore[attr-defined]
    named = set(re.findall(r"^(?:class|def) (\w+)|^(__version__)", stub, re.MULTILINE))
    told = {name for pair in named for name in pair if name}
    there = {name for name in vars(native) if not name.startswith("_") or name == "__version__"}
    assert there == told
    for block in re.split(r"^class ", stub, flags=re.MULTILINE)[1:]:
        kind = getattr(native, re.match(r"\w+", block)[0])
        body = re.split(r"^\S", block.partition("\n")[2], flags=re.MULTILINE)[0]
        methods = set(re.findall(r"^    def (\w+)\(", body, re.MULTILINE)) - {"__new__"}
        assert methods == {name for name in vars(kind) if not name.startswith("_")}, kind


def test_the_bench_reports(capsys):
    bench.main(["--repeat", "1", "--size", "192x192", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert set(report) == set(bench.PARTS)
    assert [row["size"] for row in report["overhead"]] == ["64x64", "512x384"] * 2
    assert all(row["overhead_us"] > 0 and row["metric_us"] > 0 for row in report["overhead"])
    assert report["threads"]["ratio"] > 0 and report["threads"]["one_per_second"] > 0
    assert report["import"]["import_ms"] >= 0
    for row in report["peers"]:
        assert row["ratio"] > 0 if "ratio" in row else "pip install" in row["problem"] or "weights" in row["problem"]


def test_the_bench_compares_with_who_is_there(capsys, monkeypatch):
    """Uses mocks of pyiqa, piq and Torch."""
    import types

    class Tensor:
        def __init__(self, array: object) -> None:
            self.array = array

        def permute(self, *_: int) -> Tensor:
            return self

        def float(self) -> Tensor:
            return self

        def __getitem__(self, _: object) -> Tensor:
            return self

        def __truediv__(self, _: object) -> Tensor:
            return self

    def nobody(*_: object, **__: object) -> float:
        raise OSError("no network")

    torch = types.SimpleNamespace(from_numpy=Tensor, set_num_threads=lambda _: None, get_num_threads=lambda: 2)
    pyiqa = types.SimpleNamespace(create_metric=lambda name, device: nobody if name == "niqe" else (lambda *_: 1.0))
    for name, module in (("torch", torch), ("pyiqa", pyiqa), ("piq", types.SimpleNamespace(ssim=lambda *_: 1.0))):
        monkeypatch.setitem(sys.modules, name, module)
    threads = agenticiqa.threads()
    bench.main(["--repeat", "1", "--size", "192x192", "--only", "ssim", "--only", "NIQE"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "peers     pyiqa SSIM",
        "peers     piq SSIM",
        "peers     pyiqa NIQE",
    ]
    assert lines[0].endswith("times as fast") and lines[2].endswith("needs its weights: OSError: no network")
    assert agenticiqa.threads() == threads


@pytest.mark.parametrize("wrong", [["--size", "12"], ["--size", "8x8"], ["--only", "nothing"], ["--repeat", "0"]])
def test_the_bench_says_what_it_takes(wrong, capsys):
    with pytest.raises(SystemExit):
        bench.main(wrong)
    assert wrong[0] in capsys.readouterr().err
