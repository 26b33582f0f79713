// Formats numbers, times and costs.
import { language, number, translate } from './i18n.js';

/**
 * Formats a raw score with a number of digits that suits its size.
 * @param {number | null | undefined} value
 */
export function raw(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return number(value, size >= 100 ? 1 : size >= 10 ? 2 : 4);
}

/**
 * Formats a score from 1 to 5.
 * @param {number | null | undefined} value
 */
export function score(value) {
  return value === null || value === undefined ? '–' : number(value, 2);
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 0.0995) return `${number(seconds * 1000, seconds < 0.00995 ? 1 : 0)} ms`;
  if (seconds < 59.95) return `${number(seconds, seconds < 9.95 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number | null | undefined} dollars */
export function cost(dollars) {
  if (dollars === null || dollars === undefined) return translate('cost.unknown');
  return dollars === 0 ? '$0' : `$${number(dollars, dollars < 0.1 ? 4 : 2)}`;
}

/** @param {string | null | undefined} timestamp */
export function moment(timestamp) {
  const date = new Date(timestamp ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });
}

/**
 * Returns the level of a score, from 1 (bad) to 5 (excellent).
 * @param {number} value
 */
export function levelOf(value) {
  return Math.min(5, Math.max(1, Math.round(value)));
}

/** The names of the levels, starting with level 1. */
export const LEVELS = ['Bad', 'Poor', 'Fair', 'Good', 'Excellent'];

/** Severities of distortions, mildest first. */
export const SEVERITIES = ['none', 'slight', 'moderate', 'severe', 'extreme'];

/** @param {string} text @param {number} length */
export function shorten(text, length) {
  return text.length <= length ? text : text.slice(0, length - 1).trimEnd() + '…';
}

/**
 * Returns the name of an image of a job: its file name, or the sample ID if the server chose the file name.
 * @param {{image_name: string, sample_id: string}} row
 */
export function nameOf({ image_name: file, sample_id: sample }) {
  return file.includes('.') ? file : sample;
}
