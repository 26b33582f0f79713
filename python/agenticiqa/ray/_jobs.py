"""The two jobs: scores by tools, and answers of the agent."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow
import ray
import ray.data

from .. import _native
from .._agent import overrides
from .._metrics import Metric
from ..errors import SettingsError
from ._limiter import Limiter
from ._shards import Shards, is_done
from ._workers import Assessor, Columns, Question, Scorer

if TYPE_CHECKING:
    from ray.data import Dataset

# Rows of a batch: what is lost with a worker, and the rows of a file.
_SCORED_AT_ONCE = 64
_ASSESSED_AT_ONCE = 16
# An actor that waits for models has two batches in hand, and so many rows in each for every assessment at a time: with fewer, places would wait for the slowest
# row of a batch.
_ROWS_A_PLACE = 2
# Files that one task reads.
_FILES_AT_ONCE = 64
# A worker that waits for models computes little.
_WAITING_CPUS = 0.5
_WAITING_PLACES = 8


def score(
    dataset: Dataset,
    tools: Sequence[str],
    *,
    image: str | None = None,
    reference: str | None = None,
    key: str | None = None,
    output: str | os.PathLike[str] | None = None,
    retry_errors: bool = True,
    keep_images: bool = False,
    batch_size: int = _SCORED_AT_ONCE,
    actors: int | tuple[int, int] | None = None,
    cpus_per_actor: float = 1,
) -> Dataset:
    """The rows with the columns of `agenticiqa.score_table`: for each tool ``NAME``, ``NAME_normalized`` and ``NAME_error``.

    ``image`` and ``reference`` are columns of paths, bytes of files or arrays; by default those with the usual names. The images themselves are left out of
    the result unless ``keep_images``.

    Without ``output`` nothing happens before somebody asks for rows. With it, the job is run: results are written there as Parquet (a
    folder, or an address such as ``s3://bucket/folder``), rows that are there already (by ``key``, a column that tells rows apart) are not computed again, failed ones only if
    ``retry_errors``, and the rows of the output are given back.

    ``actors`` is the number of workers, or the least and the most; ``cpus_per_actor`` what each takes of the cluster, and the number of its threads.
    """
    for tool in tools:
        Metric(tool)  # An unknown tool is said here and not by workers that keep starting.
    if not tools:
        raise SettingsError("no tool is named: give at least one, such as Fused-NR")
    columns = Columns(image, reference, key)
    threads = max(1, int(cpus_per_actor))

    def arguments(shards: Shards | None) -> dict[str, Any]:
        return {
            "tools": list(tools),
            "columns": columns,
            "shards": shards,
            "threads": threads,
            "keep_images": keep_images,
        }

    pool = _pool(actors, cpus_per_actor)
    made = {Metric(tool).name for tool in tools}
    return _run(dataset, Scorer, arguments, pool, batch_size, columns, made, output, retry_errors)


def assess(
    dataset: Dataset,
    query: str | None = None,
    *,
    image: str | None = None,
    reference: str | None = None,
    key: str | None = None,
    tools: Sequence[str] = (),
    timeout: float | None = None,
    backend: str | None = None,
    config: str | None = None,
    settings: Mapping[str, object] | None = None,
    cache: str | os.PathLike[str] | None = None,
    limiter: Limiter | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    output: str | os.PathLike[str] | None = None,
    retry_errors: bool = True,
    batch_size: int | None = None,
    actors: int | tuple[int, int] | None = None,
    cpus_per_actor: float | None = None,
    at_a_time: int | None = None,
) -> Dataset:
    """The rows with ``final_answer``, ``quality_score``, ``quality_level``, ``status``, ``error`` and ``record``, the record that ``agenticiqa batch`` writes.

    Rows are lines of a manifest: ``query`` (or the argument, for all), ``image_path`` (or a column of bytes), and, if they have them, ``reference_path``, ``options``, ``regions`` and
    anything else, which is copied to ``input`` of the record. ``backend``, ``config``, ``settings`` and ``cache`` are those of `agenticiqa.Agent`; a ``cache`` that all nodes
    can reach is shared by them. Keys of models are read from the environment of the workers.

    Workers that ask a model wait more than they compute: each takes a fraction of a CPU (``cpus_per_actor``) and has several assessments ``at_a_time``. ``limits`` (those
    of the settings by default) hold for all workers together; a ``limiter`` can be shared by several jobs. ``output``, ``key``, ``retry_errors`` and ``actors`` are those of `score`.
    """
    waits, configured = _configured(backend, config, settings)
    cpus = cpus_per_actor if cpus_per_actor is not None else (_WAITING_CPUS if waits else 1)
    places = at_a_time if at_a_time is not None else (_WAITING_PLACES if waits else max(1, int(cpus)))
    batches = min(2, places) if waits else 1
    if limiter is not None and limits is not None:
        raise SettingsError("limits and a limiter were given: give one of them")
    limits = configured if limits is None else limits
    if waits and limiter is None and limits:
        limiter = Limiter(limits)
    question = Question(
        query=query,
        tools=tuple(tools),
        timeout=timeout,
        backend=backend,
        config=config,
        settings=dict(settings or {}),
        cache=None if cache is None else os.fspath(cache),
        limiter=limiter,
        at_a_time=max(1, places // batches),
    )
    columns = Columns(image, reference, key)

    def arguments(shards: Shards | None) -> dict[str, Any]:
        return {"question": question, "columns": columns, "shards": shards, "threads": max(1, int(cpus))}

    rows = batch_size if batch_size is not None else max(_ASSESSED_AT_ONCE, _ROWS_A_PLACE * places)
    pool = _pool(actors, cpus, batches)
    return _run(dataset, Assessor, arguments, pool, rows, columns, {"record"}, output, retry_errors)


def _configured(
    backend: str | None, config: str | None, settings: Mapping[str, object] | None
) -> tuple[bool, Mapping[str, Mapping[str, float]]]:
    """Whether models are asked, and how fast they may be by the settings."""
    found = json.loads(_native.settings(config, backend, overrides(settings)))
    return any(name != "builtin" for name in found["backends"]), found["limits"]


def _pool(actors: int | tuple[int, int] | None, cpus: float, batches: int = 1) -> dict[str, Any]:
    """How many workers there are, what each takes, and on how many batches it works. Some of the cluster is left for those who read."""
    if actors is None:
        most = max(1, int((ray.cluster_resources().get("CPU", 1) - 1) / cpus))
        actors = (1, most)
    least, most = (actors, actors) if isinstance(actors, int) else actors
    strategy = ray.data.ActorPoolStrategy(
        min_size=least,
        max_size=most,
        # What it works on, and as much that is on its way.
        max_tasks_in_flight_per_actor=2 * batches,
        max_concurrent_calls_per_actor=batches,
        enable_true_multi_threading=batches > 1,
    )
    return {"compute": strategy, "num_cpus": cpus}


def _run(
    dataset: Dataset,
    worker: type,
    arguments: Any,
    pool: dict[str, Any],
    batch_size: int,
    columns: Columns,
    made: set[str],
    output: str | os.PathLike[str] | None,
    retry_errors: bool,
) -> Dataset:
    def mapped(rows: Dataset, shards: Shards | None) -> Dataset:
        # Blocks of the size of a batch: a batch is done again whole, and whole blocks are what Ray does again.
        blocks = rows.repartition(target_num_rows_per_block=batch_size)
        constructor = arguments(shards)
        return blocks.map_batches(
            worker, batch_size=batch_size, batch_format="pyarrow", fn_constructor_kwargs=constructor, **pool
        )

    if output is None:
        return mapped(dataset, None)
    names = dataset.schema().names if dataset.schema() is not None else []
    shards = Shards(os.fspath(output), columns.key_of(names)) if names else None
    if shards is None:
        return dataset
    done = ray.put(shards.tidy(made, retry_errors))
    missing = dataset.map_batches(
        _missing, batch_format="pyarrow", batch_size=None, fn_kwargs={"done": done, "key": shards.key}
    )
    for _ in mapped(missing, shards).iter_batches(batch_size=None, batch_format="pyarrow"):
        pass
    shards.tidy(made, retry_errors=False)
    return _written(shards)


def _written(shards: Shards) -> Dataset:
    """The rows of the output. Read by tasks, which Ray does again if their node is lost; ``ray.data.read_parquet`` has actors, which it does not."""
    files = ray.data.from_arrow(pyarrow.table({"file": pyarrow.array(shards.files(), pyarrow.string())}))
    blocks = files.repartition(target_num_rows_per_block=_FILES_AT_ONCE)
    return blocks.map_batches(_read, batch_format="pyarrow", batch_size=_FILES_AT_ONCE, fn_kwargs={"shards": shards})


def _read(files: pyarrow.Table, shards: Shards) -> pyarrow.Table:
    tables = [shards.read(path) for path in files["file"].to_pylist()]
    return pyarrow.concat_tables(tables, promote_options="default")


def _missing(table: pyarrow.Table, done: Any, key: str) -> pyarrow.Table:
    """The rows that the output does not have."""
    known = ray.get(done) if isinstance(done, ray.ObjectRef) else done
    return table.filter(pyarrow.array(~is_done(known, table[key].to_pylist())))
