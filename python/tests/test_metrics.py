"""Metrics: scores equal those of the command line to the last bit, single or in batches, on any number of threads."""

from __future__ import annotations

import math
import pickle
import threading

import numpy
import pytest
from conftest import CODED, ORIGINAL

import agenticiqa
from agenticiqa import Metric, MissingFileError, PairError, Picture, list_tools, score, score_many, score_table

BLURRED = "examples/osprey-blurred.jpg"


@pytest.fixture(scope="module")
def every(rows) -> dict[str, dict]:
    """Scores of the pair by the command line, with every available tool."""
    return {row["tool"]: row for row in rows(CODED, "--reference", ORIGINAL, "--all")}


@pytest.fixture
def threads():
    """Restores the number of threads after the test."""
    before = agenticiqa.threads()
    yield
    agenticiqa.set_threads(before)


def test_every_tool_gives_the_score_of_the_program(every):
    native = [tool.name for tool in list_tools() if tool.available]
    assert set(native) == set(every) and len(native) >= 30
    pair = Picture(CODED), Picture(ORIGINAL)
    for name in native:
        row, measured = every[name], Metric(name).measure(*pair)
        assert row["error"] is None
        assert measured.raw_score == score(CODED, ORIGINAL, name) == row["raw_score"], name
        assert measured.normalized_score == row["normalized_score"], name
        assert measured.interval == (tuple(row["interval"]) if "interval" in row else None), name
        assert Metric(name).lower_is_better == row["lower_is_better"], name


def test_a_score_knows_what_belongs_to_it():
    measured = Metric("fused_fr").measure(CODED, ORIGINAL)
    assert measured.tool == "Fused-FR" and float(measured) == measured.raw_score
    assert measured.interval[0] < measured.normalized_score < measured.interval[1]
    assert measured.execution_time > 0 and measured.notes == []
    fields = {"tool", "raw_score", "normalized_score", "interval", "execution_time", "notes"}
    assert set(measured.to_dict()) == fields
    assert Metric("Noise").measure(CODED).normalized_score is None


def test_list_tools():
    tools = {tool.name: tool for tool in list_tools()}
    assert tools["SSIM"].type == "FR" and tools["SSIM"].range == (-1.0, 1.0) and tools["SSIM"].lower_is_better is False
    assert tools["NIQE"].type == "NR" and tools["NIQE"].lower_is_better is True and not tools["BRISQUE"].has_map
    assert tools["PSNR"].range == (0.0, None) and tools["Brightness"].lower_is_better is None
    assert not tools["ILNIQE"].available and "templateModel.mat" in tools["ILNIQE"].reason
    assert all(tool.description and (tool.reason is None) == tool.available for tool in tools.values())
    assert set(tools["SSIM"].to_dict()) == {
        "name",
        "type",
        "lower_is_better",
        "range",
        "description",
        "has_map",
        "available",
        "reason",
    }


def test_names_are_spelled_as_anybody_likes():
    assert {Metric(name).name for name in ("ms-ssim", "MS_SSIM", "MsSsim", "MS-SSIM")} == {"MS-SSIM"}
    metric = Metric("ssim")
    assert repr(metric) == "Metric('SSIM')" and metric.needs_reference and metric.has_map and metric.description


def test_maps_show_where_the_damage_is(original):
    damaged = original.copy()
    damaged[60:100, 120:160] = 255 - damaged[60:100, 120:160]
    able = [tool.name for tool in list_tools() if tool.available and tool.has_map and tool.type == "FR"]
    assert {"SSIM", "GMSD", "FSIM"} <= set(able)
    for name in able:
        metric = Metric(name)
        found = metric.map(damaged, original)
        assert found.tool == name and found.dtype == numpy.float32 and found.ndim == 2
        assert metric.map(original, original).damage.max() < 1e-3, name
        damage = found.damage
        assert damage.min() >= 0 and 0.2 < damage.max() <= 1
        height, width = damage.shape
        rows, columns = numpy.nonzero(damage > 0.5 * damage.max())
        center = rows.mean() / height, columns.mean() / width
        assert center == pytest.approx((80 / 180, 140 / 240), abs=0.06), name


def test_a_map_is_an_array(coded, original):
    found = Metric("SSIM").map(coded, original)
    assert isinstance(found, numpy.ndarray) and isinstance(found, agenticiqa.QualityMap)
    part = found[10:20, 10:30]
    assert (part.tool, part.best, part.worst, part.shape) == ("SSIM", found.best, found.worst, (10, 20))
    assert (part.damage == found.damage[10:20, 10:30]).all()
    # The result of a computation is a plain array.
    for computed in (found * 2, found.mean(axis=0), found.damage, numpy.asarray(found)):
        assert type(computed) is numpy.ndarray, type(computed)
    assert type(found.mean()) is numpy.float32
    again = pickle.loads(pickle.dumps(found))
    assert (again == found).all() and (again.tool, again.best, again.worst) == (found.tool, found.best, found.worst)


def test_maps_of_pictures_without_reference():
    able = [tool.name for tool in list_tools() if tool.available and tool.has_map and tool.type == "NR"]
    assert "Fused-NR" in able
    for name in able:
        assert numpy.isfinite(Metric(name).map(CODED)).all()


def test_a_region_is_the_picture_cut_out(rows, coded, original):
    box = (16, 8, 120, 100)
    cut = (slice(8, 108), slice(16, 136))
    for name in ("SSIM", "VIF", "BRISQUE"):
        assert Metric(name)(coded, original, region=box) == score(coded[cut], original[cut], name)
    assert score(coded, original, region=numpy.array(box)) == score(coded[cut], original[cut])
    [row] = rows(CODED, "--reference", ORIGINAL, "--tool", "SSIM", "--region", "bird=100,50,300,200")
    assert Metric("SSIM").measure(CODED, ORIGINAL, region=(100, 50, 300, 200)).raw_score == row["raw_score"]
    assert Metric("SSIM").map(coded, original, region=box).shape < (100, 120)


def test_many_pictures_have_the_scores_of_each(coded, original):
    pictures = [coded, CODED, BLURRED, Picture(ORIGINAL), original]
    references = [original, ORIGINAL, ORIGINAL, BLURRED, coded]
    expected = [score(*pair, "GMSD") for pair in zip(pictures, references)]
    for count in (None, 1, 2, 3, 16):
        assert score_many(pictures, references, "GMSD", threads=count).tolist() == expected
    assert Metric("GMSD").many(iter(pictures), tuple(references)).tolist() == expected
    column = numpy.empty(5, object)
    column[:] = references
    assert score_many(pictures, column, "GMSD").tolist() == expected


def test_one_reference_for_all(original, coded):
    noisy = original ^ 1
    expected = [score(coded, original, "SSIM"), score(noisy, original, "SSIM")]
    for reference in (original, Picture(original), Picture(original).to_png()):
        assert score_many([coded, noisy], reference).tolist() == expected


def test_several_tools_in_columns(coded, original):
    tools = ["SSIM", Metric("PSNR"), "BRISQUE"]
    found = score_many([coded, original], [original, coded], tools)
    assert found.shape == (2, 3) and found.dtype == numpy.float64
    assert found[0].tolist() == [score(coded, original, tool) for tool in tools]
    assert score_many([], None, tools).shape == (0, 3) and score_many([], None).shape == (0,)


def test_a_picture_that_cannot_be_scored(coded, original):
    pictures = [coded, coded[:100], "missing.png", coded.astype(int)]
    with pytest.raises(PairError, match="the reference is 240x180 but the image is 240x100") as caught:
        score_many(pictures, original)
    assert caught.value.__notes__ == ["at index 1 of the images"]
    with pytest.raises(MissingFileError):
        score_many(pictures[2:], original)
    found = score_many(pictures, original, errors="nan")
    assert found[0] == score(coded, original) and numpy.isnan(found[1:]).all()


def test_the_table(coded, original):
    table = score_table([coded, "missing.png"], original, ["Fused-FR", "Noise"])
    names = ["Fused-FR", "Fused-FR_normalized", "Fused-FR_low", "Fused-FR_high", "Fused-FR_error"]
    assert list(table) == [*names, "Noise", "Noise_normalized", "Noise_error"]
    measured = Metric("Fused-FR").measure(coded, original)
    row = [table[name][0] for name in names]
    assert row == [measured.raw_score, measured.normalized_score, *measured.interval, None]
    assert all(math.isnan(table[name][1]) for name in names[:-1])
    assert table["Noise_error"] == [None, "missing.png: no such file"]
    assert table["Noise"][0] == score(coded, tool="Noise") and math.isnan(table["Noise_normalized"][0])


def test_progress_is_told(coded, original):
    heard: list[tuple[int, int]] = []
    score_many([coded] * 5, original, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(number, 5) for number in range(1, 6)]


def test_what_progress_raises_ends_the_work(original):
    asked: list[int] = []

    class Lazy:
        def __array__(self, dtype: object = None, copy: object = None) -> numpy.ndarray:
            asked.append(1)
            return original

    def stop(done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        score_many([Lazy() for _ in range(500)], original, "MAD", progress=stop)
    assert len(asked) < 500
    assert score(original, original) == 1.0


def test_pictures_are_worked_on_at_the_same_time(original):
    """Each image waits for another one, which deadlocks on one thread or with the interpreter lock held."""
    both = threading.Barrier(2, timeout=20)

    class Patient:
        def __array__(self, dtype: object = None, copy: object = None) -> numpy.ndarray:
            both.wait()
            return original

    assert score_many([Patient(), Patient()], original, threads=2).tolist() == [1.0, 1.0]


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_changes_no_score():
    expected = [score(CODED, ORIGINAL, name) for name in ("FSIM", "VIF", "Fused-NR")]
    for count in (1, 3):
        agenticiqa.set_threads(count)
        assert agenticiqa.threads() == count
        assert [score(CODED, ORIGINAL, name) for name in ("FSIM", "VIF", "Fused-NR")] == expected
        assert score_many([CODED] * 4, ORIGINAL, "FSIM").tolist() == expected[:1] * 4


def test_a_metric_of_other_settings(tmp_path):
    (tmp_path / "pipeline.yaml").write_text("images:\n  max_pixels: 1000\n")
    metric = Metric("PSNR", config=tmp_path)
    with pytest.raises(agenticiqa.PictureError, match="more than the limit of 1000"):
        metric(CODED, ORIGINAL)
    assert len(list_tools(config=tmp_path)) == len(list_tools())
