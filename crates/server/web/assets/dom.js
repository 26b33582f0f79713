// Elements made by script. Text goes in as text nodes only: nothing that comes from outside is ever read as markup.
import { translate } from './i18n.js';

/**
 * A key of the word list, alone or with what is put into its gaps.
 * @typedef {string | [string, Record<string, string | number>]} Words
 */

/**
 * @typedef {object} Special
 * @property {Words} [t] the text, from the word list
 * @property {Words} [label] the accessible name, from the word list
 * @property {Words} [hint] the tooltip, from the word list
 * @property {Words} [placeholder] from the word list
 * @property {Record<string, (event: any) => void>} [on] listeners by name of the event
 * @property {Record<string, string>} [style] properties, custom ones too
 */

/** @typedef {Special & Record<string, any>} Properties */
/** @typedef {Node | string | number | null | undefined | false} Child */

const WORDS = /** @type {const} */ ({ t: 'i18n', label: 'i18nLabel', hint: 'i18nHint', placeholder: 'i18nPlaceholder' });

/**
 * Gives an element a text of the word list, which follows the language from then on.
 * @param {Element} element
 * @param {'t' | 'label' | 'hint' | 'placeholder'} place
 * @param {Words} words
 */
export function say(element, place, words) {
  const node = /** @type {HTMLElement} */ (element);
  node.dataset[WORDS[place]] = typeof words === 'string' ? words : JSON.stringify(words);
  apply(node, place, words);
}

/**
 * @param {HTMLElement} node
 * @param {'t' | 'label' | 'hint' | 'placeholder'} place
 * @param {Words} words
 */
function apply(node, place, words) {
  const text = typeof words === 'string' ? translate(words) : translate(words[0], words[1]);
  if (place === 't') node.textContent = text;
  else node.setAttribute({ label: 'aria-label', hint: 'title', placeholder: 'placeholder' }[place], text);
}

/** Writes all texts of the word list again, after the language has changed. */
export function sayAllAgain(root = document.documentElement) {
  for (const [place, name] of Object.entries(WORDS)) {
    const attribute = 'data-' + name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[${attribute}]`))) {
      const written = node.dataset[name] ?? '';
      apply(node, /** @type {'t'} */ (place), written.startsWith('[') ? JSON.parse(written) : written);
    }
  }
}

/**
 * @param {Element} element
 * @param {Properties} properties
 */
function dress(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name in WORDS) say(element, /** @type {'t'} */ (name), value);
    else if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, /** @type {any} */ (listener));
    } else if (name === 'style') {
      for (const [property, setting] of Object.entries(value)) {
        /** @type {HTMLElement} */ (element).style.setProperty(property, String(setting));
      }
    } else if (name === 'value' && 'value' in element) /** @type {HTMLInputElement} */ (element).value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  dress(element, properties);
  element.append(...present(children));
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  dress(element, properties);
  element.append(...present(children));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  const kept = /** @type {(Node | string | number)[]} */ (
    children.filter((child) => child !== null && child !== undefined && child !== false)
  );
  return kept.map((child) => (typeof child === 'number' ? String(child) : child));
}

/**
 * Puts `children` in the place of what an element holds.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * A button with words.
 * @param {Words} words
 * @param {(event: MouseEvent) => void} press
 * @param {Properties} [properties]
 */
export function button(words, press, properties = {}) {
  return h('button', { type: 'button', t: words, ...properties, on: { ...properties.on, click: press } });
}

let numbers = 0;

/** A name for an element that no other element has. */
export function unique(stem = 'id') {
  numbers += 1;
  return `${stem}-${numbers}`;
}

/**
 * Tells those who listen to the page instead of looking at it.
 * @param {string} text
 */
export function announce(text) {
  const announcer = document.getElementById('announcer');
  if (announcer) announcer.textContent = text;
}

/**
 * Whether a key press is meant for a field that takes text or has keys of its own.
 * @param {KeyboardEvent} event
 */
export function isTyping(event) {
  const target = /** @type {HTMLElement | null} */ (event.target);
  return event.ctrlKey || event.metaKey || event.altKey
    || Boolean(target?.closest?.('input, textarea, select, [contenteditable], dialog, [role="slider"]'));
}
