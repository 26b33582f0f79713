"""Generates the small files in this folder from one computed image (no photo, no third-party rights) with Pillow.
Writes the pixels that Pillow decodes from each file to expected/NAME.png: composited on white, EXIF orientation applied.
Run: python make.py (Pillow 13.0, numpy). The files are checked in; run it again only to add files."""

import os
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

os.chdir(os.path.dirname(os.path.abspath(__file__)))
WIDTH, HEIGHT = 37, 23
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
rgb = np.stack([x * 255 / (WIDTH - 1), y * 255 / (HEIGHT - 1), 128 + 100 * np.sin(x / 5) * np.cos(y / 4)], -1)
rgb = Image.fromarray(rgb.astype(np.uint8))
gray = rgb.convert("L")
alpha = rgb.copy()
alpha.putalpha(Image.fromarray((x * 255 // (WIDTH - 1)).astype(np.uint8)))
turned = [rgb, rgb.rotate(180), rgb.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]


def exif(tag):
    tags = Image.Exif()
    tags[0x112] = tag
    return tags


rgb.save("444.jpg", quality=90, subsampling=0)
rgb.save("422.jpg", quality=75, subsampling=1)
rgb.save("420.jpg", quality=50, subsampling=2)
rgb.save("progressive.jpg", quality=85, progressive=True, subsampling=2)
rgb.save("restart.jpg", quality=95, subsampling=0, restart_marker_blocks=3)
gray.save("gray.jpg", quality=60)
rgb.convert("CMYK").save("cmyk.jpg", quality=95)
data = bytearray(Path("cmyk.jpg").read_bytes())
adobe = data.index(b"Adobe")
assert data[adobe + 11] == 0
data[adobe + 11] = 2  # the transform byte: the same numbers now mean Y, Cb, Cr and K
Path("ycck.jpg").write_bytes(data)
for tag in range(1, 9):
    rgb.save(f"orientation{tag}.jpg", quality=100, subsampling=0, exif=exif(tag))
rgb.save("orientation.png", exif=exif(6))
rgb.save("orientation.webp", exif=exif(6), lossless=True)
rgb.save("orientation.tif", tiffinfo={0x112: 6})
for mode in ("1", "L", "P", "RGB", "LA"):
    rgb.convert(mode).save(f"mode{mode}.png")
alpha.save("modeRGBA.png")
for bits in (1, 2, 4):
    rgb.quantize(2**bits).save(f"palette{bits}.png", bits=bits)
rgb.save("animation.png", save_all=True, append_images=turned[1:])
for mode in ("1", "L", "P", "RGB"):
    rgb.convert(mode).save(f"mode{mode}.bmp")
for mode in ("1", "L", "RGB", "LA", "CMYK"):
    rgb.convert(mode).save(f"mode{mode}.tif")
alpha.save("modeRGBA.tif")
for method in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
    rgb.save(f"{method}.tif", compression=method)
rgb.save("pages.tif", save_all=True, append_images=turned[1:])
rgb.save("lossy.webp", quality=80)
rgb.save("lossless.webp", lossless=True)
alpha.save("alpha.webp", lossless=True)
alpha.save("alphalossy.webp", quality=70)
rgb.save("animation.webp", save_all=True, append_images=turned[1:], lossless=True)
rgb.save("one.gif")
gray.save("interlaced.gif", interlace=True)
alpha.save("alpha.gif")
rgb.save("animation.gif", save_all=True, append_images=turned[1:])

for name in sorted(os.listdir(".")):
    if not name.endswith((".jpg", ".png", ".bmp", ".tif", ".webp", ".gif")):
        continue
    image = ImageOps.exif_transpose(Image.open(name))
    if image.mode in ("P", "LA", "RGBA"):
        pixels = np.asarray(image.convert("RGBA")).astype(float)
        cover = pixels[..., 3:]
        pixels = np.floor((pixels[..., :3] * cover + 255 * (255 - cover)) / 255 + 0.5)
        image = Image.fromarray(pixels.astype(np.uint8))
    image.convert("L" if image.mode in ("1", "L") else "RGB").save(f"expected/{name}.png")
