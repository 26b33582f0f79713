"""The two jobs: `score` runs tools, `assess` runs the agent."""

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

# Rows per batch. A batch is written as one file, and recomputed if its worker is lost.
_SCORED_AT_ONCE = 64
_ASSESSED_AT_ONCE = 16
# Rows per batch for each concurrent assessment of an actor that calls models. With fewer rows,
# the actor would idle while the slowest row of a batch finishes.
_ROWS_A_PLACE = 2
# Files per read task.
_FILES_AT_ONCE = 64
# CPUs and concurrent assessments of a worker that mostly waits for models.
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
    """Adds the columns of `agenticiqa.score_table`: for each tool ``NAME``, ``NAME_normalized`` and ``NAME_error``.

    ``image`` and ``reference`` are columns of paths, file bytes or arrays. By default, columns with
    common names are used, such as ``bytes`` or ``image_path``. Columns of bytes and arrays are
    dropped unless ``keep_images``.

    Without ``output``, evaluation is lazy. With ``output``, a folder or a URL such as
    ``s3://bucket/folder``, the job runs at once, writes Parquet files and returns the written rows.
    Rows that the output already has are skipped; ``key`` is the column that identifies a row.
    Failed rows are computed again if ``retry_errors``.

    ``actors`` is the number of workers, or a minimum and a maximum. ``cpus_per_actor`` is the
    number of CPUs and threads of each worker.
    """
    for tool in tools:
        Metric(tool)  # Reports an unknown tool here and not in workers that restart forever.
    if not tools:
        raise SettingsError("no tool given: name at least one, such as Fused-NR")
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
    """Adds the columns ``final_answer``, ``quality_score``, ``quality_level``, ``status``, ``error`` and ``record``.

    ``record`` is the record that ``agenticiqa batch`` writes. Rows have the fields of a manifest:
    ``query`` (or the argument, for all rows), ``image_path`` (or a column of bytes), and optionally
    ``reference_path``, ``options`` and ``regions``. Other fields are copied to ``input`` of the
    record.

    ``backend``, ``config``, ``settings`` and ``cache`` are those of `agenticiqa.Agent`. A ``cache``
    that all nodes can reach is shared. API keys are read from the environment of the workers.

    Workers that call a model mostly wait. Each of them takes a fraction of a CPU
    (``cpus_per_actor``) and runs several assessments concurrently (``at_a_time``). ``limits`` apply
    to all workers together and default to the settings; pass the same ``limiter`` to several jobs
    to share limits. ``output``, ``key``, ``retry_errors`` and ``actors`` are those of `score`.
    """
    waits, configured = _configured(backend, config, settings)
    cpus = cpus_per_actor if cpus_per_actor is not None else (_WAITING_CPUS if waits else 1)
    places = at_a_time if at_a_time is not None else (_WAITING_PLACES if waits else max(1, int(cpus)))
    batches = min(2, places) if waits else 1
    if limiter is not None and limits is not None:
        raise SettingsError("limits and limiter cannot be used together: pass one of them")
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
    """Returns whether the settings use a model, and the rate limits of the settings."""
    found = json.loads(_native.settings(config, backend, overrides(settings)))
    return any(name != "builtin" for name in found["backends"]), found["limits"]


def _pool(actors: int | tuple[int, int] | None, cpus: float, batches: int = 1) -> dict[str, Any]:
    """Returns the actor pool options. By default one CPU of the cluster is left for reading."""
    if actors is None:
        most = max(1, int((ray.cluster_resources().get("CPU", 1) - 1) / cpus))
        actors = (1, most)
    least, most = (actors, actors) if isinstance(actors, int) else actors
    strategy = ray.data.ActorPoolStrategy(
        min_size=least,
        max_size=most,
        # The running batches, and as many queued ones.
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
        # One block per batch: Ray recomputes whole blocks, and a file holds a whole batch.
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
    """Reads the output.

    Uses tasks, which Ray runs again if a node is lost. ``ray.data.read_parquet`` uses actors, which
    Ray does not restart.
    """
    files = ray.data.from_arrow(pyarrow.table({"file": pyarrow.array(shards.files(), pyarrow.string())}))
    blocks = files.repartition(target_num_rows_per_block=_FILES_AT_ONCE)
    return blocks.map_batches(_read, batch_format="pyarrow", batch_size=_FILES_AT_ONCE, fn_kwargs={"shards": shards})


def _read(files: pyarrow.Table, shards: Shards) -> pyarrow.Table:
    tables = [shards.read(path) for path in files["file"].to_pylist()]
    return pyarrow.concat_tables(tables, promote_options="default")


def _missing(table: pyarrow.Table, done: Any, key: str) -> pyarrow.Table:
    """Returns the rows that the output does not have."""
    known = ray.get(done) if isinstance(done, ray.ObjectRef) else done
    return table.filter(pyarrow.array(~is_done(known, table[key].to_pylist())))
