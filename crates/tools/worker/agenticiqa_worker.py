"""Serves pyiqa metrics over JSON lines: requests on standard input, answers on standard output.

    python -m agenticiqa_worker --device cpu

The first output line is a greeting:
{"hello": "agenticiqa-worker", "protocol": 1, "pyiqa": "0.1.16", "device": "cpu"}. If the worker cannot
serve, the greeting has "error" instead. Then each request gets one answer, in order:

    {"id": 1, "metric": "musiq", "options": {}, "batch": [{"image": PICTURE, "reference": PICTURE}, ...]}
    {"id": 1, "event": "creating"}                       only before the first use of a metric
    {"id": 1, "event": "measuring"}                      once the metric exists; it is then kept
    {"id": 1, "scores": [68.4, null], "errors": [null, "why"], "seconds": [0.21, 0.0]}

    {"id": 2, "describe": ["musiq"]}                     an empty list means all metrics
    {"id": 2, "metrics": [{"name": "musiq", "mode": "NR", "lower_better": false, "score_range": "~0, ~100"}]}

A PICTURE is {"path": "photo.png"}, which pyiqa reads, or raw samples in a file, preferably in shared memory:
{"buffer": "/dev/shm/x", "width": 640, "height": 480, "channels": 3, "dtype": "uint8", "layout": "planar"}.
"dtype" may also be "uint16" (native byte order, 0..65535), and "layout" may be "interleaved". The file is
opened once and stays mapped, so it can be rewritten for the next request. With "unlink": true its name is
removed as soon as the file is open.

Each image is measured separately: a score does not depend on the other images of the batch, and an exception
affects only its own image. If a metric cannot be created, the answer has "unavailable". The program ends when
its standard input ends.
"""

import argparse
import contextlib
import difflib
import json
import math
import mmap
import os
import queue
import random
import re
import signal
import socket
import sys
import threading
import time

PROTOCOL = 1
# Timeouts in seconds: for a stalled download, and for reaching a server.
PATIENCE = 10
REACH = 3
# Metrics with random crops use the same crops for every image.
SEED = 123
SCALES = {"uint8": (1, 255.0), "uint16": (2, 65535.0)}


class Refused(Exception):
    """An error that the user can fix; the message explains it."""


def main():
    parser = argparse.ArgumentParser(
        prog="agenticiqa_worker", description="Serves the metrics of pyiqa over JSON lines."
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps ... (%(default)s)")
    device = parser.parse_args().device
    out = take_standard_output()
    die_with_parent()
    lines = read_in_background()
    try:
        server = Server(device, out)
    except Exception as error:
        say(out, {"hello": "agenticiqa-worker", "protocol": PROTOCOL, "error": describe_exception(error)})
        return 1
    say(out, {"hello": "agenticiqa-worker", "protocol": PROTOCOL, "pyiqa": server.version, "device": device})
    while True:
        say(out, server.answer(lines.get()))


def take_standard_output():
    """Returns a stream for the protocol. All other output, from Python or C, goes to standard error."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


def say(out, message):
    line = json.dumps(message, allow_nan=False).encode() + b"\n"
    while line:
        line = line[out.write(line) :]


def die_with_parent():
    """Asks Linux to kill this process when its parent ends, even during a measurement."""
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        except (ImportError, OSError, AttributeError):
            pass  # The end of standard input also ends the program.


def read_in_background():
    """Reads lines of standard input on a thread, so that its end is noticed while a metric runs."""
    lines = queue.Queue()

    def read():
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return lines


class Server:
    """Answers requests and keeps the metrics that were created."""

    def __init__(self, device, out):
        os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", str(PATIENCE))
        os.environ.setdefault("HF_HUB_ETAG_TIMEOUT", str(PATIENCE))
        socket.setdefaulttimeout(PATIENCE)
        import pyiqa
        import torch

        if device != "cpu":
            torch.zeros(1).to(device)
        self.pyiqa, self.torch, self.device, self.out = pyiqa, torch, device, out
        self.version = getattr(pyiqa, "__version__", "unknown")
        self.metrics = {}
        self.mapped = {}
        self.tensors = {}

    def answer(self, line):
        """Returns the answer to one request."""
        identity = None
        try:
            request = json.loads(line)
            identity = request.get("id")
            if "describe" in request:
                return {"id": identity, "metrics": self.describe(request["describe"])}
            return self.measure(identity, request["metric"], request.get("options") or {}, request["batch"])
        except Exception as error:
            return {"id": identity, "error": "bad request: " + describe_exception(error)}

    def describe(self, names):
        """Returns pyiqa's description of these metrics, or of all metrics if the list is empty."""
        from pyiqa.default_model_configs import DEFAULT_CONFIGS

        facts = []
        for name in names or self.pyiqa.list_models():
            config = DEFAULT_CONFIGS.get(name, {})
            fact = {"name": name, "mode": config.get("metric_mode"), "known": name in DEFAULT_CONFIGS}
            facts.append(
                {**fact, "lower_better": config.get("lower_better", False), "score_range": config.get("score_range")}
            )
        return facts

    def measure(self, identity, name, options, batch):
        """Measures the images of a batch one after the other."""
        key = (name, json.dumps(options, sort_keys=True))
        try:
            if key not in self.metrics:
                say(self.out, {"id": identity, "event": "creating"})
                self.metrics[key] = self.create(name, options)
                say(self.out, {"id": identity, "event": "measuring"})
        except Exception as error:
            reason = describe_exception(error)
            nothing = [None] * len(batch)
            errors = [reason] * len(batch)
            return {"id": identity, "scores": nothing, "errors": errors, "seconds": nothing, "unavailable": reason}
        scores, errors, seconds = [], [], []
        for item in batch:
            score = error = None
            start = time.perf_counter()
            try:
                pictures = [self.picture(item[role], role) for role in ("image", "reference") if item.get(role)]
                self.seed()
                start = time.perf_counter()
                score = number(self.metrics[key](*pictures))
            except Exception as exception:
                error = describe_exception(exception)
            seconds.append(time.perf_counter() - start)
            scores.append(score)
            errors.append(error)
        return {"id": identity, "scores": scores, "errors": errors, "seconds": seconds}

    def create(self, name, options):
        """Creates a pyiqa metric. Cached weights are used without network access. Missing weights are
        downloaded only if the hub is reachable, because its client would otherwise retry for a minute."""
        known = self.pyiqa.list_models()
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise Refused(
                f"pyiqa {self.version} has no metric {name!r}" + (f", did you mean {near[0]}?" if near else "")
            )
        constants = sys.modules.get("huggingface_hub.constants")
        was_offline = getattr(constants, "HF_HUB_OFFLINE", True)
        try:
            if not was_offline:
                constants.HF_HUB_OFFLINE = True
            return self.pyiqa.create_metric(name, device=self.device, **options)
        except Exception as error:
            if not is_about_downloads(error):
                raise
            if was_offline or not is_reachable():
                raise Refused(no_weights(name, error)) from error
        finally:
            if not was_offline:
                constants.HF_HUB_OFFLINE = was_offline
        try:
            return self.pyiqa.create_metric(name, device=self.device, **options)
        except Exception as error:
            if is_about_downloads(error):
                raise Refused(no_weights(name, error)) from error
            raise

    def seed(self):
        random.seed(SEED)
        self.torch.manual_seed(SEED)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(SEED)

    def picture(self, source, role):
        """Returns the input for pyiqa: a path, or a tensor [1, channels, height, width] over 0..1."""
        if "path" in source:
            return source["path"]
        width, height, channels = source["width"], source["height"], source["channels"]
        size, scale = SCALES[source["dtype"]]
        count = width * height * channels
        if min(width, height) < 1 or channels not in (1, 3):
            raise Refused(f"an image of {width}x{height} with {channels} channels cannot be measured")
        raw = self.samples(source, count, size)
        if source.get("layout", "planar") == "planar":
            raw = raw.reshape(1, channels, height, width)
        else:
            raw = raw.reshape(1, height, width, channels).permute(0, 3, 1, 2)
        # In two steps: one step would copy through freshly allocated memory.
        tensor = self.room(role, (1, channels, height, width)).copy_(raw).div_(scale)
        tensor = tensor if self.device == "cpu" else tensor.to(self.device)
        return tensor.expand(1, 3, height, width) if channels == 1 else tensor

    def room(self, role, shape):
        """Returns memory for an image, reused for equal sizes: allocating costs more than converting."""
        if role not in self.tensors or tuple(self.tensors[role].shape) != shape:
            self.tensors[role] = self.torch.empty(shape, dtype=self.torch.float32)
        return self.tensors[role]

    def samples(self, source, count, size):
        """Returns the samples of a buffer; 8-bit samples are not copied."""
        path, needed = source["buffer"], count * size
        if path not in self.mapped:
            self.mapped[path] = (os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)), None)
            if source.get("unlink"):
                # Windows cannot delete an open file; the process that created it does.
                with contextlib.suppress(OSError):
                    os.unlink(path)
        descriptor, mapping = self.mapped[path]
        if mapping is None or len(mapping) < needed:
            found = os.fstat(descriptor).st_size
            if found < needed:
                raise Refused(f"the buffer holds {found} bytes and the image needs {needed}")
            mapping = mmap.mmap(descriptor, 0)
            self.mapped[path] = (descriptor, mapping)
        if size == 1:
            return self.torch.frombuffer(mapping, dtype=self.torch.uint8, count=count)
        signed = self.torch.frombuffer(mapping, dtype=self.torch.int16, count=count)
        return signed.to(self.torch.int32).bitwise_and(0xFFFF)


def number(output):
    """Returns the single finite number in the output of a metric."""
    while isinstance(output, (tuple, list)) and output:
        output = output[0]
    if hasattr(output, "numel") and output.numel() != 1:
        raise Refused(f"the metric returned {output.numel()} numbers instead of one")
    score = float(output.item() if hasattr(output, "item") else output)
    if not math.isfinite(score):
        raise Refused(f"the metric returned {score}")
    return score


def describe_exception(error):
    """Describes an exception in one line."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"needs the Python package that has the module {error.name!r}, which is not installed in {sys.executable}"
        )
    words = re.sub(r"\s+", " ", str(error)).strip()[:500]
    return words if isinstance(error, Refused) and words else f"{type(error).__name__}: {words}"


def is_about_downloads(error):
    """Returns whether an exception, or one of its causes, comes from a download."""
    names = {
        "URLError",
        "HTTPError",
        "LocalEntryNotFoundError",
        "OfflineModeIsEnabled",
        "ConnectError",
        "ConnectionError",
        "ConnectTimeout",
        "ReadTimeout",
        "HfHubHTTPError",
        "timeout",
        "TimeoutError",
        "gaierror",
        "IncompleteRead",
    }
    while error is not None:
        if names & {kind.__name__ for kind in type(error).__mro__}:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_reachable():
    """Returns whether the hub of the weights can be reached, directly or through a proxy."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True
    address = re.sub(r"^\w+://", "", os.environ.get("HF_ENDPOINT", "https://huggingface.co")).split("/")[0]
    host, _, port = address.partition(":")
    reached = threading.Event()

    def reach():
        try:
            socket.create_connection((host, int(port or 443)), REACH).close()
            reached.set()
        except (OSError, ValueError):
            pass

    # DNS lookups have no timeout, so the attempt runs on a thread.
    attempt = threading.Thread(target=reach, daemon=True)
    attempt.start()
    attempt.join(REACH)
    return reached.is_set()


def no_weights(name, error):
    return (
        f"the weights of {name} are not here and cannot be downloaded ({describe_exception(error)}); with a connection, run "
        f"once: {sys.executable} -c \"import pyiqa; pyiqa.create_metric('{name}')\""
    )


if __name__ == "__main__":
    sys.exit(main())
