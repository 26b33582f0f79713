"""Results on disk or in an object store: Parquet files that are each written whole, by names that depend on nothing but their rows.

A block that is computed a second time, because its node was lost, writes the same file again, or finds it written. So whatever is lost and done
again, each row is there once.
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

# How often a file is written before its block fails: object stores have bad moments.
_ATTEMPTS = 4
_PAUSE_SECONDS = 0.5
# Files that are read at a time to see what is done: an object store takes its time for each.
_READERS = 16


def digests(keys: Iterable[Any]) -> numpy.ndarray[Any, Any]:
    """Keys as 16 bytes each: comparable, and small enough for a hundred million."""
    return numpy.array([hashlib.blake2b(str(key).encode(), digest_size=16).digest() for key in keys], dtype="S16")


class Shards:
    """A folder of Parquet files, in the local file system or at an address such as ``s3://bucket/folder``."""

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
        """The file of a block of rows."""
        name = hashlib.blake2b(b"".join(digests(keys)), digest_size=12).hexdigest()
        return f"{self._place()[1].rstrip('/')}/part-{name}.parquet"

    def files(self) -> list[str]:
        """The files that are written."""
        system, folder = self._place()
        selector = pyarrow.fs.FileSelector(folder, allow_not_found=True)
        found = (info.path for info in system.get_file_info(selector) if info.is_file)
        return sorted(
            path for path in found if path.rsplit("/", 1)[-1].startswith("part-") and path.endswith(".parquet")
        )

    def has(self, path: str) -> bool:
        """Whether a file is written."""
        return bool(self._place()[0].get_file_info(path).is_file)

    def write(self, path: str, table: pyarrow.Table) -> None:
        """Writes a file whole or not at all."""
        system, folder = self._place()
        for attempt in range(_ATTEMPTS):
            try:
                if isinstance(system, pyarrow.fs.LocalFileSystem):
                    # Not visible before it is complete. An object store shows nothing of a file before its end anyway.
                    system.create_dir(folder, recursive=True)
                    beside = f"{folder.rstrip('/')}/.{uuid.uuid4().hex}.writing"
                    pyarrow.parquet.write_table(table, beside, filesystem=system, compression="zstd")
                    system.move(beside, path)
                else:
                    pyarrow.parquet.write_table(table, path, filesystem=system, compression="zstd")
                return
            except OSError:
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(_PAUSE_SECONDS * 2**attempt)

    def read(self, path: str, columns: list[str] | None = None) -> pyarrow.Table:
        """The rows of a file."""
        return pyarrow.parquet.read_table(path, columns=columns, filesystem=self._place()[0])

    def schema(self, path: str) -> pyarrow.Schema:
        """The columns of a file."""
        return pyarrow.parquet.read_schema(path, filesystem=self._place()[0])

    def tidy(self, columns: set[str], retry_errors: bool) -> numpy.ndarray[Any, Any]:
        """Makes the output ready to go on: rows that are there twice are left once, and failed rows, if they are to be tried again, are taken out. The
        digests of the keys that stay, sorted."""
        files = self.files()
        with ThreadPoolExecutor(_READERS) as readers:
            found = list(readers.map(lambda path: self._rows(path, columns, retry_errors), files))
        if not found:
            return digests([])
        keys, good = (numpy.concatenate(parts) for parts in zip(*found))
        # The first of equal keys, of those that are good.
        places = numpy.flatnonzero(good)
        kept = numpy.zeros(len(keys), dtype=numpy.bool_)
        kept[places[numpy.unique(keys[places], return_index=True)[1]]] = True
        if twice := int(good.sum() - kept.sum()):
            message = f"{twice} rows of {self.output} have a {self.key} that another row has: one of each is kept; name a column that tells rows apart with key="
            warnings.warn(message, stacklevel=4)
        ends = numpy.cumsum([len(one) for one, _ in found])
        for path, rows in zip(files, numpy.split(kept, ends[:-1])):
            self._keep(path, rows)
        return numpy.sort(keys[kept])

    def _rows(
        self, path: str, columns: set[str], retry_errors: bool
    ) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
        """The digests of the keys of a file, and which of its rows need not be tried again."""
        names = self.schema(path).names
        if missing := sorted({self.key, *columns} - set(names)):
            raise SettingsError(
                f"{path} has no column {', '.join(missing)}: it was written by another job; name another output"
            )
        errors = [name for name in names if name == "error" or name.endswith("_error")] if retry_errors else []
        table = self.read(path, [self.key, *errors])
        good = numpy.ones(table.num_rows, dtype=numpy.bool_)
        for name in errors:
            good &= pyarrow.compute.is_null(table[name]).to_numpy(zero_copy_only=False)
        return digests(table[self.key].to_pylist()), good

    def _keep(self, path: str, good: numpy.ndarray[Any, Any]) -> None:
        """Takes all other rows out of a file; it is replaced in one step."""
        if good.all():
            return
        if good.any():
            self.write(path, self.read(path).filter(pyarrow.array(good)))
        else:
            self._place()[0].delete_file(path)

    def tables(self) -> Iterator[pyarrow.Table]:
        """All rows, file by file."""
        return (self.read(path) for path in self.files())


def is_done(done: numpy.ndarray[Any, Any], keys: Iterable[Any]) -> numpy.ndarray[Any, Any]:
    """Which keys are among those of `Shards.tidy`."""
    wanted = digests(keys)
    places = numpy.minimum(numpy.searchsorted(done, wanted), max(len(done) - 1, 0))
    return done[places] == wanted if len(done) else numpy.zeros(len(wanted), dtype=bool)
