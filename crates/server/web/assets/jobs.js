// The list of jobs, and the form for a new job: uploaded images, or a folder or manifest on the server.
import { get, isAbort, post } from './api.js';
import { button, fill, h, unique } from './dom.js';
import { chooser, dropZone } from './drop.js';
import { moment } from './format.js';
import { number, translate } from './i18n.js';
import { address, go } from './router.js';

/** @typedef {import('../types.js').Job} Job */

export class Jobs {
  constructor() {
    /** @type {File[]} */
    this.files = [];
    const [query, folder, name] = ['query', 'folder', 'name'].map((stem) => unique(stem));
    this.query = h('input', { id: query, maxlength: '4000', placeholder: 'preset.overall' });
    this.folder = h('input', { id: folder, placeholder: 'jobs.folder.placeholder', autocomplete: 'off' });
    this.name = h('input', { id: name, maxlength: '100' });
    this.chosen = h('p', { class: 'small', role: 'status' });
    this.send = h('button', { class: 'primary', t: 'jobs.start' });
    this.problem = h('p', { class: 'notice problem', role: 'alert', hidden: true });
    this.list = h('ul', { class: 'plain job-list' });
    const zone = h('div', { class: 'dropline' }, h('p', { t: 'jobs.drop' }),
      chooser('jobs.choose', (files) => this.take(files), { multiple: true, name: 'images' }), this.chosen);
    dropZone(zone, (files) => this.take(files));
    this.form = h('form', { class: 'panel', label: 'jobs.new', on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); this.#start(); } } },
      h('h2', { t: 'jobs.new' }), zone,
      h('div', { class: 'field' }, h('label', { for: folder, t: 'jobs.folder' }), this.folder),
      h('div', { class: 'field' }, h('label', { for: query, t: 'ask.title' }), this.query),
      h('div', { class: 'field' }, h('label', { for: name, t: 'jobs.name' }), this.name),
      this.problem, h('div', { class: 'row end' }, this.send));
    this.element = h('div', { class: 'narrow' }, h('h1', { t: 'jobs.title' }), this.form,
      h('section', { label: 'jobs.list' }, h('div', { class: 'row between' }, h('h2', { t: 'jobs.list' }),
        h('a', { class: 'button small', href: address(['compare']), t: 'job.compare' })), this.list));
  }

  /** @param {File[]} files */
  take(files) {
    this.files = [...this.files, ...files];
    fill(this.chosen, h('span', { t: ['jobs.chosen', { count: number(this.files.length, 0) }] }), ' ',
      button('jobs.none', () => { this.files = []; fill(this.chosen); }, { class: 'small quiet' }));
  }

  async open() {
    try {
      const jobs = await jobList();
      fill(this.list, ...jobs.map((job) => h('li', {}, h('a', { class: 'job', href: address(['jobs', job.id]) },
        h('b', {}, job.name || job.id), h('span', { class: 'tag', 'data-state': job.state, t: `job.${job.state}` }),
        h('span', { class: 'small faint', t: ['job.count', { done: number(job.done, 0), total: number(job.total, 0) }] }),
        h('span', { class: 'small faint' }, moment(job.created))))));
      if (jobs.length === 0) fill(this.list, h('li', { class: 'faint', t: 'jobs.empty' }));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    this.problem.hidden = error === null || isAbort(error);
    this.problem.textContent = error instanceof Error ? error.message : '';
  }

  async #start() {
    this.#fail(null);
    const path = this.folder.value.trim();
    if (this.files.length === 0 && !path) {
      this.#fail(new Error(translate('jobs.nothing')));
      return;
    }
    this.send.disabled = true;
    try {
      const job = await (await post('/jobs', this.files.length > 0 ? this.#upload() : this.#named(path))).json();
      this.files = [];
      fill(this.chosen);
      go(address(['jobs', job.id]));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.send.disabled = false;
    }
  }

  #upload() {
    const form = new FormData();
    for (const file of this.files) form.append('image', file, file.name);
    form.append('query', this.query.value.trim() || translate('preset.overall'));
    if (this.name.value.trim()) form.append('name', this.name.value.trim());
    return form;
  }

  /** @param {string} path of a folder, or of a manifest if it has such an extension */
  #named(path) {
    const manifest = /\.(jsonl|ndjson|json|csv|tsv|parquet)$/i.test(path);
    const query = this.query.value.trim() || (manifest ? '' : translate('preset.overall'));
    const named = this.name.value.trim();
    return { [manifest ? 'manifest' : 'folder']: path, ...(query ? { query } : {}), ...(named ? { name: named } : {}) };
  }
}

/** @returns {Promise<Job[]>} */
export async function jobList() {
  const answer = await get('/jobs');
  return Array.isArray(answer) ? answer : answer.jobs ?? [];
}
