// The viewer: a canvas with one or two images, controlled by pointer, wheel, touch and keyboard.
import { call } from './api.js';
import { h } from './dom.js';
import { paint } from './paint.js';
import { Viewport } from './viewport.js';

/** @typedef {import('./viewport.js').Point} Point */
/** @typedef {import('../types.js').Region} Region */

/**
 * Loads and decodes an image from the server.
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function loadBitmap(path, signal) {
  const response = await call(path, { signal });
  return createImageBitmap(await response.blob());
}

const KEY_STEP = 48; // CSS pixels per arrow key press

/** Events: `change` (the view changed), `probe` (the pointer is on a pixel), `box` (a box was drawn; see `detail`). */
export class Viewer extends EventTarget {
  constructor() {
    super();
    /** @type {import('./paint.js').Scene} */
    this.scene = {
      viewport: new Viewport(), image: null, reference: null, mode: 'slider', split: 0.5, flipped: false, gain: 4,
      overlay: null, regions: [], draft: null, highlighted: null, probe: null, repaired: false,
    };
    this.drawing = false;
    /** @type {Map<number, Point>} */
    this.pointers = new Map();
    /** @type {{kind: 'pan' | 'split' | 'box', from: Point} | null} */
    this.action = null;
    this.waiting = false;
    this.canvas = h('canvas', { tabindex: '0', role: 'application', label: 'viewer.label', class: 'canvas' });
    this.handle = h('div', {
      class: 'handle', role: 'slider', tabindex: '0', label: 'viewer.handle', 'aria-valuemin': '0', 'aria-valuemax': '100',
      hidden: true, on: { keydown: (/** @type {KeyboardEvent} */ event) => this.#slideByKey(event) },
    }, h('span', { class: 'grip', 'aria-hidden': 'true' }));
    this.element = h('div', { class: 'stage' }, this.canvas, this.handle);
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(this.element);
    document.addEventListener('themechange', () => this.paint());
  }

  /**
   * Shows an image. `size` is the original size; the bitmap may be smaller.
   * @param {ImageBitmap | null} image
   * @param {{width: number, height: number}} [size]
   */
  setImage(image, size) {
    this.scene.image = image;
    if (image) this.picture = size ?? { width: image.width, height: image.height };
    this.#resize();
  }

  /** @param {ImageBitmap | null} reference */
  setReference(reference) {
    this.scene.reference = reference;
    this.#resize();
  }

  /** @param {Partial<import('./paint.js').Scene>} changes */
  set(changes) {
    Object.assign(this.scene, changes);
    if ('mode' in changes) this.#resize();
    this.changed();
  }

  /** @param {boolean} on whether the next drag draws a box */
  setDrawing(on) {
    this.drawing = on;
    this.element.classList.toggle('drawing', on);
    this.changed();
  }

  fit() {
    this.scene.viewport.fit();
    this.changed();
  }

  /** Shows one image pixel per screen pixel. */
  actualSize() {
    this.scene.viewport.zoom(1 / devicePixelRatio);
    this.changed();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.scene.viewport.zoom(this.scene.viewport.scale * factor);
    this.changed();
  }

  flip() {
    if (this.scene.reference) this.set({ mode: 'flip', flipped: this.scene.mode === 'flip' ? !this.scene.flipped : true });
  }

  changed() {
    this.scene.viewport.align(devicePixelRatio);
    this.paint();
    this.dispatchEvent(new Event('change'));
  }

  paint() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const { clientWidth: width, clientHeight: height } = this.element;
      const context = this.canvas.getContext('2d');
      if (!context || width === 0) return;
      context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
      paint(context, this.scene, width, height);
      this.#placeHandle(width);
    });
  }

  get comparing() {
    return this.scene.image !== null && this.scene.reference !== null;
  }

  /** Whether two panes are shown side by side, each with half of the viewer. */
  get halved() {
    return this.comparing && this.scene.mode === 'side';
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    const stage = { width: this.halved ? width / 2 : width, height };
    this.scene.viewport.resize(stage, this.picture ?? { width: 1, height: 1 });
    this.changed();
  }

  /** @param {number} width */
  #placeHandle(width) {
    const shown = this.comparing && this.scene.mode === 'slider';
    this.handle.hidden = !shown;
    this.handle.style.setProperty('left', `${this.scene.split * width}px`);
    this.handle.setAttribute('aria-valuenow', String(Math.round(this.scene.split * 100)));
    // Touch scrolls the page if the whole image is visible; otherwise it pans the image.
    this.canvas.style.touchAction = this.scene.viewport.fitted && !this.drawing && !shown ? 'pan-y' : 'none';
  }

  #listen() {
    const { canvas, handle } = this;
    canvas.addEventListener('wheel', (event) => {
      if (!this.scene.image) return;
      event.preventDefault();
      const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      this.scene.viewport.zoom(this.scene.viewport.scale * Math.exp(-step * 0.0016), this.#at(event));
      this.changed();
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.#down(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const name of /** @type {const} */ (['pointerup', 'pointercancel'])) {
      canvas.addEventListener(name, (event) => this.#up(event));
    }
    canvas.addEventListener('pointerleave', () => this.#probe(null));
    canvas.addEventListener('dblclick', () => (this.scene.viewport.fitted ? this.actualSize() : this.fit()));
    canvas.addEventListener('keydown', (event) => this.#key(event));
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.onpointermove = (move) => {
        const box = this.element.getBoundingClientRect();
        this.set({ split: Math.min(1, Math.max(0, (move.clientX - box.left) / box.width)) });
      };
    });
    for (const name of /** @type {const} */ (['pointerup', 'pointercancel'])) {
      handle.addEventListener(name, () => { handle.onpointermove = null; });
    }
  }

  /** @param {MouseEvent} event @returns {Point} in the viewer, relative to the pane under the pointer */
  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x: this.halved ? x % (box.width / 2) : x, y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!this.scene.image || event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.#at(event));
    this.action = { kind: this.drawing ? 'box' : 'pan', from: this.#at(event) };
    if (this.pointers.size > 1) this.scene.draft = null;
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const point = this.#at(event);
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.action) {
      this.#probe(point);
      return;
    }
    const { viewport } = this.scene;
    if (this.pointers.size === 2) this.#pinch(event.pointerId, point);
    else if (this.action.kind === 'pan') viewport.pan(point.x - before.x, point.y - before.y);
    else this.scene.draft = this.#box(this.action.from, point);
    this.pointers.set(event.pointerId, point);
    this.changed();
  }

  /** @param {number} moved @param {Point} point */
  #pinch(moved, point) {
    const before = this.pointers.get(moved);
    const other = [...this.pointers].find(([id]) => id !== moved)?.[1];
    if (!before || !other) return;
    const reach = (/** @type {Point} */ from) => Math.hypot(from.x - other.x, from.y - other.y) || 1;
    const middle = { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 };
    this.scene.viewport.zoom(this.scene.viewport.scale * reach(point) / reach(before), middle);
    this.scene.viewport.pan((point.x - before.x) / 2, (point.y - before.y) / 2);
  }

  /** @param {PointerEvent} event */
  #up(event) {
    this.pointers.delete(event.pointerId);
    const { draft } = this.scene;
    if (this.pointers.size === 0) this.action = null;
    if (!draft) return;
    this.scene.draft = null;
    // A click without dragging draws no box.
    if (event.type === 'pointerup' && draft.width >= 8 && draft.height >= 8) {
      this.setDrawing(false);
      this.dispatchEvent(new CustomEvent('box', { detail: draft }));
    }
    this.changed();
  }

  /** @param {Point} from @param {Point} to @returns {Region} whole pixels inside the image */
  #box(from, to) {
    const { viewport } = this.scene;
    const [first, second] = [viewport.toPicture(from), viewport.toPicture(to)];
    const within = (/** @type {number} */ value, /** @type {number} */ limit) => Math.min(limit, Math.max(0, Math.round(value)));
    const { width, height } = viewport.picture;
    const [left, right] = [within(Math.min(first.x, second.x), width), within(Math.max(first.x, second.x), width)];
    const [top, bottom] = [within(Math.min(first.y, second.y), height), within(Math.max(first.y, second.y), height)];
    return { name: '', x: left, y: top, width: right - left, height: bottom - top };
  }

  /** @param {Point | null} point */
  #probe(point) {
    const { viewport } = this.scene;
    const at = point && viewport.toPicture(point);
    const inside = at && at.x >= 0 && at.y >= 0 && at.x < viewport.picture.width && at.y < viewport.picture.height;
    this.probeAt(inside ? { x: Math.floor(at.x), y: Math.floor(at.y) } : null);
  }

  /** @param {Point | null} at in whole pixels of the image */
  probeAt(at) {
    this.scene.probe = this.scene.image ? at : null;
    this.paint();
    this.dispatchEvent(new Event('probe'));
  }

  /** @param {KeyboardEvent} event */
  #slideByKey(event) {
    const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -0.02, ArrowRight: 0.02, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 });
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.set({ split: Math.min(1, Math.max(0, this.scene.split + step)) });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const arrows = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });
    const [right, down] = arrows[event.key] ?? [0, 0];
    if (right === 0 && down === 0) return;
    event.preventDefault();
    const { viewport } = this.scene;
    if (!event.shiftKey) {
      viewport.pan(-right * KEY_STEP, -down * KEY_STEP);
      this.changed();
      return;
    }
    // With Shift, the probe moves pixel by pixel, starting at the center of the view.
    const middle = viewport.toPicture({ x: viewport.stage.width / 2, y: viewport.stage.height / 2 });
    const from = this.scene.probe ?? { x: Math.floor(middle.x), y: Math.floor(middle.y) };
    const keep = (/** @type {number} */ value, /** @type {number} */ limit) => Math.min(limit - 1, Math.max(0, value));
    this.probeAt({ x: keep(from.x + right, viewport.picture.width), y: keep(from.y + down, viewport.picture.height) });
  }
}
