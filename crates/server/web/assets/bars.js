// Bars: scores from 1 to 5 of images, tools and regions, and attributes on their axes.
import { h } from './dom.js';
import { levelOf } from './format.js';

/** Returns the position of a score on a bar in percent. @param {number} score */
export function along(score) {
  return `${Math.min(100, Math.max(0, (score - 1) / 4 * 100))}%`;
}

/**
 * Returns a bar from 1 to 5 with a mark for the score and a band for its interval. It is decorative: the numbers are
 * shown next to it.
 * @param {number | null} score
 * @param {[number, number] | null | undefined} interval
 * @param {string} [kind] an additional class
 */
export function scoreBar(score, interval, kind = '') {
  const bar = h('span', { class: `scorebar ${kind}`, 'aria-hidden': 'true' });
  if (score === null) return bar;
  bar.dataset.level = String(levelOf(score));
  bar.append(h('span', { class: 'filled', style: { width: along(score) } }));
  if (interval) {
    const [low, high] = interval;
    const style = { left: along(low), width: `${Math.max(0, Math.min(4, high - low)) / 4 * 100}%` };
    bar.append(h('span', { class: 'interval', style }));
  }
  bar.append(h('span', { class: 'mark', style: { left: along(score) } }));
  return bar;
}

/**
 * Returns a step of a waterfall from 1 to 5. It is decorative: the number is shown next to it.
 * @param {number} from
 * @param {number} to
 */
export function stepBar(from, to) {
  const [low, high] = [Math.max(1, Math.min(from, to)), Math.min(5, Math.max(from, to))];
  const style = { left: along(low), width: `${Math.max(1, (high - low) / 4 * 100)}%` };
  return h('span', { class: 'stepbar', 'aria-hidden': 'true' }, h('span', { class: to < from ? 'fall' : 'rise', style }));
}

/** Axes that run from -1 to 1. The others run from 0 to 1. */
const SIGNED = ['lighting', 'exposure', 'sharpness', 'contrast', 'colorfulness'];

/**
 * Returns a bar from the neutral point of an axis to a value on it. It is decorative: the level is shown next to it.
 * @param {string} axis
 * @param {number} value
 */
export function axisBar(axis, value) {
  const neutral = SIGNED.includes(axis) ? 50 : 0;
  const at = Math.min(100, Math.max(0, neutral + value * (100 - neutral)));
  return h('span', { class: 'axisbar', 'aria-hidden': 'true' },
    h('span', { class: 'filled', style: { left: `${Math.min(neutral, at)}%`, width: `${Math.abs(at - neutral)}%` } }),
    h('span', { class: 'neutral', style: { left: `${neutral}%` } }),
    h('span', { class: 'mark', style: { left: `${at}%` } }));
}
