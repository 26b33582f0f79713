// Compares two runs in a scatter plot. Each point is an image in both runs: A to the right, B upwards.
import { get, isAbort, show } from './api.js';
import { fill, h, s, unique } from './dom.js';
import { nameOf, score } from './format.js';
import { number } from './i18n.js';
import { jobList } from './jobs.js';
import { address, rename } from './router.js';
import { agreement } from './statistics.js';

/** @typedef {import('../types.js').Job} Job */
/** @typedef {import('../types.js').JobRow} JobRow */
/** @typedef {{a: JobRow, b: JobRow, x: number, y: number}} Both */

const [SIZE, MARGIN, PAGE] = [420, 34, 500];

export class Scatter {
  constructor() {
    const [a, b, value] = ['a', 'b', 'value'].map((stem) => unique(stem));
    const change = { change: () => this.#load() };
    this.a = h('select', { id: a, on: change });
    this.b = h('select', { id: b, on: change });
    this.value = h('select', { id: value, on: { change: () => this.#show() } });
    this.summary = h('p', { role: 'status' });
    this.problem = h('p', { class: 'notice problem', role: 'alert', hidden: true });
    this.plot = h('div', { class: 'scatter' });
    this.detail = h('div', { class: 'scatter-detail panel', hidden: true });
    /** @type {{a: JobRow[], b: JobRow[]}} */
    this.rows = { a: [], b: [] };
    this.element = h('div', { class: 'narrow wide' }, h('h1', { t: 'compare.title' }), h('p', { class: 'faint', t: 'compare.text' }),
      h('div', { class: 'grid three' },
        h('div', { class: 'field' }, h('label', { for: a, t: 'compare.a' }), this.a),
        h('div', { class: 'field' }, h('label', { for: b, t: 'compare.b' }), this.b),
        h('div', { class: 'field' }, h('label', { for: value, t: 'compare.value' }), this.value)),
      this.problem, this.summary, h('div', { class: 'scatter-body' }, this.plot, this.detail));
  }

  /** @param {URLSearchParams} query */
  async open(query) {
    this.problem.hidden = true;
    try {
      const jobs = await jobList();
      const option = (/** @type {Job} */ job) => h('option', { value: job.id }, `${job.name || job.id} (${job.done})`);
      fill(this.a, ...jobs.map(option));
      fill(this.b, ...jobs.map(option));
      this.a.value = query.get('a') ?? jobs[1]?.id ?? jobs[0]?.id ?? '';
      this.b.value = query.get('b') ?? jobs.find((job) => job.id !== this.a.value)?.id ?? '';
      await this.#load();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    if (isAbort(error)) return;
    this.problem.textContent = error instanceof Error ? error.message : String(error);
    this.problem.hidden = false;
  }

  async #load() {
    const [a, b] = [this.a.value, this.b.value];
    if (!a || !b) {
      fill(this.summary, h('span', { t: 'compare.few' }));
      return;
    }
    rename(address(['compare'], { a, b }));
    try {
      const [left, right] = await Promise.all([allRows(a), allRows(b)]);
      if (this.a.value !== a || this.b.value !== b) return;
      this.rows = { a: left, b: right };
      const tools = [...new Set([...left, ...right].flatMap((row) => Object.keys(row.tools ?? {})))].sort();
      fill(this.value, h('option', { value: '', t: 'scale' }), ...tools.map((name) => h('option', { value: name }, name)));
      this.#show();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Matches the images of both runs by sample ID, or by file name if uploads have different IDs. */
  #both() {
    const name = this.value.value;
    const of = (/** @type {JobRow} */ row) => (name ? row.tools?.[name] : row.score) ?? null;
    const byId = new Map(this.rows.b.map((row) => [row.sample_id, row]));
    const byName = new Map(this.rows.b.map((row) => [nameOf(row), row]));
    /** @type {Both[]} */
    const both = [];
    for (const a of this.rows.a) {
      const b = byId.get(a.sample_id) ?? byName.get(nameOf(a));
      const [x, y] = [of(a), b ? of(b) : null];
      if (b && x !== null && y !== null) both.push({ a, b, x, y });
    }
    return both;
  }

  #show() {
    const both = this.#both();
    const { rank, linear, shift } = agreement(both.map(({ x }) => x), both.map(({ y }) => y));
    const figure = (/** @type {number | null} */ value) => (value === null ? '–' : number(value, 3));
    fill(this.summary,
      h('b', { t: ['compare.both', { count: number(both.length, 0) }] }), ' ',
      h('span', { t: ['compare.apart', { a: number(this.rows.a.length - both.length, 0), b: number(this.rows.b.length - both.length, 0) }] }), ' ',
      h('span', { t: ['compare.figures', { rank: figure(rank), linear: figure(linear), shift: figure(shift) }] }));
    this.detail.hidden = true;
    fill(this.plot, this.#chart(both));
  }

  /** @param {Both[]} both */
  #chart(both) {
    const at = (/** @type {number} */ value) => MARGIN + (value - 1) / 4 * (SIZE - 2 * MARGIN);
    const ticks = [1, 2, 3, 4, 5].flatMap((tick) => [
      s('line', { class: 'grid', x1: at(tick), x2: at(tick), y1: MARGIN, y2: SIZE - MARGIN }),
      s('line', { class: 'grid', x1: MARGIN, x2: SIZE - MARGIN, y1: at(tick), y2: at(tick) }),
      s('text', { x: at(tick), y: SIZE - MARGIN + 16, class: 'tick' }, tick),
      s('text', { x: MARGIN - 12, y: SIZE - at(tick) + 4, class: 'tick' }, tick),
    ]);
    const points = both.map((pair) => {
      const open = () => this.#tell(pair);
      return s('a', {
        href: address(['jobs', this.a.value, pair.a.sample_id]), class: 'point',
        on: { pointerenter: open, focus: open }, label: ['compare.point', { name: nameOf(pair.a), a: score(pair.x), b: score(pair.y) }],
      }, s('circle', { cx: at(pair.x), cy: SIZE - at(pair.y), r: 6 }));
    });
    return s('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, role: 'group', label: ['compare.chart', { count: both.length }] },
      ...ticks, s('line', { class: 'diagonal', x1: at(1), y1: SIZE - at(1), x2: at(5), y2: SIZE - at(5) }),
      s('text', { x: SIZE / 2, y: SIZE - 3, class: 'tick axis-name' }, 'A'), s('text', { x: 8, y: SIZE / 2, class: 'tick axis-name' }, 'B'), ...points);
  }

  /** @param {Both} pair */
  #tell(pair) {
    this.detail.hidden = false;
    const image = h('img', { alt: '', width: 256, height: 192 });
    show(image, pair.a.thumbnail);
    const side = (/** @type {string} */ words, /** @type {string} */ job, /** @type {JobRow} */ row, /** @type {number} */ value) =>
      h('p', {}, h('span', { class: 'faint', t: words }), ' ', h('b', { class: 'figure' }, score(value)), ' ', h('a', { href: address(['jobs', job, row.sample_id]), t: 'compare.open' }));
    fill(this.detail, image, h('p', { class: 'file' }, nameOf(pair.a)),
      side('compare.a', this.a.value, pair.a, pair.x), side('compare.b', this.b.value, pair.b, pair.y));
  }
}

/** @param {string} job @returns {Promise<JobRow[]>} */
async function allRows(job) {
  /** @type {JobRow[]} */
  const rows = [];
  for (;;) {
    const page = await get(`/jobs/${encodeURIComponent(job)}/results?sort=name&offset=${rows.length}&limit=${PAGE}`);
    rows.push(...page.rows);
    if (page.rows.length === 0 || rows.length >= page.matching) return rows;
  }
}
