// A job: progress, image gallery and filters.
import { call, download, follow, get, isAbort, post, show } from './api.js';
import { scoreBar } from './bars.js';
import { announce, button, fill, h, say } from './dom.js';
import { Filters } from './filters.js';
import { cost, duration, nameOf, score } from './format.js';
import { number, translate } from './i18n.js';
import { address, go, rename } from './router.js';
import { dots } from './scorecard.js';

/** @typedef {import('../types.js').Job} Job */
/** @typedef {import('../types.js').JobRow} JobRow */
/** @typedef {import('../types.js').Results} Results */

const PAGE = 60;
const REFRESH = 1500; // milliseconds between updates of the results of a running job
const ENDED = ['done', 'stopped', 'failed'];

export class Gallery {
  constructor() {
    this.id = '';
    /** @type {JobRow[]} */
    this.rows = [];
    /** @type {AbortController | null} */
    this.following = null;
    this.asked = 0;
    this.loaded = 0;
    /** Tiles by content, reused on every update so that the images do not flicker. */
    /** @type {Map<string, HTMLElement>} */
    this.tiles = new Map();
    this.filters = new Filters(() => {
      rename(address(['jobs', this.id], this.filters.query()));
      this.load();
    });
    this.head = h('header', { class: 'job-head' });
    this.shown = h('p', { class: 'hidden-count', role: 'status' });
    this.wall = h('ul', { class: 'plain wall', label: 'gallery.label', on: { keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event) } });
    this.more = button('gallery.more', () => this.load(true), { hidden: true });
    this.problem = h('p', { class: 'notice problem', role: 'alert', hidden: true });
    this.element = h('div', { class: 'gallery' }, this.head, this.problem,
      h('div', { class: 'gallery-body' }, this.filters.element, h('div', { class: 'gallery-main' }, this.shown, this.wall, this.more)));
  }

  /** @param {string} id @param {URLSearchParams} query */
  async open(id, query) {
    const same = this.id === id && this.rows.length > 0;
    this.id = id;
    this.filters.read(query);
    if (!same) {
      fill(this.head);
      fill(this.wall);
      fill(this.shown);
    }
    this.close();
    const following = new AbortController();
    this.following = following;
    try {
      this.#showHead(await get(`/jobs/${encodeURIComponent(id)}`, following.signal));
      await this.load();
      await this.#follow(following.signal);
    } catch (error) {
      if (!isAbort(error)) this.#fail(error);
    }
  }

  /** Stops the updates. The job keeps running on the server. */
  close() {
    this.following?.abort();
    this.following = null;
  }

  /** @param {AbortSignal} signal */
  async #follow(signal) {
    if (this.job && ENDED.includes(this.job.state)) return;
    for await (const { data } of follow(`/jobs/${encodeURIComponent(this.id)}/events`, signal)) {
      this.#showHead(data);
      if (performance.now() - this.loaded > REFRESH) await this.load();
    }
    this.#showHead(await get(`/jobs/${encodeURIComponent(this.id)}`, signal));
    await this.load();
    announce(translate(`job.${this.job?.state ?? 'done'}`));
  }

  /** @param {unknown} error */
  #fail(error) {
    this.problem.hidden = error === null;
    this.problem.textContent = error instanceof Error ? error.message : '';
  }

  /** @param {boolean} [further] whether to load the next page */
  async load(further = false) {
    this.asked += 1;
    const asked = this.asked;
    this.loaded = performance.now();
    const shown = Math.max(PAGE, this.rows.length);
    const page = further ? { offset: this.rows.length, limit: PAGE } : { offset: 0, limit: shown };
    try {
      const query = new URLSearchParams({ ...this.filters.query(), offset: String(page.offset), limit: String(page.limit) });
      const results = /** @type {Results} */ (await get(`/jobs/${encodeURIComponent(this.id)}/results?${query}`));
      if (asked !== this.asked) return; // a newer request was sent
      this.#fail(null);
      this.rows = further ? [...this.rows, ...results.rows] : results.rows;
      this.#show(results);
    } catch (error) {
      if (asked === this.asked && !isAbort(error)) this.#fail(error);
    }
  }

  /** @param {Results} results */
  #show(results) {
    this.filters.offer(results);
    const words = h('span', { t: ['gallery.shown', { matching: number(results.matching, 0), total: number(results.total, 0) }] });
    const hidden = h('b', { t: ['gallery.hidden', { hidden: number(results.hidden, 0) }] });
    fill(this.shown, words, ' ', hidden, ' ', this.filters.active ? button('gallery.clear', () => this.filters.clear(), { class: 'small quiet' }) : null);
    const focused = document.activeElement instanceof HTMLElement && this.wall.contains(document.activeElement) ? document.activeElement.dataset.sample : null;
    const query = JSON.stringify([this.id, this.filters.query()]);
    const tiles = this.rows.map((row, index) => {
      const key = query + JSON.stringify(row);
      const tile = this.tiles.get(key) ?? this.#tile(row);
      tile.querySelector('a')?.setAttribute('tabindex', index === 0 ? '0' : '-1');
      return /** @type {[string, HTMLElement]} */ ([key, tile]);
    });
    this.tiles = new Map(tiles);
    fill(this.wall, ...this.tiles.values());
    if (focused) this.#focus(this.rows.findIndex((row) => row.sample_id === focused));
    this.more.hidden = this.rows.length >= results.matching;
  }

  /** @param {JobRow} row */
  #tile(row) {
    const image = h('img', { alt: '', loading: 'lazy', width: 256, height: 192 });
    show(image, row.thumbnail || `/jobs/${encodeURIComponent(this.id)}/thumbnails/${encodeURIComponent(row.sample_id)}`);
    const worst = row.distortions.filter(({ severity }) => severity && severity !== 'none').slice(0, 2);
    return h('li', {}, h('a', {
      class: 'tile', href: address(['jobs', this.id, row.sample_id], this.filters.query()), 'data-sample': row.sample_id,
    },
    image,
    h('span', { class: 'caption' },
      h('span', { class: 'row between' }, h('span', { class: 'file', title: row.sample_id }, nameOf(row)), h('b', { class: 'figure' }, score(row.score))),
      row.score === null ? h('span', { class: 'problem small' }, row.error ?? translate(`status.${row.status}`)) : scoreBar(row.score, row.interval, 'small'),
      ...worst.map(({ name, severity }) => h('span', { class: 'severity small', 'data-severity': severity },
        h('span', { t: `distortion.${name}` }), dots(severity), h('span', { class: 'unseen', t: `severity.${severity}` }))))));
  }

  /** @param {number} index */
  #focus(index) {
    const tiles = /** @type {HTMLElement[]} */ ([...this.wall.querySelectorAll('.tile')]);
    const next = tiles[Math.min(tiles.length - 1, Math.max(0, index))];
    tiles.forEach((tile) => { tile.tabIndex = tile === next ? 0 : -1; });
    next?.focus();
  }

  /** Arrows go over the wall as it is laid out. @param {KeyboardEvent} event */
  #key(event) {
    const tiles = /** @type {HTMLElement[]} */ ([...this.wall.querySelectorAll('.tile')]);
    const at = tiles.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    const top = tiles[0]?.getBoundingClientRect().top;
    const columns = tiles.filter((tile) => tile.getBoundingClientRect().top === top).length || 1;
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: tiles.length - 1 };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#focus(to);
  }

  /** @param {Job} job */
  #showHead(job) {
    const before = this.job;
    this.job = job;
    const figures = [
      h('span', { t: ['job.count', { done: number(job.done, 0), total: number(job.total, 0) }] }),
      job.errors > 0 ? h('span', { class: 'problem', t: ['job.errors', { count: job.errors }] }) : null,
      job.rate ? h('span', { t: ['job.rate', { rate: number(job.rate, 1) }] }) : null,
      job.state === 'running' && job.eta_seconds !== null ? h('span', { t: ['job.eta', { time: duration(job.eta_seconds) }] }) : null,
      job.tokens ? h('span', { t: ['totals.tokens', { count: job.tokens }] }) : null,
      h('span', { t: ['totals.cost', { cost: cost(job.cost_usd) }] }),
    ];
    if (before?.id === job.id && before.state === job.state && this.figures?.isConnected && this.bar) {
      fill(this.figures, ...figures); // keeps the buttons, so that the focus is not lost
      this.bar.max = Math.max(1, job.total);
      this.bar.value = job.done;
      return;
    }
    this.figures = h('p', { class: 'totals small' }, ...figures);
    this.bar = h('progress', { max: String(Math.max(1, job.total)), value: job.done, label: 'job.progress' });
    fill(this.head,
      h('div', { class: 'row between wrap' }, h('h1', {}, job.name || job.id, ' ', h('span', { class: 'tag', 'data-state': job.state, t: `job.${job.state}` })), this.#actions(job)),
      this.bar, this.figures, job.problem ? h('p', { class: 'problem' }, job.problem) : null);
  }

  /** @param {Job} job */
  #actions(job) {
    const path = `/jobs/${encodeURIComponent(job.id)}`;
    const act = async (/** @type {() => Promise<unknown>} */ action, /** @type {string} */ to) => {
      try {
        await action();
        go(to);
      } catch (error) {
        this.#fail(error);
      }
    };
    const here = address(['jobs', job.id], this.filters.query());
    const save = (/** @type {string} */ format) => button(`export.${format}`, () => {
      const query = new URLSearchParams({ ...this.filters.query(), format });
      download(`${path}/export?${query}`, `${job.name || job.id}.${format}`).catch((error) => this.#fail(error));
    }, { class: 'small', hint: 'export.hint' });
    const running = job.state === 'running' || job.state === 'queued';
    const discard = button('job.delete', () => {
      if (discard.dataset.sure) act(() => call(path, { method: 'DELETE' }), address(['jobs']));
      else {
        discard.dataset.sure = 'yes';
        say(discard, 't', 'job.delete.sure');
      }
    }, { class: 'small quiet danger' });
    return h('div', { class: 'row wrap' },
      running ? button('job.stop', () => act(() => post(`${path}/stop`, {}), here), { class: 'small' })
        : job.state === 'done' ? null : button('job.resume', () => act(() => post(`${path}/resume`, {}), here), { class: 'small' }),
      save('csv'), save('jsonl'), h('a', { class: 'button small', href: address(['compare'], { a: job.id }), t: 'job.compare' }), discard);
  }
}
