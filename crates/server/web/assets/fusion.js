// Shows how the score was computed: level weights of the tools, probabilities of the judgment, and the result.
import { fill, h, s } from './dom.js';
import { LEVELS, score } from './format.js';
import { translate } from './i18n.js';

/** @typedef {import('../types.js').Fusion} Fusion */
/** @typedef {import('../types.js').ToolLog} ToolLog */

/**
 * Returns the weights of the five levels: by distance from the mean of the tools, normalized (η = 1).
 * @param {number} mean
 */
export function weightsOf(mean) {
  const weights = [1, 2, 3, 4, 5].map((level) => Math.exp(-((mean - level) ** 2)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/**
 * Returns the combined score of the tools, computed as in the program. In each region, tools with an interval determine
 * the score. A tool counts once per region.
 * @param {ToolLog[]} logs
 * @param {Set<string>} learned tools that count together with tools with an interval
 */
export function together(logs, learned = new Set()) {
  const key = (/** @type {ToolLog} */ log) => JSON.stringify(log.region ?? null);
  const scored = logs.filter((log) => typeof log.normalized_score === 'number');
  const distinct = scored.filter((log, index) => scored.findIndex((other) => other.tool_name === log.tool_name && key(other) === key(log)) === index);
  const carried = new Set(distinct.filter((log) => log.interval).map(key));
  const counted = distinct.filter((log) => log.interval || learned.has(log.tool_name) || !carried.has(key(log)));
  if (counted.length === 0) return null;
  return counted.reduce((sum, log) => sum + (log.normalized_score ?? 0), 0) / counted.length;
}

const [WIDTH, HEIGHT, BASE, TOP] = [320, 132, 104, 10];

/**
 * Returns the chart: two bars per level and a line at the result.
 * @param {Fusion | null} fusion
 * @param {number | null} result
 */
export function fusionChart(fusion, result) {
  const figure = h('figure', { class: 'fusion' });
  if (!fusion || result === null) return figure;
  const { weights, probabilities, tools } = fusion;
  const most = Math.max(...weights, ...(probabilities ?? []), 0.01);
  const column = WIDTH / 5;
  const at = (/** @type {number} */ value) => (value - 0.5) * column;
  const tall = (/** @type {number} */ share) => Math.max(0.5, share / most * (BASE - TOP));
  const bars = LEVELS.flatMap((level, index) => {
    const middle = at(index + 1);
    const share = weights[index] ?? 0;
    const judged = probabilities?.[index];
    const wide = probabilities ? 17 : 28;
    return [
      s('rect', { class: 'by-tools', x: probabilities ? middle - 19 : middle - wide / 2, y: BASE - tall(share), width: wide, height: tall(share), rx: 2 }),
      judged === undefined ? null
        : s('rect', { class: 'by-judgment', x: middle + 2, y: BASE - tall(judged), width: wide, height: tall(judged), rx: 2 }),
      s('text', { x: middle, y: BASE + 14, class: 'tick', t: `level.${level}` }),
    ];
  });
  const line = (/** @type {number} */ value, /** @type {string} */ kind) => s('line', { class: kind, x1: at(value), x2: at(value), y1: 2, y2: BASE });
  const chart = s('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', label: ['fusion.label', { tools: score(tools), result: score(result) }] },
    s('line', { class: 'axis', x1: 0, x2: WIDTH, y1: BASE, y2: BASE }), ...bars, line(tools, 'tools-line'), line(result, 'result-line'));
  const rows = LEVELS.map((level, index) => `${translate(`level.${level}`)} ${score(weights[index])}${probabilities ? ` · ${score(probabilities[index])}` : ''}`);
  fill(figure, chart, h('figcaption', { class: 'small' },
    h('span', { class: 'key by-tools', t: ['fusion.tools', { score: score(tools) }] }),
    probabilities ? h('span', { class: 'key by-judgment', t: 'fusion.judgment' }) : null,
    h('span', { class: 'key result-line', t: ['fusion.result', { score: score(result) }] }),
    h('span', { class: 'faint', t: fusionSentence(tools, result, Boolean(probabilities)) }),
    h('span', { class: 'unseen' }, rows.join('; '))));
  return figure;
}

/** @param {number} tools @param {number} result @param {boolean} judged */
function fusionSentence(tools, result, judged) {
  if (Math.abs(tools - result) < 0.005) return 'fusion.same';
  return judged ? 'fusion.product' : 'fusion.moved';
}
