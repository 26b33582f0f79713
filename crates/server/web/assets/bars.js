// Score bars from 1 to 5 for images, tools and regions.
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
