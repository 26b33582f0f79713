"""Generates the AVIF files in this folder from one computed image (no photo, no third-party rights) with libavif's
avifenc and Pillow. Writes the pixels that libavif's avifdec decodes to expected/NAME.png: composited on white, cropped,
rotated, in sRGB.
Run: python make_avif.py (Pillow 13.0, numpy, imagecodecs; avifenc and avifdec 0.11 on the path). The files are checked in."""

import os
import subprocess
import tempfile
from pathlib import Path

import imagecodecs
import numpy as np
from PIL import Image, ImageCms

os.chdir(os.path.dirname(os.path.abspath(__file__)))
work = tempfile.mkdtemp()


def picture(width, height):
    y, x = np.mgrid[0:height, 0:width]
    rgb = [x * 255 / (width - 1), y * 255 / (height - 1), 128 + 100 * np.sin(x / 5) * np.cos(y / 4)]
    return Image.fromarray(np.stack(rgb, -1).astype(np.uint8))


def png(image, name):
    path = f"{work}/{name}.png"
    image.save(path)
    return path


rgb = picture(37, 23)
alpha = rgb.copy()
alpha.putalpha(Image.fromarray((np.mgrid[0:23, 0:37][1] * 255 // 36).astype(np.uint8)))
plain, clear, large = png(rgb, "plain"), png(alpha, "clear"), png(picture(128, 64), "large")
# A profile in which the first channel is blue and the last is red.
swapped = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
swapped = swapped.replace(b"rXYZ", b"tXYZ").replace(b"bXYZ", b"rXYZ").replace(b"tXYZ", b"bXYZ")
Path(work, "swapped.icc").write_bytes(swapped)
turns = {
    2: "--imir 1",
    3: "--irot 2",
    4: "--imir 0",
    5: "--irot 3 --imir 1",
    6: "--irot 3",
    7: "--irot 1 --imir 1",
    8: "--irot 1",
}
quality = "--min 10 --max 10 "
files = {
    "444": (plain, quality + "-y 444"),
    "422": (plain, quality + "-y 422"),
    "420": (plain, quality + "-y 420"),
    "gray": (plain, quality + "-y 400"),
    "limited": (plain, quality + "-y 420 -r limited --cicp 1/13/1"),
    "unstated": (plain, quality + "-y 444 --cicp 2/2/2"),
    "rgb": (plain, "-y 444 --cicp 1/13/0 --lossless"),
    "deep10": (plain, quality + "-y 444 -d 10 -r limited --cicp 1/13/9"),
    "deep12": (plain, quality + "-y 420 -d 12"),
    "alpha": (clear, quality + "--minalpha 0 --maxalpha 0 -y 444"),
    "alphadeep": (clear, quality + "--minalpha 0 --maxalpha 0 -y 444 -d 10"),
    "premultiplied": (clear, "--min 0 --max 0 --minalpha 0 --maxalpha 0 -y 444 -p"),
    "grid": (large, quality + "-y 420 -g 2x1"),
    "crop": (plain, quality + "-y 444 --crop 4,2,20,10"),
    "grain": (plain, quality + "-y 420 -a film-grain-test=2"),
    "p3": (plain, quality + "-y 444 --cicp 12/13/6"),
    "icc": (plain, quality + f"-y 444 --icc {work}/swapped.icc"),
    "hdr": (plain, quality + "-y 444 -d 10 --cicp 9/16/9"),
}
files |= {f"orientation{tag}": (plain, quality + f"-y 444 {turn}") for tag, turn in turns.items()}


def run(*arguments):
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def decode(path):
    """Decodes with libavif at 16 bits per sample, because its fast 8-bit conversion is inexact. Composites on white."""
    run("avifdec", "-u", "bilinear", "-d", "16", path, f"{work}/decoded.png")
    pixels = imagecodecs.png_decode(Path(work, "decoded.png").read_bytes()).astype(float) / 65535
    cover = pixels[..., 3:] if pixels.shape[-1] == 4 else 1
    return pixels[..., :3] * cover + 1 - cover


def from_p3(pixels):
    """Converts Display P3 to sRGB: the primaries differ, the curve is the same."""
    linear = np.where(pixels <= 0.04045, pixels / 12.92, ((pixels + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[1.2249402, -0.2249402, 0], [-0.0420570, 1.0420570, 0], [-0.0196376, -0.0786361, 1.0982735]])
    linear = np.clip(linear @ matrix.T, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def turn(pixels, tag):
    """Applies the EXIF orientation with this value."""
    if tag > 4:
        pixels = pixels.swapaxes(0, 1)
    return pixels[:: -1 if tag in (3, 4, 7, 8) else 1, :: -1 if tag in (2, 3, 6, 7) else 1]


def expect(name, pixels, deep=False):
    pixels = np.floor(pixels * 65535 + 0.5).astype(np.uint16) if deep else np.floor(pixels * 255 + 0.5).astype(np.uint8)
    Path(f"expected/{name}.avif.png").write_bytes(imagecodecs.png_encode(np.ascontiguousarray(pixels)))


for name, (source, options) in files.items():
    run("avifenc", "-s", "4", "-j", "1", *options.split(), source, f"{name}.avif")
    pixels = decode(f"{name}.avif")
    if name == "crop":
        pixels = pixels[2:12, 4:24]
    if name == "icc":
        pixels = pixels[..., ::-1]
    if name == "p3":
        pixels = from_p3(pixels)
    if name.startswith("orientation"):
        pixels = turn(pixels, int(name[-1]))
    expect(name, pixels, "-d 1" in options)

frames = [rgb, rgb.rotate(180), rgb.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
rgb.save("animation.avif", save_all=True, append_images=frames[1:], quality=90, subsampling="4:4:4")
expect("animation", decode("animation.avif"))
