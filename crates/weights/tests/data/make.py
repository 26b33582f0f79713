#!/usr/bin/env python3
"""Creates the test files in this folder with the libraries that wrote the published weights: h5py, numpy, torch.

Every array contains 0, 1, 2 ... divided by 8, so that tests know its values.
"""

import io
import pickle
from pathlib import Path

import h5py
import numpy as np
import torch

HERE = Path(__file__).resolve().parent


def numbers(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape), dtype=np.float32) / 8).reshape(shape)


def keras() -> None:
    """Old-style groups, one with more members than fit in a node, and unsupported arrays (chunked, double, big-endian)."""
    with h5py.File(HERE / "keras.hdf5", "w", libver="earliest") as file:
        file.create_dataset("conv1/conv1/kernel:0", data=numbers(1, 2, 3))
        file["conv1"].attrs["weight_names"] = np.array([b"conv1/kernel:0"])
        for index in range(20):
            file.create_dataset(f"many/array_{index}", data=numbers(index % 3 + 1))
        file.create_dataset("odd/chunked", data=numbers(4, 4), chunks=(2, 2))
        file.create_dataset("odd/double", data=np.zeros(2))
        file.create_dataset("odd/big", data=numbers(2).astype(">f4"))


def jax() -> None:
    arrays = {"AlexNet_0": {"Conv_0": {"kernel": numbers(2, 1, 3, 2), "bias": numbers(2)}}}
    arrays["odd"] = {"double": np.zeros(2), "columns": np.asfortranarray(numbers(2, 3)), "text": "none"}
    pickled = pickle.dumps(arrays, protocol=3)
    # The module name that numpy used before version 2, as in the published files.
    (HERE / "arrays.ckpt").write_bytes(pickled.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))


def old_torch() -> None:
    tensors = {"alpha": torch.tensor(numbers(1, 5, 1, 1)), "beta": torch.tensor(numbers(2, 2))}
    tensors["turned"] = tensors["beta"].T
    buffer = io.BytesIO()
    torch.save(tensors, buffer, _use_new_zipfile_serialization=False)
    (HERE / "tensors.pt").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    keras()
    jax()
    old_torch()
