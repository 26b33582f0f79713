// The question form: question, answer options, backend and tools.
import { button, fill, h, say, unique } from './dom.js';
import { language, translate } from './i18n.js';

const PRESETS = ['overall', 'wrong', 'worst', 'sharp', 'noise', 'compression'];
const FORMS = ['auto', 'score', 'choice', 'text'];
const LETTERS = 'ABCDEFGH';

/** The form below the viewer. */
export class Ask {
  /**
   * @param {() => void} submit
   * @param {() => void} cancel
   */
  constructor(submit, cancel) {
    const [query, backend, second, tools, form, replan] = ['query', 'backend', 'second', 'tools', 'form', 'replan'].map((stem) => unique(stem));
    this.query = h('textarea', {
      id: query, rows: '2', maxlength: '4000', placeholder: 'ask.placeholder', required: true,
      on: { keydown: (/** @type {KeyboardEvent} */ event) => {
        // Enter submits, Shift+Enter adds a line. Enter within an input method is ignored.
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        this.element.requestSubmit();
      } },
    });
    this.presets = h('div', { class: 'presets', role: 'group' });
    /** @type {import('../types.js').SuggestedQuestion[]} */
    this.suggested = [];
    this.suggest([]);
    document.addEventListener('languagechange', () => this.suggest(this.suggested));
    this.options = h('ol', { class: 'plain options', hidden: true });
    this.choice = button('ask.choice', () => this.#toggleOptions(), { class: 'quiet small', 'aria-expanded': 'false' });
    this.backend = h('input', { id: backend, list: 'backends', autocomplete: 'off', placeholder: 'ask.backend.placeholder' });
    this.second = h('input', { id: second, list: 'backends', autocomplete: 'off', placeholder: 'ask.second.placeholder' });
    this.backends = h('datalist', { id: 'backends' });
    this.tools = h('select', { id: tools, multiple: true, size: '6' });
    this.form = h('select', { id: form }, ...FORMS.map((name) => h('option', { value: name, t: `form.${name}` })));
    this.replan = h('input', { id: replan, type: 'number', min: '0', max: '5', value: '2' });
    this.send = h('button', { class: 'primary', t: 'ask.send' });
    this.stop = button('cancel', cancel, { class: 'danger', hidden: true });
    const more = h('details', { class: 'more' }, h('summary', { t: 'ask.more' }),
      h('div', { class: 'grid' },
        h('div', { class: 'field' }, h('label', { for: backend, t: 'ask.backend' }), this.backend, this.backends),
        h('div', { class: 'field' }, h('label', { for: second, t: 'ask.second' }), this.second),
        h('div', { class: 'field' }, h('label', { for: form, t: 'ask.form' }), this.form),
        h('div', { class: 'field' }, h('label', { for: replan, t: 'ask.replan' }), this.replan),
        h('div', { class: 'field wide' }, h('label', { for: tools, t: 'ask.tools' }), this.tools)));
    this.element = h('form', {
      class: 'panel ask', label: 'ask.title',
      on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); submit(); } },
    },
    h('label', { for: query, t: 'ask.title', class: 'heading' }), this.query, this.presets, this.options,
    h('div', { class: 'row between' }, this.choice, h('div', { class: 'row' }, this.stop, this.send)), more);
    this.query.value = translate('preset.overall');
  }

  /**
   * Offers questions about the image, or general ones where there are none.
   * @param {import('../types.js').SuggestedQuestion[]} questions
   */
  suggest(questions) {
    this.suggested = questions;
    const pick = (/** @type {string} */ text) => { this.query.value = text; this.query.focus(); };
    const written = (/** @type {import('../types.js').SuggestedQuestion} */ question) => language() === 'zh' ? question.zh : question.en;
    say(this.presets, 'label', questions.length > 0 ? 'ask.suggested' : 'ask.presets');
    fill(this.presets, ...(questions.length > 0
      ? questions.map(written).map((text) => h('button', { type: 'button', class: 'chip', on: { click: () => pick(text) } }, text))
      : PRESETS.map((name) => button(`preset.${name}.short`, () => pick(translate(`preset.${name}`)), { class: 'chip', hint: `preset.${name}` }))));
  }

  /** @param {string} text */
  setQuery(text) {
    this.query.value = text;
  }

  /** @param {boolean} on whether an assessment is running */
  setBusy(on) {
    this.stop.hidden = !on;
    this.send.disabled = on;
  }

  /** @param {import('../types.js').Tool[]} tools */
  setTools(tools) {
    fill(this.tools, ...tools.filter((tool) => tool.available).map((tool) => h('option', { value: tool.name }, `${tool.name} (${tool.type})`)));
  }

  /** @param {string[]} names */
  setBackends(names) {
    fill(this.backends, ...[...new Set(['builtin', ...names])].map((name) => h('option', { value: name })));
  }

  /** @param {{text: string}[]} options */
  setOptions(options) {
    fill(this.options);
    for (const option of options) this.#addOption(option.text);
    this.#openOptions(options.length > 0);
  }

  #toggleOptions() {
    const open = Boolean(this.options.hidden);
    if (open && this.options.children.length === 0) {
      this.#addOption('');
      this.#addOption('');
    }
    this.#openOptions(open);
    if (open) this.options.querySelector('input')?.focus();
  }

  /** @param {boolean} open */
  #openOptions(open) {
    this.options.hidden = !open;
    this.choice.setAttribute('aria-expanded', String(open));
    if (open && !this.options.querySelector('.add')) {
      this.options.append(h('li', { class: 'add' }, button('ask.option.add', () => this.#addOption('', true), { class: 'quiet small' })));
    }
  }

  /** @param {string} text @param {boolean} [focus] */
  #addOption(text, focus = false) {
    if (this.options.querySelectorAll('input').length >= LETTERS.length) return;
    const input = h('input', { value: text, maxlength: '300' });
    const item = h('li', {}, h('span', { class: 'letter', 'aria-hidden': 'true' }), input,
      button('×', () => { item.remove(); this.#letter(); this.choice.focus(); }, { class: 'quiet small square', label: 'ask.option.remove' }));
    const add = this.options.querySelector('.add');
    this.options.insertBefore(item, add);
    this.#letter();
    if (focus) input.focus();
  }

  #letter() {
    this.options.querySelectorAll('li:not(.add)').forEach((item, index) => {
      const letter = LETTERS[index] ?? '';
      const mark = item.querySelector('.letter');
      const input = item.querySelector('input');
      if (mark) mark.textContent = letter;
      if (input) say(input, 'label', ['ask.option', { letter }]);
    });
  }

  /** Returns the fields of the request. */
  request() {
    const options = this.options.hidden ? [] : [...this.options.querySelectorAll('input')].map((input) => input.value.trim()).filter(Boolean);
    const tools = [...this.tools.selectedOptions].map((option) => option.value);
    /** @type {Record<string, any>} */
    const request = { query: this.query.value.trim() || translate('preset.overall'), max_replan_iterations: Number(this.replan.value) };
    if (options.length > 0) request.options = options;
    if (tools.length > 0) request.tools = tools;
    if (this.form.value !== 'auto') request.answer = this.form.value;
    if (this.backend.value.trim()) request.backend = this.backend.value.trim();
    if (this.second.value.trim()) request.second_opinion = this.second.value.trim();
    return request;
  }
}
