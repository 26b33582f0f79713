"""Runs every `python` block of docs/python-recipes.md in a folder with images and checks its results."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy
import pandas
import pytest
from PIL import Image

import agenticiqa

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-recipes.md"
PICTURES = 5


def blocks() -> list[tuple[str, str]]:
    """Returns name and text of each block. The name is its heading, with a number from the second block on."""
    found: list[tuple[str, str]] = []
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        heading = section.splitlines()[0]
        for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL), 1):
            found.append((heading if number == 1 else f"{heading} {number}", text))
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Five photos with increasing noise and their references. The sixth row of the table is a truncated file."""
    generator = numpy.random.default_rng(3)
    across, down = numpy.meshgrid(numpy.arange(96), numpy.arange(96))
    rows = []
    for name in ("photos", "references"):
        (tmp_path / name).mkdir()
    for index in range(PICTURES):
        waves = 120 + 60 * numpy.sin(across / (4 + index)) + 50 * numpy.cos(down / 7)
        clean = numpy.stack([waves, waves * 0.9, 255 - waves], axis=2).clip(0, 255).astype(numpy.uint8)
        noisy = (clean + generator.normal(0, 4 + 12 * index, clean.shape)).clip(0, 255).astype(numpy.uint8)
        Image.fromarray(noisy).save(tmp_path / "photos" / f"{index}.png")
        Image.fromarray(clean).save(tmp_path / "references" / f"{index}.png")
        rows.append({"path": f"photos/{index}.png", "reference": f"references/{index}.png", "mos": 4.5 - 0.8 * index})
    (tmp_path / "cut.png").write_bytes((tmp_path / "photos" / "0.png").read_bytes()[:900])
    rows.append({"path": "cut.png", "reference": "references/0.png", "mos": 3.0})
    table = pandas.DataFrame(rows)
    table.to_parquet(tmp_path / "photos.parquet")
    files = [(tmp_path / path).read_bytes() for path in table["path"]]
    table.assign(bytes=files).drop(columns=["path", "reference"]).to_parquet(tmp_path / "photos-bytes.parquet")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def photos() -> list[str]:
    return [f"photos/{index}.png" for index in range(PICTURES)]


def references() -> list[str]:
    return [f"references/{index}.png" for index in range(PICTURES)]


def check_pandas(names):
    frame = names["frame"]
    assert list(frame["SSIM"][:PICTURES]) == list(agenticiqa.score_many(photos(), references(), "SSIM"))
    assert frame["SSIM_error"].isna().tolist() == [True] * PICTURES + [False]
    assert "cut.png" in frame["SSIM_error"][PICTURES]
    assert names["agreement"] == pytest.approx(1)
    assert len(names["worst"]) == 3 and (names["worst"]["Fused-NR_low"] <= names["worst"]["Fused-NR_high"]).all()


def check_answers(names):
    answers = names["answers"]
    assert answers["answer"].notna().tolist() == [True] * PICTURES + [False]
    assert answers["answer"][4].startswith("Yes") and 1 <= answers["score"][4] <= 5
    assert "cut.png" in answers["error"][PICTURES]


def check_polars(names):
    frame = names["frame"]
    assert frame["SSIM"].to_list() == [*agenticiqa.score_many(photos(), references(), "SSIM"), None]
    assert frame["PSNR_error"].null_count() == PICTURES
    assert names["agreement"] == pytest.approx(1)


def check_polars_lazy(names):
    assert names["scored"].columns == ["mos", "BRISQUE"]
    assert names["scored"]["BRISQUE"].to_list()[:PICTURES] == list(agenticiqa.score_many(photos(), tool="BRISQUE"))
    assert names["scored"]["BRISQUE"].is_nan().to_list() == [False] * PICTURES + [True]


def check_duckdb(names):
    scores = agenticiqa.score_many(photos(), references(), "SSIM")
    assert names["best"] == [(photos()[index], scores[index]) for index in (0, 1)]
    assert names["mean"] == pytest.approx(scores.mean())


def check_datasets(names):
    scored = names["scored"]
    assert scored.num_rows == PICTURES
    assert list(scored["BRISQUE"]) == list(agenticiqa.score_many(photos(), tool="BRISQUE"))
    assert set(scored["Fused-NR_error"]) == {None}
    assert names["sharp"].num_rows == sum(value > 2 for value in scored["Fused-NR_normalized"])


def check_one_reference(names):
    assert numpy.array_equal(names["scores"], agenticiqa.score_many(photos(), "references/0.png", ["PSNR", "SSIM"]))
    assert names["ranking"][0] == "0.png" and len(names["ranking"]) == PICTURES


def check_processes(names):
    assert names["scores"] == list(agenticiqa.score_many(references(), tool="BRISQUE"))


CHECKS = {
    "pandas": check_pandas,
    "pandas, with answers": check_answers,
    "Polars": check_polars,
    "Polars 2": check_polars_lazy,
    "DuckDB": check_duckdb,
    "Hugging Face datasets": check_datasets,
    "One reference for many images": check_one_reference,
    "Worker processes": check_processes,
}


def test_every_block_has_a_check():
    assert [name for name, _ in blocks()] == list(CHECKS)


@pytest.mark.parametrize(("name", "text"), blocks(), ids=[name for name, _ in blocks()])
def test_recipe(name, text, folder):
    script = folder / "recipe.py"
    script.write_text(text)
    CHECKS[name](runpy.run_path(str(script), run_name="__main__"))


def test_the_example_of_the_readme_gives_what_it_says(capsys):
    root = PAGE.parents[1]
    (text,) = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    said = re.search(r"print\(answer\) +# (.*)", text)
    assert said is not None
    exec(compile(text, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == said.group(1)
