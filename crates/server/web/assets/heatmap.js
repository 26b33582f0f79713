// Heat maps over the image. The server sends the values; the page applies colors and opacity.
import { isAbort, post } from './api.js';
import { announce, fill, h, say, unique } from './dom.js';
import { raw } from './format.js';
import { translate } from './i18n.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */
/** @typedef {import('../types.js').Tool} Tool */
/** @typedef {import('../types.js').Region} Region */

/** Colors from least to most damage, as in the heat maps of the program: matplotlib's "inferno" without its black end. */
const COLORS = [
  [50, 10, 94], [87, 16, 110], [120, 28, 109], [154, 40, 101], [188, 55, 84], [216, 76, 62], [237, 105, 37], [249, 142, 9],
  [251, 182, 26], [244, 223, 83], [252, 255, 164],
];

/**
 * Returns the color and opacity of a damage value. No damage is transparent.
 * @param {number} damage 0 to 1
 * @returns {[number, number, number, number]}
 */
export function heat(damage) {
  const position = damage * (COLORS.length - 1);
  const index = Math.min(Math.floor(position), COLORS.length - 2);
  const fraction = position - index;
  const part = (/** @type {number} */ channel) =>
    Math.round((COLORS[index]?.[channel] ?? 0) * (1 - fraction) + (COLORS[index + 1]?.[channel] ?? 0) * fraction);
  return [part(0), part(1), part(2), Math.round(255 * Math.sqrt(damage))];
}

/**
 * @typedef {object} HeatMap
 * @property {string} tool
 * @property {number} width
 * @property {number} height
 * @property {number} low
 * @property {number} high
 * @property {string} meaning
 * @property {boolean} lowerIsBetter
 * @property {Uint8Array} values
 * @property {HTMLCanvasElement} canvas
 */

/**
 * @param {string} tool
 * @param {any} sent
 * @returns {Promise<HeatMap>}
 */
async function decode(tool, sent) {
  const bytes = Uint8Array.from(atob(sent.values_png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }), { colorSpaceConversion: 'none' });
  const canvas = h('canvas', { width: bitmap.width, height: bitmap.height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
  context.drawImage(bitmap, 0, 0);
  const picture = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const values = new Uint8Array(bitmap.width * bitmap.height);
  const lowerIsBetter = Boolean(sent.lower_is_better);
  const table = Array.from({ length: 256 }, (_, value) => heat(lowerIsBetter ? value / 255 : 1 - value / 255));
  for (let index = 0; index < values.length; index += 1) {
    const value = picture.data[4 * index] ?? 0;
    values[index] = value;
    picture.data.set(table[value] ?? [0, 0, 0, 0], 4 * index);
  }
  context.putImageData(picture, 0, 0);
  return { tool, width: bitmap.width, height: bitmap.height, low: sent.low, high: sent.high, meaning: sent.meaning ?? '', lowerIsBetter, values, canvas };
}

/** The metric selection, the opacity control and the legend. */
export class HeatMaps {
  /**
   * @param {Viewer} viewer
   * @param {() => {image: object | null, reference: object | null}} pictures as request fields
   */
  constructor(viewer, pictures) {
    this.viewer = viewer;
    this.pictures = pictures;
    /** @type {HeatMap | null} */
    this.map = null;
    /** @type {Tool[]} */
    this.tools = [];
    /** @type {AbortController | null} */
    this.request = null;
    const [choice, fade] = [unique('map'), unique('opacity')];
    this.select = h('select', { id: choice, on: { change: () => this.load() } });
    this.opacity = h('input', {
      id: fade, type: 'range', min: '0', max: '100', value: '80', on: { input: () => this.#show() },
    });
    this.legend = h('div', { class: 'legend', hidden: true });
    this.problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    this.fading = h('div', { class: 'field inline', hidden: true }, h('label', { for: fade, t: 'map.opacity' }), this.opacity);
    this.element = h('section', { class: 'panel heat', label: 'map.title' },
      h('div', { class: 'field inline' }, h('label', { for: choice, t: 'map.title' }), this.select),
      this.fading, this.legend, this.problem);
    this.setTools([]);
    document.addEventListener('languagechange', () => this.#legend());
  }

  /** @param {Tool[]} tools */
  setTools(tools) {
    this.tools = tools;
    this.offer();
  }

  /** Lists the metrics that are available for the loaded images. */
  offer() {
    const { image, reference } = this.pictures();
    const fitting = this.tools.filter((tool) => tool.has_map && tool.available && (tool.type === 'NR' || reference));
    const chosen = this.select.value;
    fill(this.select, h('option', { value: '', t: 'map.none' }),
      ...fitting.map((tool) => h('option', { value: tool.name }, tool.name)));
    this.select.value = fitting.some((tool) => tool.name === chosen) ? chosen : '';
    this.select.disabled = !image || fitting.length === 0;
    if (this.select.value === '' && this.map) this.clear();
  }

  clear() {
    this.request?.abort();
    this.map = null;
    this.select.value = '';
    this.#show();
  }

  /** Loads the selected map. */
  async load() {
    this.request?.abort();
    this.problem.hidden = true;
    const tool = this.select.value;
    const { image, reference } = this.pictures();
    if (!tool || !image) {
      this.map = null;
      this.#show();
      return;
    }
    const request = new AbortController();
    this.request = request;
    this.element.classList.add('busy');
    try {
      const response = await post('/map?format=json', { ...image, ...reference, tool }, request.signal);
      this.map = await decode(tool, await response.json());
      announce(translate('map.shown', { tool }));
    } catch (error) {
      if (isAbort(error)) return;
      this.map = null;
      this.problem.textContent = error instanceof Error ? error.message : String(error);
      this.problem.hidden = false;
    } finally {
      this.element.classList.toggle('busy', this.request !== request);
    }
    this.#show();
  }

  #show() {
    const { map } = this;
    this.viewer.set({ overlay: map && { canvas: map.canvas, opacity: Number(this.opacity.value) / 100, region: null } });
    this.fading.hidden = !map;
    this.#legend();
  }

  #legend() {
    const { map } = this;
    this.legend.hidden = !map;
    if (!map) return;
    const scale = h('canvas', { width: 256, height: 1, class: 'scale', 'aria-hidden': 'true' });
    const context = scale.getContext('2d');
    for (let x = 0; x < 256; x += 1) {
      const [red, green, blue, alpha] = heat(x / 255);
      if (!context) break;
      context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`;
      context.fillRect(x, 0, 1, 1);
    }
    const [best, worst] = map.lowerIsBetter ? [map.low, map.high] : [map.high, map.low];
    const ends = h('div', { class: 'ends' }, h('span', { t: ['map.best', { value: raw(best) }] }), h('span', { t: ['map.worst', { value: raw(worst) }] }));
    fill(this.legend, scale, ends, h('p', { class: 'faint small' }, map.meaning));
    say(this.legend, 'label', ['map.legend', { tool: map.tool }]);
    this.legend.setAttribute('role', 'group');
  }

  /**
   * Returns the value of the map at an image pixel as text.
   * @param {{x: number, y: number}} at
   */
  valueAt(at) {
    const { map, viewer } = this;
    if (!map) return null;
    const { width, height } = viewer.scene.viewport.picture;
    const x = Math.min(map.width - 1, Math.floor(at.x * map.width / width));
    const y = Math.min(map.height - 1, Math.floor(at.y * map.height / height));
    const share = (map.values[y * map.width + x] ?? 0) / 255;
    return `${map.tool} ${raw(map.low + share * (map.high - map.low))}`;
  }
}
