// Paints the viewer: one image, or two images in a compare mode.
import { color } from './theme.js';

/** @typedef {import('./viewport.js').Viewport} Viewport */
/** @typedef {import('../types.js').Region} Region */
/** @typedef {'slider' | 'side' | 'flip' | 'difference'} Mode */

/**
 * @typedef {object} Scene
 * @property {Viewport} viewport
 * @property {ImageBitmap | null} image
 * @property {ImageBitmap | null} reference
 * @property {Mode} mode
 * @property {number} split position of the slider, from 0 to 1 of the viewer width
 * @property {boolean} flipped whether the reference is shown
 * @property {number} gain of the difference, a power of two
 * @property {{canvas: HTMLCanvasElement, opacity: number, region: Region | null} | null} overlay
 * @property {Region[]} regions
 * @property {Region | null} draft
 * @property {string | null} highlighted the name of a region
 * @property {boolean} repaired whether the image after an edit is shown, and before it as the reference
 * @property {{x: number, y: number} | null} probe the pixel that is read
 */

const REGION_COLORS = ['#ffb000', '#64d2ff', '#ff7eb6', '#8ce99a', '#d0a8ff'];

/** @param {number} index */
export function regionColor(index) {
  return REGION_COLORS[index % REGION_COLORS.length] ?? '#ffb000';
}

/**
 * @param {CanvasRenderingContext2D} context scaled to CSS pixels
 * @param {Scene} scene
 * @param {number} width @param {number} height of the viewer
 */
export function paint(context, scene, width, height) {
  context.clearRect(0, 0, width, height);
  const { image, reference, mode } = scene;
  if (!image) return;
  const density = context.getTransform().a;
  context.imageSmoothingEnabled = scene.viewport.scale * density < 2;
  context.imageSmoothingQuality = 'high';
  if (!reference) {
    pane(context, scene, image, 0, 0, width, height, 0);
  } else if (mode === 'slider') {
    const at = scene.split * width;
    pane(context, scene, reference, 0, 0, at, height, 0);
    pane(context, scene, image, at, 0, width - at, height, 0);
  } else if (mode === 'side') {
    const half = Math.round(width / 2 * density) / density;
    pane(context, scene, reference, 0, 0, half, height, 0);
    pane(context, scene, image, half, 0, width - half, height, half);
    context.fillStyle = color('--line');
    context.fillRect(half - 0.5, 0, 1, height);
  } else if (mode === 'flip') {
    pane(context, scene, scene.flipped ? reference : image, 0, 0, width, height, 0);
  } else {
    pane(context, scene, difference(image, reference, scene.gain), 0, 0, width, height, 0);
  }
}

/**
 * Paints an image in a part of the viewer. `shift` is the left edge of that part.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {CanvasImageSource} source
 * @param {number} left @param {number} top @param {number} width @param {number} height @param {number} shift
 */
function pane(context, scene, source, left, top, width, height, shift) {
  const { viewport } = scene;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.translate(shift + viewport.x, viewport.y);
  context.scale(viewport.scale, viewport.scale);
  context.drawImage(source, 0, 0, viewport.picture.width, viewport.picture.height);
  if (scene.overlay) {
    const { canvas, opacity, region } = scene.overlay;
    const box = region ?? { x: 0, y: 0, ...viewport.picture };
    context.globalAlpha = opacity;
    context.drawImage(canvas, box.x, box.y, box.width, box.height);
    context.globalAlpha = 1;
  }
  marks(context, scene);
  context.restore();
}

/** Boxes and the probe, in pixels of the image. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function marks(context, scene) {
  const pixel = 1 / scene.viewport.scale;
  scene.regions.forEach((region, index) => {
    const lit = scene.highlighted === region.name;
    box(context, region, regionColor(index), pixel * (lit ? 4 : 2), pixel, lit);
  });
  if (scene.draft) box(context, scene.draft, '#ffffff', pixel * 2, pixel, false);
  if (scene.probe && scene.viewport.scale >= 4) {
    context.strokeStyle = '#ffffff';
    context.lineWidth = pixel * 1.5;
    context.strokeRect(scene.probe.x, scene.probe.y, 1, 1);
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Region} region @param {string} stroke
 * @param {number} line @param {number} pixel @param {boolean} lit
 */
function box(context, region, stroke, line, pixel, lit) {
  const { x, y, width, height, name } = region;
  // A dark line below the colored line keeps the box visible on any image.
  context.lineWidth = line + 2 * pixel;
  context.strokeStyle = 'rgba(0, 0, 0, 0.65)';
  context.strokeRect(x, y, width, height);
  context.lineWidth = line;
  context.strokeStyle = stroke;
  context.strokeRect(x, y, width, height);
  if (lit) {
    context.fillStyle = 'rgba(255, 255, 255, 0.12)';
    context.fillRect(x, y, width, height);
  }
  if (!name) return;
  context.save();
  context.translate(x, y);
  context.scale(pixel, pixel);
  context.font = '600 12px system-ui, sans-serif';
  const length = context.measureText(name).width + 10;
  const above = y * (1 / pixel) > 20 ? -20 : 2;
  context.fillStyle = stroke;
  context.fillRect(-1, above, length, 18);
  context.fillStyle = '#16181a';
  context.fillText(name, 4, above + 13);
  context.restore();
}

/** @type {{image: ImageBitmap, reference: ImageBitmap, gain: number, canvas: HTMLCanvasElement} | null} */
let kept = null;

/**
 * Returns the absolute difference of two images times `gain`, computed by blending on the GPU. Each doubling adds the
 * image to itself, so the gain is a power of two.
 * @param {ImageBitmap} image @param {ImageBitmap} reference @param {number} gain
 */
export function difference(image, reference, gain) {
  if (kept && kept.image === image && kept.reference === reference && kept.gain === gain) return kept.canvas;
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.drawImage(image, 0, 0);
  context.globalCompositeOperation = 'difference';
  context.drawImage(reference, 0, 0, image.width, image.height);
  context.globalCompositeOperation = 'lighter';
  for (let made = 1; made < gain; made *= 2) context.drawImage(canvas, 0, 0);
  kept = { image, reference, gain, canvas };
  return canvas;
}
