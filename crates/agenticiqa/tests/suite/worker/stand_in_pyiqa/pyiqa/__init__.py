"""A package with the interface of pyiqa and metrics that are easy to check, and some that misbehave.

Works with Torch and with the stand-in for it. The folder STAND_IN_HOME, where there is one, gets a line in `created` for every
metric that is made, and holds the files by which a test and a metric wait for each other.
"""

import os
import sys
import time
import urllib.error

from .default_model_configs import DEFAULT_CONFIGS

__version__ = "0.0-stand-in"
HOME = os.environ.get("STAND_IN_HOME", "")


def list_models():
    return sorted(DEFAULT_CONFIGS)


def create_metric(name, device=None, **options):
    if HOME:
        with open(os.path.join(HOME, "created"), "a") as log:
            log.write(f"{name} {os.getpid()}\n")
    if name == "no_weights":
        raise urllib.error.URLError("[Errno -2] Name or service not known")
    if name == "no_module":
        import a_package_that_nobody_has  # noqa: F401
    if name == "hangs_while_created":
        time.sleep(3600)
    mode = DEFAULT_CONFIGS[name]["metric_mode"]
    measure = globals()["measure_" + name]

    def metric(image, reference=None):
        if mode == "FR":
            assert reference is not None, "Please specify reference image for Full Reference metric"
            return measure(samples(image), samples(reference), **options)
        return measure(samples(image), **options)

    return metric


def samples(picture):
    """Shape and numbers of a tensor, or of a binary PPM file."""
    if not isinstance(picture, str):
        return Samples(tuple(picture.shape), picture)
    with open(picture, "rb") as file:
        kind, width, height, largest, pixels = file.read().split(maxsplit=4)
    if kind != b"P6" or largest != b"255":
        raise ValueError(f"{picture} is no image")
    planes = [value / 255 for channel in range(3) for value in pixels[channel::3]]
    return Samples((1, 3, int(height), int(width)), planes)


class Samples:
    def __init__(self, shape, source):
        self.shape, self.source = shape, source

    def all(self):
        return self.source if isinstance(self.source, list) else self.source.flatten().tolist()

    def plane(self, channel):
        size = self.shape[2] * self.shape[3]
        return self.all()[channel * size : (channel + 1) * size]


def mean(values):
    return sum(values) / len(values)


def measure_mean(image):
    return mean(image.all())


def measure_minimum(image):
    return min(image.all())


def measure_maximum(image):
    return max(image.all())


def measure_red(image):
    return mean(image.plane(0))


def measure_green(image):
    return mean(image.plane(1))


def measure_blue(image):
    return mean(image.plane(2))


def measure_first(image):
    return image.all()[0]


def measure_last(image):
    return image.all()[-1]


def measure_area(image):
    return image.shape[2] * image.shape[3]


def measure_constant(image):
    return 0.5


def measure_scaled(image, factor=1.0):
    return factor * mean(image.all())


def measure_mean_error(image, reference):
    return mean([abs(a - b) for a, b in zip(image.all(), reference.all())])


def measure_largest_error(image, reference):
    return max(abs(a - b) for a, b in zip(image.all(), reference.all()))


def measure_squared_error(image, reference):
    return mean([(a - b) ** 2 for a, b in zip(image.all(), reference.all())])


def measure_nothing(image, reference):
    return 0.0


def measure_raises(image):
    if image.all()[0] == 0:
        raise ValueError("a black corner\nis more than it can bear")
    return 1.0


def measure_prints(image):
    print("printed by Python", flush=True)
    os.write(1, b"written by C\n")
    os.system("echo echoed by a child")
    return 0.25


def measure_dies(image):
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os._exit(7)


def measure_dies_once(image):
    mark = os.path.join(HOME, "died")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(7)
    return 0.75


def measure_hangs(image):
    with open(os.path.join(HOME, "hanging"), "w") as file:
        file.write(str(os.getpid()))
    os.rename(file.name, file.name + ".pid")
    time.sleep(3600)


def measure_waits(image):
    while not os.path.exists(os.path.join(HOME, "go")):
        time.sleep(0.01)
    return 0.5


def pipes_of_the_worker():
    """The streams that the worker keeps for itself: the protocol's is among them."""
    for descriptor in range(3, 64):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            continue
        if target.startswith("pipe:"):
            yield descriptor


def measure_garbage(image):
    for descriptor in pipes_of_the_worker():
        os.write(descriptor, b"\xffno JSON at all\n")
    return 1.0


def measure_floods(image):
    for descriptor in pipes_of_the_worker():
        for _ in range(64):
            os.write(descriptor, b"x" * 65536)
    return 1.0


def measure_nan(image):
    return float("nan")


def measure_many(image):
    return image.source
