// The score card of a record: answer, score with interval, distortions, attributes, tools, fusion and reasoning.
import { along, axisBar, scoreBar, stepBar } from './bars.js';
import { h } from './dom.js';
import { LEVELS, SEVERITIES, duration, raw, score } from './format.js';
import { number } from './i18n.js';
import { fusionChart, together, weightsOf } from './fusion.js';
import { calls, disagreements, secondOpinion, views } from './opinions.js';
import { escapePart, reasoning } from './reasoning.js';
import { direction } from './regions.js';
import { totals } from './trace.js';

/** @typedef {import('../types.js').AssessmentRecord} AssessmentRecord */
/** @typedef {import('../types.js').Tool} Tool */
/** @typedef {import('../types.js').Conclusion} Conclusion */
/** @typedef {import('../types.js').Evidence} Evidence */
/** @typedef {import('../types.js').Attribute} Attribute */

/**
 * @typedef {object} Context
 * @property {Map<string, Tool>} tools the tool list by name
 * @property {(object: string | null) => void} [highlight] highlights a region of the image
 * @property {(edit: {operation: string, amount: number}) => HTMLElement} [show] returns a button that shows an edit
 * @property {() => Promise<import('./opinions.js').Shown | null>} [picture] loads the image of the record
 */

/**
 * @param {AssessmentRecord} record
 * @param {Context} context
 */
export function scoreCard(record, context) {
  const { summarizer_result: conclusion, executor_evidence: evidence, metadata } = record;
  const card = h('article', { class: 'card', label: 'card.title' });
  if (metadata.final_status !== 'success') card.append(problems(record));
  if (conclusion) card.append(verdict(record, conclusion));
  for (const part of [secondOpinion(record), views(record, context.picture), disagreements(record)]) if (part) card.append(part);
  if (conclusion?.recommendations?.length) card.append(recommendations(conclusion.recommendations));
  if (conclusion?.contributions?.length) card.append(waterfall(conclusion.contributions));
  if (evidence) {
    const repairs = whatIfs(evidence, context.show);
    if (repairs) card.append(repairs);
    const found = distortions(evidence);
    if (found) card.append(found);
    const looks = attributes(evidence);
    if (looks) card.append(looks);
    if (evidence.tool_logs.length > 0) card.append(toolTable(evidence, context.tools));
  }
  if (conclusion && evidence) {
    const fusion = fusionOf(record);
    if (fusion && conclusion.quality_score !== null) {
      card.append(h('section', { class: 'part' }, h('h3', { t: 'fusion.title' }), fusionChart(fusion, conclusion.quality_score)));
    }
  }
  if (conclusion) {
    const light = (/** @type {string[]} */ pieces) => context.highlight?.(objectOf(pieces, evidence));
    card.append(h('section', { class: 'part' }, h('h3', { t: 'reasoning.title' }),
      reasoning(conclusion.used_evidence ?? [], conclusion.quality_reasoning, card, light)));
  }
  const billed = calls(record);
  if (billed) card.append(billed);
  card.append(footer(record));
  return card;
}

/** Returns the region of the evidence, if there is exactly one. @param {string[]} pieces @param {Evidence | null} evidence */
function objectOf(pieces, evidence) {
  const objects = new Set(pieces.map((piece) => {
    const [, field, name] = piece.split('/');
    if (field === 'tool_logs') return evidence?.tool_logs[Number(name)]?.object_name;
    return name?.replaceAll('~1', '/').replaceAll('~0', '~');
  }));
  const [only] = objects;
  return objects.size === 1 && only && only !== 'Global' ? only : null;
}

/** @param {AssessmentRecord} record @param {Conclusion} conclusion */
function verdict(record, conclusion) {
  const { answer_form: form, final_answer: answer, quality_score: value, quality_level: level, score_interval: interval } = conclusion;
  const chosen = record.options.find((option) => option.letter === answer);
  const headline = form === 'score' ? h('p', { class: 'answer', t: level ? `level.${level}` : 'card.none' })
    : h('p', { class: 'answer text' }, form === 'choice' ? h('span', { class: 'letter' }, answer) : answer, form === 'choice' ? ` ${chosen?.text ?? ''}` : null);
  const section = h('section', { class: 'verdict' }, h('p', { class: 'question faint' }, record.query), headline);
  if (value === null) return section;
  const figure = h('p', { class: 'score' }, h('b', { class: 'figure' }, score(value)), h('span', { class: 'faint', t: 'card.of' }),
    form === 'score' || !level ? null : h('span', { class: 'level', t: `level.${level}` }));
  section.append(figure, scale(value, interval));
  if (interval) section.append(h('p', { class: 'small faint', t: ['card.interval', { low: number(interval[0], 1), high: number(interval[1], 1) }] }));
  return section;
}

/** @param {number} value @param {[number, number] | undefined} interval */
function scale(value, interval) {
  const ticks = LEVELS.map((level, index) => h('span', { style: { left: along(index + 1) } }, h('b', {}, index + 1), h('span', { t: `level.${level}` })));
  return h('div', { class: 'scale-1-5' }, scoreBar(value, interval, 'large'), h('div', { class: 'ticks', 'aria-hidden': 'true' }, ...ticks));
}

/** Shows the severity as dots, because color alone is not accessible. @param {string | null} severity */
export function dots(severity) {
  const strength = Math.max(0, SEVERITIES.indexOf(severity ?? ''));
  return h('span', { class: 'dots', 'aria-hidden': 'true' }, ...SEVERITIES.slice(1).map((_, index) => h('i', { class: index < strength ? 'on' : '' })));
}

/** @param {Evidence} evidence */
function distortions(evidence) {
  const items = Object.entries(evidence.distortion_analysis ?? {}).flatMap(([object, analyses]) => analyses.map((analysis, index) =>
    h('li', { 'data-evidence': `/distortion_analysis/${escapePart(object)}/${index}`, class: 'distortion' },
      h('span', { class: 'severity', 'data-severity': analysis.severity },
        h('b', { t: `distortion.${analysis.type}` }), dots(analysis.severity), h('span', { t: `severity.${analysis.severity}` })),
      object === 'Global' ? null : h('span', { class: 'tag' }, object),
      h('p', { class: 'small faint' }, analysis.explanation))));
  if (items.length === 0) return null;
  return h('section', { class: 'part' }, h('h3', { t: 'distortions.title' }), h('ul', { class: 'plain' }, ...items));
}

/** @param {string[]} sentences */
function recommendations(sentences) {
  return h('section', { class: 'part' }, h('h3', { t: 'advice.title' }), h('ul', { class: 'plain advice' }, ...sentences.map((one) => h('li', {}, one))));
}

/** @param {NonNullable<Conclusion['contributions']>} parts */
function waterfall(parts) {
  let from = 1;
  const rows = parts.map(({ name, value, interval }, index) => {
    const to = index === 0 ? value : from + value;
    const bar = stepBar(from, to);
    from = to;
    const title = interval ? `${number(interval[0], 1)} … ${number(interval[1], 1)}` : null;
    return h('li', { class: 'contribution', title }, h('span', { t: `part.${name}` }),
      h('b', { class: 'figure' }, `${value < 0 ? '−' : index === 0 ? '' : '+'}${number(Math.abs(value), 2)}`), bar);
  });
  return h('section', { class: 'part' }, h('h3', { t: 'parts.title' }), h('ul', { class: 'plain' }, ...rows));
}

/** @param {Evidence} evidence @param {Context['show']} show */
function whatIfs(evidence, show) {
  const rows = Object.entries(evidence.what_if ?? {}).flatMap(([object, { tried, lost = [], skipped = [], refusal }]) => [
    ...tried.map((one) => h('li', { class: 'whatif' }, object === 'Global' ? null : h('span', { class: 'tag' }, object),
      h('span', { t: [`edit.${one.operation}`, { amount: number(one.amount, 1), percent: number(100 * one.amount, 0) }] }), ' ',
      one.doubtful ? h('span', { class: 'faint', t: 'whatif.doubtful' })
        : h('b', { class: 'figure', title: gainOf(one) }, `${number(one.before, 1)} → ${number(one.after, 1)}`), ' ',
      object === 'Global' && show ? show(one) : null)),
    ...lost.map((problem) => h('li', { class: 'whatif faint' }, h('span', { t: `part.${problem.replaceAll('_', ' ')}` }), ': ', h('span', { t: 'whatif.lost' }))),
    ...skipped.map((problem) => h('li', { class: 'whatif faint' }, h('span', { t: `part.${problem.replaceAll('_', ' ')}` }), ': ', h('span', { t: 'whatif.skipped' }))),
    refusal ? h('li', { class: 'whatif faint', t: `whatif.${refusal}` }) : null,
  ]).filter((row) => row !== null);
  if (rows.length === 0) return null;
  return h('section', { class: 'part' }, h('h3', { t: 'whatif.title' }), h('ul', { class: 'plain' }, ...rows));
}

/** @param {import('../types.js').WhatIf} one */
function gainOf({ gain_interval: [low, high] }) {
  const signed = (/** @type {number} */ gain) => `${gain < 0 ? '−' : '+'}${number(Math.abs(gain), 1)}`;
  return `${signed(low)} … ${signed(high)}`;
}

/** @param {Evidence} evidence */
function attributes(evidence) {
  const objects = Object.entries(evidence.attributes ?? {}).filter(([, all]) => Object.keys(all).length > 0);
  if (objects.length === 0) return null;
  return h('section', { class: 'part' }, h('h3', { t: 'attributes.title' }), ...objects.flatMap(([object, all]) => [
    object === 'Global' ? null : h('p', { class: 'tag' }, object),
    h('ul', { class: 'plain' }, ...Object.entries(all).map(([axis, attribute]) => attributeRow(axis, attribute, `/attributes/${escapePart(object)}/${axis}`))),
  ]));
}

/** @param {string} axis @param {Attribute} attribute @param {string} pointer */
function attributeRow(axis, { level, value, probability, kind, reason, measurements = [] }, pointer) {
  const measured = measurements.filter((one) => Number.isFinite(one.value))
    .map((one) => `${one.name} ${number(one.value, 1)}${one.unit && one.unit !== '%' ? ' ' : ''}${one.unit ?? ''}`).join(', ');
  return h('li', { 'data-evidence': pointer, class: 'attribute', title: reason ?? (measured || null) },
    h('span', { t: `axis.${axis}` }),
    h('span', {}, h('b', { t: `attribute.${level}` }), kind ? ', ' : null, kind ? h('span', { t: `attribute.${kind}` }) : null),
    axisBar(axis, value),
    h('span', { class: 'figure faint', hint: 'attributes.probability' }, reason ? '' : `${number(100 * probability, 0)}%`),
    measured ? h('span', { class: 'unseen' }, measured) : null);
}

/** @param {Evidence} evidence @param {Map<string, Tool>} tools */
function toolTable(evidence, tools) {
  const rows = evidence.tool_logs.map((log, index) => {
    const tool = tools.get(log.tool_name);
    const detail = [log.object_name === 'Global' ? null : log.object_name].filter(Boolean).join(' ');
    return h('tr', { 'data-evidence': `/tool_logs/${index}` },
      h('th', { scope: 'row', title: tool?.description ?? '' }, log.tool_name, detail ? h('span', { class: 'tag' }, detail) : null,
        h('span', { class: 'small faint block', t: `distortion.${log.distortion}` })),
      h('td', { class: 'figure' }, raw(log.raw_score), ' ', direction(tool?.lower_is_better), rangeOf(tool)),
      h('td', { class: 'bar-cell' },
        log.error ? h('span', { class: 'problem small' }, log.error)
          : h('span', { class: 'with-bar' }, scoreBar(log.normalized_score, log.interval), h('span', { class: 'figure' }, score(log.normalized_score)))),
      h('td', { class: 'figure faint time' }, duration(log.execution_time)));
  });
  return h('section', { class: 'part' }, h('h3', { t: 'tools.title' }),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', label: 'tools.title' }, h('table', { class: 'tools' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col', t: 'tool' }), h('th', { scope: 'col', t: 'raw' }), h('th', { scope: 'col', t: 'scale' }), h('th', { scope: 'col', t: 'time' }))),
      h('tbody', {}, ...rows))));
}

/** Formats the range of the raw score. @param {Tool | undefined} tool */
function rangeOf(tool) {
  if (!tool?.range) return null;
  const end = (/** @type {number | null} */ value) => (value === null || !Number.isFinite(value) ? '∞' : String(value));
  return h('span', { class: 'small faint block' }, `${end(tool.range[0]).replace(/^∞/, '−∞')} … ${end(tool.range[1])}`);
}

/** @param {AssessmentRecord} record */
function fusionOf(record) {
  const told = record.summarizer_result?.fusion;
  if (told) return told;
  const logs = record.executor_evidence?.tool_logs ?? [];
  const tools = together(logs);
  return tools === null ? null : { tools, weights: weightsOf(tools), probabilities: null };
}

/** @param {AssessmentRecord} record */
function problems(record) {
  const details = record.metadata.error_details ?? [];
  return h('section', { class: 'notice', role: 'note' },
    h('p', { t: `status.${record.metadata.final_status}` }), h('ul', {}, ...details.map((detail) => h('li', {}, detail))));
}

/** @param {AssessmentRecord} record */
function footer(record) {
  const names = [...new Set(Object.values(record.metadata.backends))].join(', ');
  const notes = record.metadata.notes ?? [];
  return h('footer', { class: 'small faint' },
    h('p', { class: 'totals' }, h('span', { t: ['card.by', { names }] }), ...totals(record.metadata)),
    ...record.metadata.replan_history.map((replan) => h('p', { t: ['trace.replan', { round: replan.iteration + 2, reason: replan.reason }] })),
    notes.length > 0 ? h('ul', {}, ...notes.map((note) => h('li', {}, note))) : null);
}
