// One image of a job: viewer and score card, with links to the previous and next image.
import { get, isAbort } from './api.js';
import { compareBar, compareKeys, probeLine } from './compare.js';
import { fill, h, isTyping } from './dom.js';
import { address, go } from './router.js';
import { scoreCard } from './scorecard.js';
import { Viewer, loadBitmap } from './viewer.js';

/** @typedef {import('../types.js').AssessmentRecord} AssessmentRecord */
/** @typedef {import('../types.js').Tool} Tool */

export class Sample {
  /** @param {(id: string, sample: string) => {before: string | null, after: string | null}} neighbors */
  constructor(neighbors) {
    this.neighbors = neighbors;
    /** @type {Map<string, Tool>} */
    this.tools = new Map();
    /** @type {AbortController | null} */
    this.request = null;
    this.viewer = new Viewer();
    this.title = h('h1');
    this.paths = h('nav', { class: 'row', label: 'sample.paths' });
    this.card = h('div', { class: 'right' });
    this.problem = h('p', { class: 'notice problem', role: 'alert', hidden: true });
    this.element = h('div', { class: 'workbench' },
      h('div', { class: 'left' }, h('div', { class: 'row between wrap' }, this.title, this.paths), this.problem,
        compareBar(this.viewer), this.viewer.element, probeLine(this.viewer, () => null)),
      this.card);
    compareKeys(this.viewer, () => this.element.isConnected);
    document.addEventListener('keydown', (event) => {
      if (!this.element.isConnected || isTyping(event)) return;
      const link = /** @type {HTMLAnchorElement | null} */ (this.paths.querySelector({ j: '.after', k: '.before', Escape: '.up' }[event.key] ?? 'never'));
      if (link) go(link.hash);
    });
  }

  /** @param {string} job @param {string} sample @param {URLSearchParams} query */
  async open(job, sample, query) {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    const kept = Object.fromEntries(query);
    const { before, after } = this.neighbors(job, sample);
    fill(this.paths,
      before ? h('a', { class: 'button small before', href: address(['jobs', job, before], kept), t: 'sample.before' }) : null,
      after ? h('a', { class: 'button small after', href: address(['jobs', job, after], kept), t: 'sample.after' }) : null,
      h('a', { class: 'button small up', href: address(['jobs', job], kept), t: 'sample.up' }));
    this.title.textContent = sample;
    this.problem.hidden = true;
    this.viewer.setImage(null);
    fill(this.card);
    const path = `/jobs/${encodeURIComponent(job)}`;
    try {
      const [record, bitmap] = await Promise.all([
        get(`${path}/results/${encodeURIComponent(sample)}`, request.signal),
        loadBitmap(`${path}/pictures/${encodeURIComponent(sample)}/view`, request.signal).catch((error) => {
          if (isAbort(error)) throw error;
          return null; // show the record even if the image cannot be read
        }),
      ]);
      this.viewer.setImage(bitmap);
      this.viewer.set({ regions: /** @type {AssessmentRecord} */ (record).regions ?? [] });
      fill(this.card, scoreCard(record, { tools: this.tools, highlight: (object) => this.viewer.set({ highlighted: object }) }));
    } catch (error) {
      if (isAbort(error)) return;
      this.problem.textContent = error instanceof Error ? error.message : String(error);
      this.problem.hidden = false;
    }
  }
}
