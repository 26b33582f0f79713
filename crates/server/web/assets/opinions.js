// What models were shown and what they said: views, calls, disagreements with measurements, a second opinion.
import { h } from './dom.js';
import { cost, duration, score } from './format.js';
import { number, translate } from './i18n.js';

/** @typedef {import('../types.js').AssessmentRecord} AssessmentRecord */
/** @typedef {import('../types.js').Conclusion} Conclusion */
/** @typedef {import('../types.js').Claim} Claim */
/** @typedef {import('../types.js').View} View */
/** @typedef {{bitmap: ImageBitmap, width: number, height: number}} Shown the image and its original size */

const SMALLEST = 96; // CSS pixels of a drawn view

/**
 * Shows the views that models were sent next to the answer. They are cut from the image of the page.
 * @param {AssessmentRecord} record @param {(() => Promise<Shown | null>) | undefined} picture
 */
export function views(record, picture) {
  const sent = record.metadata.views?.sent ?? [];
  if (sent.length === 0) return null;
  const figures = sent.map((view) => {
    const canvas = h('canvas', { class: 'view', role: 'img', label: [`view.${view.kind}`, placeOf(view)] });
    const figure = h('figure', { class: view.requested_by ? 'asked' : '' }, canvas,
      h('figcaption', { class: 'small' }, h('b', { t: [`view.${view.kind}`, placeOf(view)] }), h('span', { class: 'faint block' }, view.shows),
        view.requested_by ? h('span', { class: 'tag', t: 'view.asked' }) : null));
    picture?.().then((shown) => { if (shown) draw(canvas, view, shown); }).catch(() => canvas.classList.add('missing'));
    return figure;
  });
  const { kept_side: kept } = record.metadata.views ?? { kept_side: 0 };
  return h('section', { class: 'part' }, h('h3', { t: 'views.title' }), h('p', { class: 'small faint', t: ['views.why', { side: kept }] }),
    h('div', { class: 'views' }, ...figures));
}

/** @param {View} view */
function placeOf(view) {
  return { x: view.x, y: view.y, width: view.width, height: view.height, stops: number(view.stops ?? 0, 1) };
}

/** @param {HTMLCanvasElement} canvas @param {View} view @param {Shown} shown */
function draw(canvas, view, { bitmap, width }) {
  const scale = bitmap.width / width;
  canvas.width = Math.max(1, Math.round(view.width * scale));
  canvas.height = Math.max(1, Math.round(view.height * scale));
  canvas.style.minWidth = `${Math.min(SMALLEST, canvas.width)}px`;
  const context = canvas.getContext('2d');
  if (!context) return;
  // Stops are in linear light; the filter multiplies encoded values, so this copy is close, not exact.
  if (view.stops) context.filter = `brightness(${2 ** (view.stops / 2.2)})`;
  context.drawImage(bitmap, view.x * scale, view.y * scale, view.width * scale, view.height * scale, 0, 0, canvas.width, canvas.height);
}

/** Shows what a model and a measurement disagree about, both sides next to each other. @param {AssessmentRecord} record */
export function disagreements(record) {
  const found = [...(record.executor_evidence?.disagreements ?? []), ...(record.summarizer_result?.disagreements ?? [])];
  if (found.length === 0) return null;
  const rows = found.map(({ object, about, claimed, measured }) => h('tr', {},
    h('th', { scope: 'row' }, h('span', { t: about === 'quality level' ? 'disagree.level' : `distortion.${about}` }), object === 'Global' ? null : h('span', { class: 'tag' }, object)),
    side(about, claimed), side(about, measured)));
  return h('section', { class: 'part disagreements' }, h('h3', { t: 'disagree.title' }), h('p', { class: 'small faint', t: 'disagree.nobody' }),
    table(['disagree.about', 'disagree.model', 'disagree.measured'], rows));
}

/** @param {string} about @param {Claim} claim */
function side(about, claim) {
  return h('td', {}, h('b', { t: about === 'quality level' ? `level.${claim.value}` : `severity.${claim.value}` }),
    claim.reason ? h('span', { class: 'small faint block' }, claim.reason) : null);
}

/** @param {string[]} headings keys @param {HTMLElement[]} rows */
function table(headings, rows) {
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', label: headings[0] },
    h('table', { class: 'tools' }, h('thead', {}, h('tr', {}, ...headings.map((key) => h('th', { scope: 'col', t: key })))), h('tbody', {}, ...rows)));
}

/** Shows both conclusions side by side. @param {AssessmentRecord} record */
export function secondOpinion(record) {
  const second = record.second_opinion;
  const first = record.summarizer_result;
  if (!second || !first) return null;
  const verdict = second.agrees === null || second.agrees === undefined ? null : h('p', { class: 'small', t: second.agrees ? 'second.same' : 'second.different' });
  const column = (/** @type {string} */ name, /** @type {Conclusion | null} */ result, /** @type {string} */ error) => h('div', { class: 'opinion' },
    h('p', { class: 'small faint' }, name), result ? h('p', { class: 'said' }, h('b', {}, answerOf(record, result)), ` ${score(result.quality_score)}`) : null,
    h('p', { class: 'small plain-text' }, result ? result.quality_reasoning : error));
  return h('section', { class: 'part second-opinion' }, h('h3', { t: 'second.title' }), verdict, h('div', { class: 'opinions' },
    column(String(record.metadata.backends.summarizer), first, ''), column(second.backend, second.result, second.error ?? '')));
}

/** @param {AssessmentRecord} record @param {Conclusion} result */
function answerOf(record, { answer_form: form, final_answer: answer, quality_level: level }) {
  if (form === 'score' && level) return `${answer}. ${translate(`level.${level}`)}`;
  const option = record.options.find((one) => one.letter === answer);
  return option ? `${answer}. ${option.text}` : answer;
}

/** Shows tokens and cost of each call to a model. @param {AssessmentRecord} record */
export function calls(record) {
  const made = record.metadata.calls ?? [];
  if (made.length === 0) return null;
  const rows = made.map((call) => h('tr', {}, h('th', { scope: 'row' }, h('span', { t: `call.${call.task}` }), h('span', { class: 'small faint block' }, call.backend)),
    h('td', { class: 'figure' }, call.images), h('td', { class: 'figure' }, `${call.prompt_tokens} + ${call.completion_tokens}`),
    h('td', { class: 'figure' }, cost(call.cost_usd)), call.cached ? h('td', { class: 'faint', t: 'trace.cached' }) : h('td', { class: 'figure faint time' }, duration(call.seconds))));
  return h('section', { class: 'part calls' }, h('h3', { t: 'calls.title' }), table(['calls.task', 'calls.images', 'calls.tokens', 'calls.cost', 'time'], rows));
}
