// The languages of the page: which one is spoken, and the words of it.
import { english } from './words-en.js';
import { chinese } from './words-zh.js';

const LISTS = /** @type {Record<string, Record<string, string>>} */ ({ en: english, zh: chinese });
const KEY = 'agenticiqa.language';

let current = document.documentElement.lang === 'zh' ? 'zh' : 'en';

/** The language that is spoken: `en` or `zh`. */
export function language() {
  return current;
}

/**
 * The text of a key. A key without a text in any language is its own text from the last dot on: names that the server
 * sends (distortions, severities, levels) are shown as they are where no word is known for them.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function translate(key, values = {}) {
  const pattern = LISTS[current]?.[key] ?? english[key] ?? key.slice(key.indexOf('.') + 1);
  return pattern.replace(/\{(\w+)\}/g, (gap, name) => String(values[name] ?? gap));
}

/** Whether a key has a text. @param {string} key */
export function known(key) {
  return key in english;
}

/** @param {string} next */
export function setLanguage(next) {
  current = next in LISTS ? next : 'en';
  document.documentElement.lang = current;
  try {
    localStorage.setItem(KEY, current);
  } catch { /* spoken until the page is closed */ }
  document.dispatchEvent(new CustomEvent('languagechange'));
}

/**
 * A number as the language writes it.
 * @param {number} value
 * @param {number} [digits] behind the point
 */
export function number(value, digits = 2) {
  return value.toLocaleString(current, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
