"""Folders of photos: rankings and groups."""

from __future__ import annotations

import shutil

import pytest
from conftest import ROOT

import agenticiqa


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTICIQA_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("osprey.jpg", "osprey-blurred.jpg", "regions/landscape.jpg"):
        shutil.copy(ROOT / "examples" / name, folder)
    return folder


def records(table):
    return table if isinstance(table, list) else table.to_dict("records")


def test_photos_are_ranked_best_first(photos):
    (photos / "broken.jpg").write_text("no image")
    rows = records(agenticiqa.rank(photos))
    assert list(rows[0]) == ["error", "image_path", "score", "interval", "rank", "percentile", "main_reason"]
    scores = [row["score"] for row in rows[:3]]
    assert scores == sorted(scores, reverse=True) and rows[0]["rank"] == 1
    assert "not an image" in rows[3]["error"]
    sharpest = records(agenticiqa.rank([photos / "osprey-blurred.jpg", photos / "osprey.jpg"], "sharpness"))
    assert sharpest[0]["image_path"].endswith("osprey.jpg")
    assert (photos.parent / "data/photos").is_dir()


def test_the_better_of_two_photos_of_a_scene_is_kept(photos):
    rows = {row["image_path"].rsplit("/", 1)[1]: row for row in records(agenticiqa.cull(str(photos), cache=False))}
    assert [rows[name]["decision"] for name in ("osprey.jpg", "osprey-blurred.jpg", "landscape.jpg")] == [
        "keep",
        "reject",
        "keep",
    ]
    assert rows["osprey.jpg"]["group"] == rows["osprey-blurred.jpg"]["group"] != rows["landscape.jpg"]["group"]
    assert not (photos.parent / "data").exists()


def test_what_is_not_there_or_needs_a_reference_is_refused(photos):
    with pytest.raises(agenticiqa.PictureError, match="no image there"):
        agenticiqa.rank(photos / "none")
    with pytest.raises(agenticiqa.PairError, match="SSIM compares with a reference"):
        agenticiqa.rank(photos, "SSIM")
    with pytest.raises(agenticiqa.UnknownToolError):
        agenticiqa.rank(photos, "sharpnes")
