"""Spark with two executor processes of one core each. Their results equal those of this process."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import numpy
import pyspark
import pytest
from PIL import Image
from pyspark.sql import SparkSession

import agenticiqa
from agenticiqa import spark as on_spark

PACKAGE = Path(agenticiqa.__file__).parents[1]
TOOLS = ["PSNR", "SSIM", "Fused-FR", "BRISQUE", "Fused-NR"]
PICTURES = 40
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    work = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        # Workers run in the driver and start the executors, which inherit its environment.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")])))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # Executors write logs to SPARK_HOME/work, which by default is in the installed package.
        home = work / "home"
        home.mkdir()
        for part in ("bin", "jars"):
            (home / part).symlink_to(Path(pyspark.__file__).parent / part)
        patch.setenv("SPARK_HOME", str(home))
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "512m")
            .config("spark.executor.memory", "512m")
            # Three short-lived Java processes on few cores: less compilation starts them faster.
            .config("spark.driver.extraJavaOptions", QUICK)
            .config("spark.executor.extraJavaOptions", QUICK)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.local.dir", str(work / "local"))
            .config("spark.sql.warehouse.dir", str(work / "warehouse"))
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        yield session
        session.stop()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Names, images and references: 40 pairs of 64x64. The last two images are a truncated and a missing file."""
    folder = tmp_path_factory.mktemp("photos")
    generator = numpy.random.default_rng(7)
    across, down = numpy.meshgrid(numpy.arange(64), numpy.arange(64))
    rows = []
    for index in range(PICTURES):
        waves = 120 + 60 * numpy.sin(across / (3 + index)) + 50 * numpy.cos(down / (5 + index % 7))
        clean = numpy.stack([waves, waves * 0.9, 255 - waves], axis=2).clip(0, 255).astype(numpy.uint8)
        noise = generator.normal(0, 1 + index, clean.shape)
        path, reference = folder / f"{index:02}.png", folder / f"{index:02}-reference.png"
        Image.fromarray((clean + noise).clip(0, 255).astype(numpy.uint8)).save(path)
        Image.fromarray(clean).save(reference)
        rows.append((f"photo {index}", str(path), str(reference)))
    cut, missing = Path(rows[-2][1]), Path(rows[-1][1])
    cut.write_bytes(cut.read_bytes()[:1000])
    missing.unlink()
    return rows


def same(column, expected) -> bool:
    """Returns whether columns are equal, with null in Spark for NaN."""
    return column == [None if isinstance(value, float) and math.isnan(value) else value for value in expected]


def assert_table(rows, table):
    for name, expected in table.items():
        assert same([row[name] for row in rows], list(expected)), name


def test_scores_of_paths_are_those_of_this_process(spark, pairs):
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize(pairs, 5), "name string, path string, reference string"
    )
    scored = on_spark.score(frame, TOOLS, reference="reference")
    rows = scored.collect()
    assert scored.columns == ["name", "path", "reference", *agenticiqa.score_table([], None, TOOLS)]
    assert [tuple(row)[:3] for row in rows] == pairs
    assert_table(
        rows, agenticiqa.score_table([path for _, path, _ in pairs], [reference for _, _, reference in pairs], TOOLS)
    )
    bad = {row["name"]: row for row in rows if row["SSIM"] is None}
    assert sorted(bad) == ["photo 38", "photo 39"]
    assert bad["photo 39"]["SSIM_error"] == f"{pairs[-1][1]}: no such file"
    assert "38.png" in bad["photo 38"]["SSIM_error"] and bad["photo 38"]["Fused-NR_error"]


def test_scores_of_bytes_are_those_of_this_process(spark, pairs):
    folder = Path(pairs[0][1]).parent
    frame = spark.read.format("binaryFile").option("pathGlobFilter", "??.png").load(str(folder)).repartition(3)
    rows = on_spark.score(frame, ["BRISQUE", "Fused-NR"], image="content").collect()
    assert sorted(Path(row["path"]).name for row in rows) == [f"{index:02}.png" for index in range(PICTURES - 1)]
    assert_table(rows, agenticiqa.score_table([bytes(row["content"]) for row in rows], None, ["BRISQUE", "Fused-NR"]))
    assert [Path(row["path"]).name for row in rows if row["BRISQUE_error"]] == ["38.png"]


def test_executors_are_other_processes_with_one_thread(spark):
    def look(rows):
        return {
            "process": [os.getpid()] * len(rows),
            "threads": [agenticiqa.threads()] * len(rows),
            "file": [agenticiqa.__file__] * len(rows),
        }

    seen = on_spark._with(
        spark.range(8, numPartitions=2), ["process", "threads", "file"], {"process", "threads"}, look
    ).collect()
    assert len({row["process"] for row in seen}) == 2 and os.getpid() not in {row["process"] for row in seen}
    assert {(row["threads"], row["file"]) for row in seen} == {(1, agenticiqa.__file__)}


def test_scores_are_computed_once_and_aggregate(spark, pairs):
    frame = spark.createDataFrame(pairs, "name string, path string, reference string")
    scored = on_spark.score(frame, ["PSNR"], reference="reference")
    good = scored.where("PSNR > 0").select("PSNR")
    assert good._jdf.queryExecution().executedPlan().toString().count("MapInArrow") == 1
    mean, number = scored.selectExpr("avg(PSNR)", "count(PSNR)").first()
    assert number == PICTURES - 2
    assert mean == pytest.approx(
        numpy.nanmean(agenticiqa.score_table(*zip(*(pair[1:] for pair in pairs)), ["PSNR"])["PSNR"])
    )


def test_rows_without_a_picture_or_a_reference_have_errors(spark, pairs):
    _, path, reference = pairs[0]
    frame = spark.createDataFrame(
        [(path, None), (None, reference), (path, reference)], "path string, reference string"
    ).coalesce(1)
    first, second, third = on_spark.score(frame, ["SSIM", "BRISQUE"], reference="reference").collect()
    assert "reference" in first["SSIM_error"] and first["BRISQUE_error"] is None
    assert second["SSIM_error"] and second["BRISQUE_error"]
    assert third["SSIM_error"] is None and third["SSIM"] == agenticiqa.score(path, reference, "SSIM")


def test_a_second_score_takes_the_place_of_the_first(spark, pairs):
    frame = spark.createDataFrame(pairs[:2], "name string, path string, reference string")
    twice = on_spark.score(on_spark.score(frame, ["BRISQUE"]), ["BRISQUE"])
    assert twice.columns == ["name", "path", "reference", "BRISQUE", "BRISQUE_normalized", "BRISQUE_error"]


def test_bad_arguments_are_told_before_the_job(spark, pairs):
    frame = spark.createDataFrame(pairs, "name string, path string, reference string")
    with pytest.raises(agenticiqa.UnknownToolError):
        on_spark.score(frame, ["SIMM"])
    with pytest.raises(agenticiqa.SettingsError, match="no column picture: it has name, path, reference"):
        on_spark.score(frame, ["SSIM"], image="picture")
    with pytest.raises(agenticiqa.SettingsError):
        on_spark.assess(frame, "Is it noisy?", backend="nobody")


def test_assessments(spark, pairs):
    chosen = [*pairs[:3], *pairs[-2:]]
    frame = spark.createDataFrame(chosen, "name string, path string, reference string").coalesce(2)
    rows = on_spark.assess(frame, "Is it noisy?", reference="reference", at_a_time=2).collect()
    assert [row["name"] for row in rows] == [name for name, _, _ in chosen]
    for row in rows[:3]:
        expected = agenticiqa.assess(row["path"], "Is it noisy?", reference=row["reference"])
        assert (row["final_answer"], row["quality_score"], row["quality_level"]) == (
            expected.answer,
            expected.score,
            expected.level,
        )
        assert row["error"] is None
        assert json.loads(row["record"])["summarizer_result"] == expected.to_dict()["summarizer_result"]
    for row, file in zip(rows[3:], ("38.png", "39.png")):
        assert row["final_answer"] is None and row["quality_score"] is None and file in row["error"]


def test_assessments_of_bytes_with_a_question_for_each(spark, pairs):
    content = bytearray(Path(pairs[30][1]).read_bytes())
    frame = spark.createDataFrame([(content, "Is it noisy?"), (content, "Is it blurry?")], "content binary, ask string")
    noisy, blurry = on_spark.assess(frame, image="content", queries="ask").collect()
    assert noisy["final_answer"].startswith("Yes") and blurry["final_answer"].startswith("No")
