// Reads single pixels through a canvas of one pixel, to avoid a second copy of the image.

/** @typedef {[number, number, number]} Rgb */

/** @type {CanvasRenderingContext2D | null} */
let context = null;

/**
 * Returns the color of a pixel.
 * @param {ImageBitmap} bitmap
 * @param {{x: number, y: number}} at in pixels of the image
 * @param {{width: number, height: number}} size of the image; the bitmap may be smaller
 * @returns {Rgb}
 */
export function pixel(bitmap, at, size) {
  if (!context) {
    const canvas = document.createElement('canvas');
    canvas.width = 1;
    canvas.height = 1;
    context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
  }
  const x = Math.min(bitmap.width - 1, Math.floor((at.x + 0.5) * bitmap.width / size.width));
  const y = Math.min(bitmap.height - 1, Math.floor((at.y + 0.5) * bitmap.height / size.height));
  context.clearRect(0, 0, 1, 1);
  context.drawImage(bitmap, x, y, 1, 1, 0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return [red ?? 0, green ?? 0, blue ?? 0];
}

/** @param {Rgb} color */
export function hexadecimal(color) {
  return '#' + color.map((part) => part.toString(16).padStart(2, '0')).join('');
}

/** @param {Rgb} first @param {Rgb} second @returns {Rgb} */
export function apart(first, second) {
  return [Math.abs(first[0] - second[0]), Math.abs(first[1] - second[1]), Math.abs(first[2] - second[2])];
}
