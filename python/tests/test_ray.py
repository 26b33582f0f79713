"""Ray Data on a local cluster: a head node and two worker nodes in separate processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy
import psutil
import pyarrow.fs
import pyarrow.parquet
import pytest
import ray
import ray.data
from model import serve
from moto.server import ThreadedMotoServer
from PIL import Image
from ray.cluster_utils import Cluster
from ray.data.extensions import ArrowTensorArray

import agenticiqa
import agenticiqa.ray as iqa
from agenticiqa.ray._shards import Shards, digests, is_done
from agenticiqa.ray._workers import Assessor, Columns, Question, Scorer

TOOLS = ["PSNR", "SSIM"]
# Workers inherit the environment of their node, so API keys must be set there.
ENVIRONMENT = {"OPENAI_API_KEY": "sk-not-a-key", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_DEDUP_LOGS": "0"}


@pytest.fixture(scope="module")
def cluster():
    os.environ.update(ENVIRONMENT)
    # No dashboard and no agents for it: they take longer to start than a node.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def picture(number: int, size: tuple[int, int] = (40, 48)) -> numpy.ndarray:
    random = numpy.random.default_rng(number)
    return random.integers(0, 256, (*size, 3), dtype=numpy.uint8)


@pytest.fixture(scope="module")
def photos(tmp_path_factory) -> Path:
    """Images, and copies without their lowest bits."""
    folder = tmp_path_factory.mktemp("photos")
    for kind in ("coded", "original"):
        (folder / kind).mkdir()
    for number in range(24):
        Image.fromarray(picture(number)).save(folder / "original" / f"{number:02}.png")
        Image.fromarray(picture(number) // 16 * 16).save(folder / "coded" / f"{number:02}.png")
    return folder


def rows(photos: Path) -> list[dict]:
    names = sorted(path.name for path in (photos / "coded").iterdir())
    return [
        {
            "sample_id": name,
            "image_path": str(photos / "coded" / name),
            "reference_path": str(photos / "original" / name),
        }
        for name in names
    ]


def by_key(dataset, key: str = "sample_id") -> dict:
    found = dataset.take_all()
    assert len({row[key] for row in found}) == len(found), "a row is there twice"
    return {row[key]: row for row in found}


def test_scores_are_those_of_one_process_and_what_is_wrong_with_a_row_is_a_value(cluster, photos, tmp_path):
    (tmp_path / "text.png").write_text("hello")
    bad = [
        {
            "sample_id": "missing",
            "image_path": str(tmp_path / "none.png"),
            "reference_path": str(tmp_path / "none.png"),
        },
        {"sample_id": "text", "image_path": str(tmp_path / "text.png"), "reference_path": str(tmp_path / "text.png")},
        {"sample_id": "alone", "image_path": rows(photos)[0]["image_path"], "reference_path": None},
    ]
    good = rows(photos)
    expected = agenticiqa.score_table(
        [row["image_path"] for row in good], [row["reference_path"] for row in good], TOOLS
    )
    scored = by_key(iqa.score(ray.data.from_items(good + bad), TOOLS, batch_size=5, actors=2))
    for place, row in enumerate(good):
        for tool in TOOLS:
            assert scored[row["sample_id"]][tool] == expected[tool][place]
            assert scored[row["sample_id"]][f"{tool}_normalized"] == expected[f"{tool}_normalized"][place]
            assert scored[row["sample_id"]][f"{tool}_error"] is None
    assert scored["missing"]["SSIM"] is None and scored["missing"]["SSIM_error"].endswith("none.png: no such file")
    assert "it looks like text" in scored["text"]["SSIM_error"]
    assert "SSIM compares with a reference" in scored["alone"]["SSIM_error"]


def test_a_metric_travels_to_an_actor(cluster, photos):
    class Keeper:
        def __init__(self, metric: agenticiqa.Metric) -> None:
            self.metric = metric

        def score(self, path: str) -> float:
            return self.metric(path)

    metric, paths = agenticiqa.Metric("PIQE"), [row["image_path"] for row in rows(photos)[:4]]
    keeper = ray.remote(num_cpus=0)(Keeper).remote(metric)
    assert ray.get([keeper.score.remote(path) for path in paths]) == [metric(path) for path in paths]


def test_what_cannot_be_begun_is_refused_before_a_worker_starts(cluster, photos, tmp_path):
    with pytest.raises(agenticiqa.UnknownToolError, match="SSIMM"):
        iqa.score(ray.data.from_items(rows(photos)), ["SSIMM"])
    with pytest.raises(agenticiqa.SettingsError, match="name one with key="):
        iqa.score(ray.data.from_items([{"image": "a.png"}]), ["PIQE"], output=str(tmp_path / "out"))
    with pytest.raises(agenticiqa.SettingsError, match="requests_per_minute"):
        iqa.assess(ray.data.from_items(rows(photos)), backend="openai.x", limits={"openai.*": {"requests": 1}})


def test_columns_of_bytes_and_of_arrays_are_pictures(photos):
    """Tests a worker directly, without a cluster."""
    files = sorted((photos / "coded").iterdir())
    expected = [agenticiqa.score(path, tool="PIQE") for path in files]
    names = pyarrow.array([path.name for path in files])
    scorer = Scorer(["piqe"], Columns(), None, 1, keep_images=False)
    of_bytes = scorer(pyarrow.table({"path": names, "bytes": [path.read_bytes() for path in files]}))
    assert of_bytes["PIQE"].to_pylist() == expected
    assert of_bytes.column_names == ["path", "PIQE", "PIQE_normalized", "PIQE_error"]
    arrays = [numpy.asarray(Image.open(path)) for path in files]
    for tensors in (
        pyarrow.FixedShapeTensorArray.from_numpy_ndarray(numpy.stack(arrays)),
        ArrowTensorArray.from_numpy(arrays),
    ):
        assert scorer(pyarrow.table({"path": names, "image": tensors}))["PIQE"].to_pylist() == expected


def test_rows_of_bytes_are_assessed_and_a_shared_cache_is_used(photos, tmp_path):
    files = sorted((photos / "coded").iterdir())[:3]
    table = pyarrow.table(
        {
            "path": [path.name for path in files],
            "bytes": [path.read_bytes() for path in files],
            "mos": [1.5, 2.5, float("nan")],
        }
    )
    cached = []
    for _ in range(2):
        question = Question("Is it noisy?", cache=str(tmp_path / "cache"), at_a_time=2)
        answers = Assessor(question, Columns(), None, 1)(table).to_pylist()
        assert all(row["final_answer"].startswith("Yes") and row["error"] is None for row in answers)
        records = [json.loads(row["record"]) for row in answers]
        assert [(record["image_path"], record["input"]["mos"]) for record in records] == [
            (path.name, mos) for path, mos in zip(files, (1.5, 2.5, None))
        ]
        cached.append({log["cached"] for record in records for log in record["executor_evidence"]["tool_logs"]})
    assert cached == [{False}, {True}]


def test_a_second_run_computes_only_what_is_missing(cluster, photos, tmp_path):
    output, late = str(tmp_path / "out"), tmp_path / "late.png"
    broken = [{"sample_id": "late", "image_path": str(late), "reference_path": None}]
    first = iqa.score(ray.data.from_items(rows(photos)[:10] + broken), ["PIQE"], output=output, batch_size=4, actors=1)
    assert first.count() == 11 and "PIQE" in first.schema().names
    written = {path: path.stat().st_mtime_ns for path in Path(output).glob("*.parquet")}
    whole = [path for path in written if "late" not in pyarrow.parquet.read_table(path)["sample_id"].to_pylist()]
    assert len(written) == 3 and len(whole) == 2
    Image.fromarray(picture(99)).save(late)
    scored = by_key(
        iqa.score(ray.data.from_items(rows(photos) + broken), ["PIQE"], output=output, batch_size=4, actors=1)
    )
    assert len(scored) == 25
    assert scored["late"]["PIQE"] == agenticiqa.score(late, tool="PIQE")
    assert {path: path.stat().st_mtime_ns for path in whole} == {path: written[path] for path in whole}
    with pytest.raises(agenticiqa.SettingsError, match="written by a different job"):
        iqa.score(ray.data.from_items(rows(photos)), ["NIQE"], output=output)


@pytest.fixture
def bucket():
    """Starts a local S3 server and returns the URL of its bucket."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    place = "{}:{}".format(*server.get_host_and_port())
    store = pyarrow.fs.S3FileSystem(
        access_key="key",
        secret_key="secret",
        endpoint_override=place,
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )
    store.create_dir("bucket")
    yield (
        store,
        f"s3://key:secret@bucket/{{}}?scheme=http&endpoint_override={place.replace(':', '%3A')}&region=us-east-1",
    )
    server.stop()


def test_an_object_store_is_read_and_written(cluster, photos, bucket):
    store, address = bucket
    files = sorted((photos / "coded").iterdir())[:8]
    for path in files:
        with store.open_output_stream(f"bucket/photos/{path.name}") as stream:
            stream.write(path.read_bytes())
    for _ in range(2):
        pictures = iqa.read_images(address.format("photos"))
        scored = by_key(iqa.score(pictures, ["PIQE"], output=address.format("scores"), batch_size=4, actors=1), "path")
    assert {path.rsplit("/")[-1]: row["PIQE"] for path, row in scored.items()} == {
        path.name: agenticiqa.score(path, tool="PIQE") for path in files
    }
    written = store.get_file_info(pyarrow.fs.FileSelector("bucket/scores"))
    assert len(written) == 2 and all(info.path.endswith(".parquet") for info in written)


def small_pictures(folder: Path, count: int) -> list[dict]:
    for number in range(count):
        Image.fromarray(picture(number, (32, 32))).save(folder / f"{number:04}.png", compress_level=1)
    return [{"sample_id": f"{number:04}", "image_path": str(folder / f"{number:04}.png")} for number in range(count)]


def test_a_node_that_is_lost_costs_no_row(cluster, tmp_path):
    """A worker node is killed while a job over 2,000 images runs."""
    samples, output = small_pictures(tmp_path, 2000), tmp_path / "out"
    doomed = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    raylet = psutil.Process(doomed.all_processes["raylet"][0].process.pid)
    killed: list[int] = []

    def is_at_work() -> bool:
        """Returns whether results are written and a worker runs on the node."""
        return len(list(output.glob("*.parquet"))) >= 8 and any(
            "Scorer" in child.name() + " ".join(child.cmdline()) for child in raylet.children()
        )

    def kill() -> None:
        while not is_at_work():
            time.sleep(0.02)
        killed.append(len(list(output.glob("*.parquet"))))
        cluster.remove_node(doomed, allow_graceful=False)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    # As many workers as fit, so that each node has some.
    result = iqa.score(
        ray.data.from_items(samples, override_num_blocks=50), ["PIQE"], output=str(output), batch_size=16, actors=4
    )
    assert killed and killed[0] < 100, "the node was killed after the job, not in its middle"
    counts = Counter(row["sample_id"] for row in result.take_all())
    assert set(counts) == {sample["sample_id"] for sample in samples}
    assert set(counts.values()) == {1}


DRIVER = """
import sys, ray, agenticiqa.ray as iqa
address, folder, output = sys.argv[1:]
ray.init(address=address, log_to_driver=False)
images = iqa.read_images(folder)
print(iqa.score(images, ["PIQE"], output=output, batch_size=8, actors=1).count())
"""


def test_a_killed_driver_is_started_again_and_goes_on(cluster, tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    small_pictures(folder, 400)
    command = [sys.executable, "-c", DRIVER, cluster.address, str(folder), str(output)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(list(output.glob("*.parquet"))) < 3:
        assert driver.poll() is None, "the job ended before it could be killed"
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(2)
    before = {path.name: path.stat().st_mtime_ns for path in output.glob("*.parquet")}
    assert 3 <= len(before) < 50
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split()[-1:] == ["400"], done.stderr[-2000:]
    after = {path.name: path.stat().st_mtime_ns for path in output.glob("*.parquet")}
    assert {name: after[name] for name in before} == before, "what was written is computed again"


def without_times(record: dict) -> dict:
    """Removes the fields that differ between runs."""
    metadata = {key: value for key, value in record["metadata"].items() if "time" not in key}
    evidence = record.get("executor_evidence")
    if evidence:
        differs = ("execution_time", "timestamp", "cached")
        logs = [{key: value for key, value in log.items() if key not in differs} for log in evidence["tool_logs"]]
        evidence = evidence | {"tool_logs": logs}
    return record | {"metadata": metadata, "executor_evidence": evidence}


def test_records_are_those_of_the_batch(cluster, photos, program, tmp_path):
    lines = [row | {"query": "Is it noisy?", "mos": 3.25, "metadata": {"level": 2}} for row in rows(photos)[:6]]
    lines += [
        {"sample_id": "choice", "query": "Which?", "image_path": lines[0]["image_path"], "options": ["Blur", "Noise"]},
        {"sample_id": "gone", "query": "Is it noisy?", "image_path": str(tmp_path / "gone.png")},
        {"sample_id": "choice", "query": "Twice?", "image_path": lines[0]["image_path"]},
        {"query": "Nameless?", "image_path": lines[0]["image_path"]},
    ]
    manifest, output = tmp_path / "in.jsonl", tmp_path / "batch.jsonl"
    manifest.write_text("\n".join(map(json.dumps, lines)) + "\nnot JSON\n")
    done = program("batch", "--input", manifest, "--output", output)
    assert done.returncode == 1, done.stderr
    expected = {record["sample_id"]: record for record in map(json.loads, output.read_text().splitlines())}
    assert len(expected) == 11
    answers = by_key(iqa.assess(iqa.read_manifest(manifest), actors=1, output=str(tmp_path / "out")))
    assert set(answers) == set(expected)
    for name, record in expected.items():
        assert without_times(json.loads(answers[name]["record"])) == without_times(record), name
    assert answers["gone"]["status"] == "error" and "no such file" in answers["gone"]["error"]


def test_limits_hold_for_all_workers_together(cluster, photos):
    """Two workers with several concurrent assessments each share one limit."""
    with serve() as model:
        # In grounded mode, contradicted claims would lead to new plans.
        settings = {"providers.openai.base_url": model.url, "pipeline.mode": "paper"}
        limits = {"openai.*": {"requests_per_minute": 240}}
        dataset = ray.data.from_items(rows(photos)[:8]).map(lambda row: {**row, "query": "Rate it."})
        options = {"backend": "openai.same", "settings": settings, "limits": limits}
        answers = iqa.assess(dataset, actors=2, at_a_time=4, batch_size=4, cpus_per_actor=0.5, **options).take_all()
    assert [row["error"] for row in answers] == [None] * 8
    records = [json.loads(row["record"]) for row in answers]
    assert {record["metadata"]["backends"]["planner"] for record in records} == {"openai.same"}
    assert len(model.asked) >= 8 * 3
    # Four calls per second from two workers. The limit is on starts; a busy machine may delay a few arrivals into the
    # window. Without a common limit each worker would make four calls per second.
    assert model.busiest(2.0) <= 2 * 4 + 3, sorted(moment - min(model.asked) for moment in model.asked)


def test_shards_leave_each_row_once(tmp_path):
    """Two runs may write the same row, if the first one crashed at the worst moment."""
    shards = Shards(str(tmp_path), "name")

    def table(names: list[str], errors: list[str | None]) -> pyarrow.Table:
        column = pyarrow.array(errors, pyarrow.string())
        return pyarrow.table({"name": names, "X": [1.0] * len(names), "X_error": column})

    shards.write(shards.path(["a", "b"]), table(["a", "b"], [None, None]))
    shards.write(shards.path(["b", "c"]), table(["b", "c"], [None, "no such file"]))
    shards.write(shards.path(["d"]), table(["d"], ["no such file"]))
    with pytest.warns(UserWarning, match="removed 1 rows of .* because another row has the same name"):
        done = shards.tidy({"X"}, retry_errors=True)
    assert is_done(done, ["a", "b", "c", "d", "e"]).tolist() == [True, True, False, False, False]
    names = [name for part in shards.tables() for name in part["name"].to_pylist()]
    assert sorted(names) == ["a", "b"]
    assert not is_done(digests([]), ["a"]).any()
    with pytest.raises(agenticiqa.SettingsError, match="cannot be used"):
        Shards("nonsense://bucket", "name").files()
