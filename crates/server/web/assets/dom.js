// Creates DOM elements. Text is inserted as text nodes only, so external text is never parsed as markup.
import { translate } from './i18n.js';

/**
 * A translation key, alone or with values for its placeholders.
 * @typedef {string | [string, Record<string, string | number>]} Words
 */

/**
 * @typedef {object} Special
 * @property {Words} [t] key of the text
 * @property {Words} [label] key of the accessible name
 * @property {Words} [hint] key of the tooltip
 * @property {Words} [placeholder] key of the placeholder
 * @property {Record<string, (event: any) => void>} [on] event listeners by event name
 * @property {Record<string, string>} [style] CSS properties, including custom properties
 */

/** @typedef {Special & Record<string, any>} Properties */
/** @typedef {Node | string | number | null | undefined | false} Child */

const WORDS = /** @type {const} */ ({ t: 'i18n', label: 'i18nLabel', hint: 'i18nHint', placeholder: 'i18nPlaceholder' });

/**
 * Sets a translated text of an element. The text changes with the language.
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

/** Updates all translated texts after a language change. */
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
 * Creates an HTML element.
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
 * Creates an SVG element.
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
 * Replaces the children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * Creates a button with a translated text.
 * @param {Words} words
 * @param {(event: MouseEvent) => void} press
 * @param {Properties} [properties]
 */
export function button(words, press, properties = {}) {
  return h('button', { type: 'button', t: words, ...properties, on: { ...properties.on, click: press } });
}

let numbers = 0;

/** Returns a unique element ID. */
export function unique(stem = 'id') {
  numbers += 1;
  return `${stem}-${numbers}`;
}

/**
 * Announces a text to screen readers.
 * @param {string} text
 */
export function announce(text) {
  const announcer = document.getElementById('announcer');
  if (announcer) announcer.textContent = text;
}

/**
 * Returns whether a key press belongs to a text field or another control with its own keys.
 * @param {KeyboardEvent} event
 */
export function isTyping(event) {
  const target = /** @type {HTMLElement | null} */ (event.target);
  return event.ctrlKey || event.metaKey || event.altKey
    || Boolean(target?.closest?.('input, textarea, select, [contenteditable], dialog, [role="slider"]'));
}
