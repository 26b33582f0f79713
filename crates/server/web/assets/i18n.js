// The languages of the page and their texts.
import { english } from './words-en.js';
import { chinese } from './words-zh.js';

const LISTS = /** @type {Record<string, Record<string, string>>} */ ({ en: english, zh: chinese });
const KEY = 'agenticiqa.language';

let current = document.documentElement.lang === 'zh' ? 'zh' : 'en';

/** The current language: `en` or `zh`. */
export function language() {
  return current;
}

/**
 * Returns the text of a key. For an unknown key, returns the part after the last dot, so that unknown values from the
 * server (distortions, severities, levels) are shown as they are.
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
  } catch { /* kept until the page is closed */ }
  document.dispatchEvent(new CustomEvent('languagechange'));
}

/**
 * Formats a number for the current language.
 * @param {number} value
 * @param {number} [digits] after the decimal point
 */
export function number(value, digits = 2) {
  return value.toLocaleString(current, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
