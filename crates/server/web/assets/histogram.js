// The histogram of scores. Drag over it or use the keyboard to select a range.
import { fill, h, s, say } from './dom.js';
import { number } from './i18n.js';

/** @typedef {{edges: number[], counts: number[], matching: number[]}} Counts */

const [WIDTH, HEIGHT] = [400, 90];
const [LOW, HIGH] = [1, 5];

export class Histogram {
  /** @param {(range: [number, number] | null) => void} choose called with the selected range */
  constructor(choose) {
    this.choose = choose;
    /** @type {[number, number] | null} */
    this.range = null;
    /** @type {Counts} */
    this.counts = { edges: [], counts: [], matching: [] };
    this.bars = s('g');
    this.brush = s('rect', { class: 'brush', y: 0, height: HEIGHT, x: 0, width: 0 });
    this.chart = s('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', class: 'bars', 'aria-hidden': 'true' }, this.bars, this.brush);
    this.low = this.#end('histogram.low', LOW);
    this.high = this.#end('histogram.high', HIGH);
    this.text = h('output', { class: 'small' });
    this.clear = h('button', { type: 'button', class: 'small quiet', t: 'histogram.all', on: { click: () => this.set(null, true) } });
    this.element = h('div', { class: 'histogram', role: 'group', label: 'histogram.title' },
      h('div', { class: 'plot' }, this.chart, this.low, this.high),
      h('div', { class: 'axis small faint', 'aria-hidden': 'true' }, ...[1, 2, 3, 4, 5].map((tick) => h('span', {}, tick))),
      h('div', { class: 'row between' }, this.text, this.clear));
    this.#drag();
    this.set(null);
  }

  /** @param {string} label @param {number} value */
  #end(label, value) {
    const input = h('input', {
      type: 'range', min: String(LOW), max: String(HIGH), step: '0.1', value: String(value), label,
      on: {
        input: () => this.#fromEnds(false),
        change: () => this.#fromEnds(true),
      },
    });
    return input;
  }

  /** @param {boolean} tell */
  #fromEnds(tell) {
    const [first, second] = [Number(this.low.value), Number(this.high.value)];
    const whole = Math.min(first, second) <= LOW && Math.max(first, second) >= HIGH;
    this.set(whole ? null : [Math.min(first, second), Math.max(first, second)], tell);
  }

  /** @param {[number, number] | null} range @param {boolean} [tell] */
  set(range, tell = false) {
    this.range = range;
    const [low, high] = range ?? [LOW, HIGH];
    this.low.value = String(low);
    this.high.value = String(high);
    this.brush.setAttribute('x', String((low - LOW) / (HIGH - LOW) * WIDTH));
    this.brush.setAttribute('width', String((high - low) / (HIGH - LOW) * WIDTH));
    this.brush.classList.toggle('whole', range === null);
    this.clear.hidden = range === null;
    say(this.text, 't', range ? ['histogram.range', { low: number(low, 1), high: number(high, 1) }] : 'histogram.whole');
    if (tell) this.choose(range);
  }

  /** @param {Counts} counts */
  show(counts) {
    this.counts = counts;
    const most = Math.max(1, ...counts.counts);
    const at = (/** @type {number | undefined} */ value) => ((value ?? LOW) - LOW) / (HIGH - LOW) * WIDTH;
    const bar = (/** @type {string} */ kind, /** @type {number} */ index, /** @type {number} */ count) => {
      const [left, right] = [at(counts.edges[index]), at(counts.edges[index + 1])];
      const tall = count / most * (HEIGHT - 4);
      return s('rect', { class: kind, x: left + 0.8, width: Math.max(0, right - left - 1.6), y: HEIGHT - tall, height: tall });
    };
    fill(this.bars, ...counts.counts.flatMap((count, index) => [bar('all', index, count), bar('matching', index, counts.matching[index] ?? 0)]));
  }

  #drag() {
    /** @type {number | null} */
    let from = null;
    const score = (/** @type {PointerEvent} */ event) => {
      const box = this.chart.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return Math.round((LOW + share * (HIGH - LOW)) * 10) / 10;
    };
    this.chart.addEventListener('pointerdown', (event) => {
      this.chart.setPointerCapture(event.pointerId);
      from = score(event);
    });
    this.chart.addEventListener('pointermove', (event) => {
      if (from === null) return;
      const to = score(event);
      if (to !== from) this.set([Math.min(from, to), Math.max(from, to)]);
    });
    this.chart.addEventListener('pointerup', (event) => {
      if (from === null) return;
      const to = score(event);
      this.set(to === from ? null : [Math.min(from, to), Math.max(from, to)], true); // a click clears the range
      from = null;
    });
    this.chart.addEventListener('pointercancel', () => { from = null; });
  }
}
