// Regions of the image: draw, type, name, score and ask about them.
import { isAbort, post } from './api.js';
import { scoreBar } from './bars.js';
import { announce, button, fill, h, unique } from './dom.js';
import { raw, score } from './format.js';
import { translate } from './i18n.js';
import { regionColor } from './paint.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */
/** @typedef {import('../types.js').Region} Region */
/** @typedef {import('../types.js').ScoreRow} ScoreRow */

/** The list of regions next to the viewer. */
export class Regions {
  /**
   * @param {Viewer} viewer
   * @param {() => {image: object | null, reference: object | null}} pictures as request fields
   * @param {(region: Region) => void} ask called to ask about a region
   */
  constructor(viewer, pictures, ask) {
    this.viewer = viewer;
    this.pictures = pictures;
    this.ask = ask;
    /** @type {Region[]} */
    this.regions = [];
    /** @type {Map<Region, HTMLElement>} */
    this.results = new Map();
    this.draw = button('region.draw', () => viewer.setDrawing(!viewer.drawing), { hint: 'region.draw.hint' });
    this.list = h('ul', { class: 'plain regions' });
    this.chips = h('div', { class: 'chips found', role: 'group', label: 'region.found' });
    this.hint = h('p', { class: 'faint small', t: 'region.hint' });
    this.element = h('section', { class: 'panel', label: 'region.title' },
      h('div', { class: 'row wrap between' }, h('h3', { t: 'region.title' }),
        h('div', { class: 'row wrap' }, this.draw,
          button('region.find', () => this.#find(), { class: 'quiet', hint: 'region.find.hint' }),
          button('region.type', () => this.#addMiddle(), { class: 'quiet', hint: 'region.type.hint' }))),
      this.hint, this.chips, this.list);
    viewer.addEventListener('box', (event) => this.add(/** @type {CustomEvent<Region>} */ (event).detail));
    viewer.addEventListener('change', () => this.draw.setAttribute('aria-pressed', String(viewer.drawing)));
  }

  /** @param {Region} box */
  add(box) {
    let count = this.regions.length + 1;
    while (this.regions.some((region) => region.name === translate('region.name', { number: count }))) count += 1;
    const region = { ...box, name: box.name || translate('region.name', { number: count }) };
    this.regions.push(region);
    this.#show();
    const field = this.list.querySelector('li:last-child input');
    if (field instanceof HTMLInputElement && !box.name) field.select();
    announce(translate('region.added', { name: region.name }));
  }

  /** @param {Region[]} regions */
  replace(regions) {
    this.regions = regions.map((region) => ({ ...region }));
    this.results.clear();
    fill(this.chips);
    this.#show();
  }

  /** Returns the regions as request fields. Regions without a name are skipped. */
  named() {
    return this.regions.filter((region) => region.name.trim() !== '');
  }

  /** Looks for subject, sky and other parts; each becomes a chip that asks about it. */
  async #find() {
    const { image } = this.pictures();
    if (!image) return;
    fill(this.chips, h('p', { class: 'faint small', t: 'working' }));
    try {
      const answer = await (await post('/regions', image)).json();
      const found = /** @type {Region[]} */ (answer.regions);
      fill(this.chips, ...found.map((region) => this.#chip(region)));
      if (found.length === 0) fill(this.chips, h('p', { class: 'faint small', t: 'region.found.none' }));
      announce(found.length === 0 ? translate('region.found.none') : `${translate('region.found')}: ${found.map((region) => region.name).join(', ')}`);
    } catch (error) {
      if (!isAbort(error)) fill(this.chips, h('p', { class: 'problem', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** A chip shows its box while it is pointed at, and asks when it is pressed. @param {Region} region */
  #chip(region) {
    const show = () => this.viewer.set({ regions: [...this.regions, region], highlighted: region.name });
    const hide = () => this.viewer.set({ regions: this.regions, highlighted: null });
    return h('button', {
      type: 'button', class: 'chip', on: { click: () => this.ask(region), pointerenter: show, pointerleave: hide, focus: show, blur: hide },
    }, region.name, region.probability ? h('span', { class: 'count' }, ` ${Math.round(100 * region.probability)}%`) : null);
  }

  #addMiddle() {
    const { width, height } = this.viewer.scene.viewport.picture;
    if (!this.viewer.scene.image) return;
    const part = (/** @type {number} */ length) => Math.round(length / 4);
    this.add({ name: '', x: part(width), y: part(height), width: part(2 * width), height: part(2 * height) });
  }

  #show() {
    this.hint.hidden = this.regions.length > 0;
    fill(this.list, ...this.regions.map((region, index) => this.#item(region, index)));
    this.viewer.set({ regions: this.regions });
  }

  /** @param {Region} region @param {number} index */
  #item(region, index) {
    const result = this.results.get(region) ?? h('div', { class: 'scores' });
    this.results.set(region, result);
    const name = h('input', {
      value: region.name, label: 'region.name.label', maxlength: '60', class: 'name',
      on: { input: () => { region.name = name.value; this.viewer.set({ regions: this.regions }); } },
    });
    const item = h('li', {
      on: {
        pointerenter: () => this.viewer.set({ highlighted: region.name }), pointerleave: () => this.viewer.set({ highlighted: null }),
        focusin: () => this.viewer.set({ highlighted: region.name }), focusout: () => this.viewer.set({ highlighted: null }),
      },
    },
    h('div', { class: 'row' },
      h('i', { class: 'dot', style: { background: regionColor(index) }, 'aria-hidden': 'true' }), name,
      button('region.ask', () => this.ask(region), { class: 'small' }),
      button('region.score', () => this.#score(region, result), { class: 'small quiet' }),
      button('×', () => this.#remove(region), { class: 'small quiet square', label: ['region.remove', { name: region.name }] })),
    this.#numbers(region), result);
    return item;
  }

  /** Left, top, width and height as fields: a box can be made without a pointer. @param {Region} region */
  #numbers(region) {
    const { width, height } = this.viewer.scene.viewport.picture;
    const limits = { x: width, y: height, width, height };
    const fields = /** @type {('x' | 'y' | 'width' | 'height')[]} */ (['x', 'y', 'width', 'height']).map((side) => {
      const name = unique('side');
      const input = h('input', {
        id: name, type: 'number', min: side === 'x' || side === 'y' ? '0' : '1', max: String(limits[side]), value: String(region[side]),
        on: { change: () => {
          const low = side === 'x' || side === 'y' ? 0 : 1;
          region[side] = Math.min(limits[side], Math.max(low, Math.round(Number(input.value) || 0)));
          region.width = Math.max(1, Math.min(region.width, width - region.x));
          region.height = Math.max(1, Math.min(region.height, height - region.y));
          input.value = String(region[side]);
          this.viewer.set({ regions: this.regions });
        } },
      });
      return h('span', {}, h('label', { for: name, t: `region.${side}` }), input);
    });
    return h('div', { class: 'sides' }, ...fields);
  }

  /** @param {Region} region */
  #remove(region) {
    this.regions = this.regions.filter((other) => other !== region);
    this.results.delete(region);
    this.#show();
    this.draw.focus();
  }

  /** Scores of that region alone, by the tools without the agent. @param {Region} region @param {HTMLElement} result */
  async #score(region, result) {
    const { image, reference } = this.pictures();
    if (!image) return;
    fill(result, h('p', { class: 'faint small', t: 'working' }));
    try {
      const regions = { [region.name]: [region.x, region.y, region.width, region.height] };
      const answer = await (await post('/score', { ...image, ...reference, regions })).json();
      const rows = /** @type {ScoreRow[]} */ (answer.rows).filter((row) => row.region === region.name);
      fill(result, scoreTable(rows));
      announce(translate('region.scored', { name: region.name, count: rows.length }));
    } catch (error) {
      if (!isAbort(error)) fill(result, h('p', { class: 'problem', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }
}

/** @param {ScoreRow[]} rows */
function scoreTable(rows) {
  const lines = rows.map((row) => h('tr', {},
    h('th', { scope: 'row' }, row.tool),
    h('td', { class: 'figure' }, row.error ?? raw(row.raw_score), ' ', direction(row.lower_is_better)),
    h('td', { class: 'figure' }, score(row.normalized_score)),
    h('td', { class: 'bar-cell' }, row.normalized_score === null ? null : scoreBar(row.normalized_score, row.interval, 'small'))));
  return h('table', { class: 'tools compact' },
    h('thead', { class: 'unseen' }, h('tr', {}, h('th', { t: 'tool' }), h('th', { t: 'raw' }), h('th', { t: 'scale' }), h('td'))),
    h('tbody', {}, ...lines));
}

/**
 * Returns an arrow that shows which direction is better, with a text for screen readers.
 * @param {boolean | null | undefined} lowerIsBetter
 */
export function direction(lowerIsBetter) {
  if (lowerIsBetter === null || lowerIsBetter === undefined) return null;
  const words = lowerIsBetter ? 'lower' : 'higher';
  return h('span', { class: 'direction', hint: words }, h('span', { 'aria-hidden': 'true' }, lowerIsBetter ? '↓' : '↑'), h('span', { class: 'unseen', t: words }));
}
