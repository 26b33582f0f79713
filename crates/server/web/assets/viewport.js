// Zoom and pan: maps image pixels to viewer coordinates.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{width: number, height: number}} Size */

const NEAREST = 64; // maximum number of screen pixels per image pixel

export class Viewport {
  constructor() {
    /** CSS pixels per image pixel. */
    this.scale = 1;
    /** The top left corner of the image in CSS pixels of the viewer. */
    this.x = 0;
    this.y = 0;
    /** @type {Size} */
    this.stage = { width: 1, height: 1 };
    /** @type {Size} */
    this.picture = { width: 1, height: 1 };
    /** Whether to keep the whole image visible when the viewer is resized. */
    this.fitted = true;
  }

  /** The scale that shows the whole image. Small images are enlarged at most four times. */
  get whole() {
    const { stage, picture } = this;
    return Math.min(stage.width / picture.width, stage.height / picture.height, 4);
  }

  fit() {
    this.fitted = true;
    this.scale = this.whole;
    this.x = (this.stage.width - this.picture.width * this.scale) / 2;
    this.y = (this.stage.height - this.picture.height * this.scale) / 2;
  }

  /** @param {Size} stage @param {Size} picture */
  resize(stage, picture) {
    const middle = this.toPicture({ x: this.stage.width / 2, y: this.stage.height / 2 });
    const other = picture.width !== this.picture.width || picture.height !== this.picture.height;
    this.stage = stage;
    this.picture = picture;
    if (this.fitted || other) this.fit();
    else {
      this.x = stage.width / 2 - middle.x * this.scale;
      this.y = stage.height / 2 - middle.y * this.scale;
      this.hold();
    }
  }

  /**
   * Changes the scale. The pixel under `point` stays in place.
   * @param {number} scale
   * @param {Point} [point] the center of the viewer by default
   */
  zoom(scale, point = { x: this.stage.width / 2, y: this.stage.height / 2 }) {
    const next = Math.min(NEAREST, Math.max(Math.min(this.whole, 1) / 2, scale));
    this.x = point.x - (point.x - this.x) * (next / this.scale);
    this.y = point.y - (point.y - this.y) * (next / this.scale);
    this.scale = next;
    this.fitted = false;
    this.hold();
  }

  /** @param {number} right @param {number} down */
  pan(right, down) {
    this.x += right;
    this.y += down;
    this.fitted = false;
    this.hold();
  }

  /** Keeps the image visible: its middle half stays in the viewer, and a small image stays inside. */
  hold() {
    const { stage, picture, scale } = this;
    const keep = (/** @type {number} */ at, /** @type {number} */ room, /** @type {number} */ length) => {
      const slack = room / 2;
      const low = Math.min(0, room - length) - (length > room ? slack : 0);
      const high = Math.max(0, room - length) + (length > room ? slack : 0);
      return Math.min(high, Math.max(low, at));
    };
    this.x = keep(this.x, stage.width, picture.width * scale);
    this.y = keep(this.y, stage.height, picture.height * scale);
  }

  /**
   * Aligns image pixels with screen pixels at integer scales, so that they are not blurred.
   * @param {number} density pixels of the screen a CSS pixel
   */
  align(density) {
    const size = this.scale * density;
    if (size < 1 || Math.abs(size - Math.round(size)) > 1e-9) return;
    this.x = Math.round(this.x * density) / density;
    this.y = Math.round(this.y * density) / density;
  }

  /** @param {Point} point in the viewer @returns {Point} in the image */
  toPicture(point) {
    return { x: (point.x - this.x) / this.scale, y: (point.y - this.y) / this.scale };
  }

  /** @param {Point} point in the image @returns {Point} in the viewer */
  toStage(point) {
    return { x: point.x * this.scale + this.x, y: point.y * this.scale + this.y };
  }
}
