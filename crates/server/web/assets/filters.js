// Filters and sort order of job results. They are part of the URL, so that links preserve them.
import { fill, h, unique } from './dom.js';
import { SEVERITIES } from './format.js';
import { Histogram } from './histogram.js';

/** @typedef {import('../types.js').Results} Results */

const NAMES = ['sort', 'distortion', 'severity', 'min', 'max', 'tool', 'tool_min', 'tool_max', 'status'];
const SORTS = ['score', '-score', 'name', 'time'];
const STATES = ['success', 'partial', 'error'];

export class Filters {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Record<string, string>} */
    this.values = {};
    this.histogram = new Histogram((range) => this.#set({ min: range ? String(range[0]) : '', max: range ? String(range[1]) : '' }));
    const [sort, tool, status] = ['sort', 'tool', 'status'].map((stem) => unique(stem));
    this.sort = h('select', { id: sort, on: { change: () => this.#set({ sort: this.sort.value }) } },
      ...SORTS.map((name) => h('option', { value: name, t: `sort.${name}` })));
    this.tool = h('select', { id: tool, on: { change: () => this.#set({ tool: this.tool.value }) } });
    this.status = h('select', { id: status, on: { change: () => this.#set({ status: this.status.value }) } },
      h('option', { value: '', t: 'status.any' }), ...STATES.map((name) => h('option', { value: name, t: `status.short.${name}` })));
    this.toolLow = this.#number('tool_min', 'tool.min');
    this.toolHigh = this.#number('tool_max', 'tool.max');
    this.distortions = h('div', { class: 'chips', role: 'group', label: 'filter.distortion' });
    this.severities = h('div', { class: 'chips', role: 'group', label: 'filter.severity' });
    // Open on wide screens; on a phone they would push the images down.
    const roomy = matchMedia('(min-width: 821px)');
    const fold = h('details', {}, h('summary', { t: 'filter.title' }),
      h('div', { class: 'field' }, h('label', { for: sort, t: 'sort' }), this.sort),
      h('h3', { t: 'histogram.title' }), this.histogram.element,
      h('h3', { t: 'filter.distortion' }), this.distortions,
      h('h3', { t: 'filter.severity' }), this.severities,
      h('div', { class: 'field' }, h('label', { for: tool, t: 'tool' }), this.tool),
      h('div', { class: 'row tool-range' }, this.toolLow, '–', this.toolHigh),
      h('div', { class: 'field' }, h('label', { for: status, t: 'filter.status' }), this.status));
    fold.open = roomy.matches;
    roomy.addEventListener('change', () => { fold.open = roomy.matches; });
    this.element = h('aside', { class: 'filters panel', label: 'filter.title' }, fold);
  }

  /** @param {string} name @param {string} label */
  #number(name, label) {
    const input = h('input', { type: 'number', min: '1', max: '5', step: '0.1', label, placeholder: label, on: { change: () => this.#set({ [name]: input.value }) } });
    return input;
  }

  /** @param {Record<string, string>} values */
  #set(values) {
    this.values = { ...this.values, ...values };
    this.#reflect();
    this.changed();
  }

  /** Returns whether any filter is set. */
  get active() {
    return NAMES.some((name) => name !== 'sort' && this.values[name]);
  }

  clear() {
    this.values = { sort: this.values.sort ?? '' };
    this.#reflect();
    this.changed();
  }

  /** @param {URLSearchParams} query */
  read(query) {
    this.values = Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? '']));
    this.#reflect();
  }

  /** Returns the filters as query parameters, for the page and the server. */
  query() {
    /** @type {Record<string, string>} */
    const kept = { ...this.values, sort: this.values.sort || 'score' };
    if (!kept.tool) { // limits have no meaning without a tool
      delete kept.tool_min;
      delete kept.tool_max;
    }
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => value));
  }

  #reflect() {
    const { sort, min, max, tool, tool_min: low, tool_max: high, status } = this.values;
    this.sort.value = sort || 'score';
    this.histogram.set(min || max ? [Number(min) || 1, Number(max) || 5] : null);
    this.tool.value = tool ?? '';
    this.toolLow.value = low ?? '';
    this.toolHigh.value = high ?? '';
    this.toolLow.disabled = !tool;
    this.toolHigh.disabled = !tool;
    this.status.value = status ?? '';
    this.#mark();
  }

  #mark() {
    for (const [group, name] of /** @type {[HTMLElement, string][]} */ ([[this.distortions, 'distortion'], [this.severities, 'severity']])) {
      for (const chip of /** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll('button'))) {
        chip.setAttribute('aria-pressed', String(chip.dataset.value === this.values[name]));
      }
    }
  }

  /** Updates the available filter values. @param {Results} results */
  offer(results) {
    this.histogram.show(results.histogram);
    const { distortions, severities, tools } = results.facets;
    const chips = (/** @type {HTMLElement} */ group, /** @type {string} */ kind, /** @type {[string, number][]} */ entries) => {
      const focused = group.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.value : null;
      fill(group, ...entries.map(([value, count]) => h('button', {
        type: 'button', class: 'chip', 'data-value': value,
        on: { click: () => this.#set({ [kind]: this.values[kind] === value ? '' : value }) },
      }, h('span', { t: `${kind}.${value}` }), ' ', h('span', { class: 'count' }, count))));
      if (focused) /** @type {HTMLElement | null} */ (group.querySelector(`[data-value="${CSS.escape(focused)}"]`))?.focus();
    };
    chips(this.distortions, 'distortion', Object.entries(distortions));
    chips(this.severities, 'severity', SEVERITIES.filter((name) => severities[name]).map((name) => [name, severities[name] ?? 0]));
    const chosen = this.values.tool ?? '';
    fill(this.tool, h('option', { value: '', t: 'tool.any' }), ...tools.map((name) => h('option', { value: name }, name)));
    this.tool.value = chosen;
    this.#mark();
  }
}
