// Stored assessments, newest first.
import { get, isAbort, show } from './api.js';
import { scoreBar } from './bars.js';
import { button, fill, h } from './dom.js';
import { moment, score, shorten } from './format.js';
import { address } from './router.js';

const PAGE = 30;

export class History {
  constructor() {
    this.list = h('ul', { class: 'plain history' });
    this.more = button('history.more', () => this.#load(), { hidden: true });
    this.problem = h('p', { class: 'notice problem', role: 'alert', hidden: true });
    this.element = h('div', { class: 'narrow' }, h('h1', { t: 'history.title' }), this.problem, this.list, this.more);
    this.last = '';
  }

  async open() {
    this.last = '';
    fill(this.list);
    await this.#load();
  }

  async #load() {
    try {
      const query = new URLSearchParams({ limit: String(PAGE), ...(this.last ? { before: this.last } : {}) });
      const answer = await get(`/assessments?${query}`);
      const rows = /** @type {any[]} */ (Array.isArray(answer) ? answer : answer.assessments ?? answer.rows ?? []);
      if (!this.last && rows.length === 0) fill(this.list, h('li', { class: 'faint', t: 'history.empty' }));
      this.list.append(...rows.map((row) => this.#item(row)));
      this.last = rows.at(-1)?.id ?? this.last;
      this.more.hidden = rows.length < PAGE;
      this.problem.hidden = true;
    } catch (error) {
      if (isAbort(error)) return;
      this.problem.textContent = error instanceof Error ? error.message : String(error);
      this.problem.hidden = false;
    }
  }

  /** @param {any} row */
  #item(row) {
    const image = h('img', { alt: '', loading: 'lazy', width: 96, height: 72 });
    image.addEventListener('error', () => image.classList.add('missing')); // the server may have removed the image
    if (row.image_id) show(image, `/pictures/${encodeURIComponent(row.image_id)}/thumbnail?size=192`);
    return h('li', {}, h('a', { class: 'past', href: address(['a', row.id]) }, image,
      h('span', { class: 'past-text' }, h('span', {}, shorten(row.query ?? '', 140)), h('span', { class: 'small faint' }, moment(row.timestamp))),
      h('span', { class: 'past-score' }, h('b', { class: 'figure' }, score(row.quality_score)),
        row.quality_score === null || row.quality_score === undefined ? h('span', { class: 'small' }, shorten(row.final_answer ?? '', 40)) : scoreBar(row.quality_score, null, 'small'))));
  }
}
