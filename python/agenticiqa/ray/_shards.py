"""Results as Parquet files, on disk or in an object store. Files are written atomically and named by their rows.

A block that is computed again because its node was lost writes the same file, or finds it already
written. So each row appears exactly once.
"""

from __future__ import annotations

import hashlib
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.fs
import pyarrow.parquet

from ..errors import SettingsError

# Attempts to write a file before its block fails. Object stores fail temporarily.
_ATTEMPTS = 4
_PAUSE_SECONDS = 0.5
# Concurrent reads when looking for finished rows, because object stores have a high latency.
_READERS = 16


def digests(keys: Iterable[Any]) -> numpy.ndarray[Any, Any]:
    """Hashes keys to 16 bytes each, which is small enough for a hundred million keys."""
    return numpy.array([hashlib.blake2b(str(key).encode(), digest_size=16).digest() for key in keys], dtype="S16")


class Shards:
    """A folder of Parquet files, local or at a URL such as ``s3://bucket/folder``."""

    def __init__(self, output: str, key: str) -> None:
        self.output, self.key = output, key

    def _place(self) -> tuple[pyarrow.fs.FileSystem, str]:
        try:
            if "://" in self.output:
                found: tuple[pyarrow.fs.FileSystem, str] = pyarrow.fs.FileSystem.from_uri(self.output)
                return found
            return pyarrow.fs.LocalFileSystem(), self.output
        except (pyarrow.ArrowException, OSError) as error:
            raise SettingsError(f"output {self.output!r} cannot be used: {error}") from error

    def path(self, keys: Iterable[Any]) -> str:
        """Returns the path of the file for a block of rows."""
        name = hashlib.blake2b(b"".join(digests(keys)), digest_size=12).hexdigest()
        return f"{self._place()[1].rstrip('/')}/part-{name}.parquet"

    def files(self) -> list[str]:
        """Returns the paths of the written files."""
        system, folder = self._place()
        selector = pyarrow.fs.FileSelector(folder, allow_not_found=True)
        found = (info.path for info in system.get_file_info(selector) if info.is_file)
        return sorted(
            path for path in found if path.rsplit("/", 1)[-1].startswith("part-") and path.endswith(".parquet")
        )

    def has(self, path: str) -> bool:
        """Returns whether a file exists."""
        return bool(self._place()[0].get_file_info(path).is_file)

    def write(self, path: str, table: pyarrow.Table) -> None:
        """Writes a file atomically, with retries."""
        system, folder = self._place()
        for attempt in range(_ATTEMPTS):
            try:
                if isinstance(system, pyarrow.fs.LocalFileSystem):
                    # Renamed when complete. Object stores only show complete files anyway.
                    system.create_dir(folder, recursive=True)
                    partial = f"{folder.rstrip('/')}/.{uuid.uuid4().hex}.writing"
                    pyarrow.parquet.write_table(table, partial, filesystem=system, compression="zstd")
                    system.move(partial, path)
                else:
                    pyarrow.parquet.write_table(table, path, filesystem=system, compression="zstd")
                return
            except OSError:
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(_PAUSE_SECONDS * 2**attempt)

    def read(self, path: str, columns: list[str] | None = None) -> pyarrow.Table:
        """Reads a file."""
        return pyarrow.parquet.read_table(path, columns=columns, filesystem=self._place()[0])

    def schema(self, path: str) -> pyarrow.Schema:
        """Reads the schema of a file."""
        return pyarrow.parquet.read_schema(path, filesystem=self._place()[0])

    def tidy(self, columns: set[str], retry_errors: bool) -> numpy.ndarray[Any, Any]:
        """Prepares the output for a run: removes duplicate rows and, if ``retry_errors``, failed rows.

        Returns the sorted digests of the remaining keys.
        """
        files = self.files()
        with ThreadPoolExecutor(_READERS) as readers:
            found = list(readers.map(lambda path: self._rows(path, columns, retry_errors), files))
        if not found:
            return digests([])
        keys, good = (numpy.concatenate(parts) for parts in zip(*found))
        # Keep the first good row of each key.
        places = numpy.flatnonzero(good)
        kept = numpy.zeros(len(keys), dtype=numpy.bool_)
        kept[places[numpy.unique(keys[places], return_index=True)[1]]] = True
        if twice := int(good.sum() - kept.sum()):
            message = (
                f"removed {twice} rows of {self.output} because another row has the same {self.key}: "
                "name a unique column with key="
            )
            warnings.warn(message, stacklevel=4)
        ends = numpy.cumsum([len(one) for one, _ in found])
        for path, rows in zip(files, numpy.split(kept, ends[:-1])):
            self._keep(path, rows)
        return numpy.sort(keys[kept])

    def _rows(
        self, path: str, columns: set[str], retry_errors: bool
    ) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
        """Returns the key digests of a file, and a mask of the rows that are kept."""
        names = self.schema(path).names
        if missing := sorted({self.key, *columns} - set(names)):
            raise SettingsError(
                f"{path} has no column {', '.join(missing)}: it was written by a different job; choose another output"
            )
        errors = [name for name in names if name == "error" or name.endswith("_error")] if retry_errors else []
        table = self.read(path, [self.key, *errors])
        good = numpy.ones(table.num_rows, dtype=numpy.bool_)
        for name in errors:
            good &= pyarrow.compute.is_null(table[name]).to_numpy(zero_copy_only=False)
        return digests(table[self.key].to_pylist()), good

    def _keep(self, path: str, good: numpy.ndarray[Any, Any]) -> None:
        """Removes all rows but the good ones from a file, atomically."""
        if good.all():
            return
        if good.any():
            self.write(path, self.read(path).filter(pyarrow.array(good)))
        else:
            self._place()[0].delete_file(path)

    def tables(self) -> Iterator[pyarrow.Table]:
        """Returns all rows, file by file."""
        return (self.read(path) for path in self.files())


def is_done(done: numpy.ndarray[Any, Any], keys: Iterable[Any]) -> numpy.ndarray[Any, Any]:
    """Returns a mask of the keys whose digests are in ``done``."""
    wanted = digests(keys)
    places = numpy.minimum(numpy.searchsorted(done, wanted), max(len(done) - 1, 0))
    return done[places] == wanted if len(done) else numpy.zeros(len(wanted), dtype=bool)
