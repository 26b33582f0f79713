// The reasoning, sentence by sentence, linked to its evidence in both directions.
import { h } from './dom.js';

/** @typedef {{sentence: string, evidence: string[]}} Cited */

/**
 * Escapes a segment of a JSON pointer.
 * @param {string} part
 */
export function escapePart(part) {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * Returns whether a pointer refers to a piece of evidence, to a parent of it, or to a part of it.
 * @param {string} pointer
 * @param {string} piece
 */
export function names(pointer, piece) {
  return pointer === '' || piece === pointer || piece.startsWith(pointer + '/') || pointer.startsWith(piece + '/');
}

/**
 * Returns the list of sentences. Hovering or focusing a sentence highlights the elements of `root` whose `data-evidence`
 * it cites; pressing keeps them highlighted. Hovering evidence highlights its sentences.
 * @param {Cited[]} cited
 * @param {string} whole the reasoning as one text, used if there are no cited sentences
 * @param {HTMLElement} root
 * @param {(pieces: string[]) => void} [lit] called with the highlighted evidence
 */
export function reasoning(cited, whole, root, lit = () => {}) {
  if (cited.length === 0) return h('p', { class: 'reasoning plain-text' }, whole);
  /** @type {HTMLElement[]} */
  const sentences = [];
  let pinned = -1;
  const pieces = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll('[data-evidence]')]);
  const light = (/** @type {number} */ index) => {
    const pointers = cited[index]?.evidence ?? [];
    const found = pieces().filter((piece) => {
      const on = pointers.some((pointer) => names(pointer, piece.dataset.evidence ?? ''));
      piece.classList.toggle('lit', on);
      return on;
    });
    root.classList.toggle('lighting', found.length > 0);
    lit(found.map((piece) => piece.dataset.evidence ?? ''));
  };
  const items = cited.map(({ sentence, evidence }, index) => {
    const press = h('button', {
      type: 'button', class: 'sentence', 'aria-pressed': 'false', hint: evidence.length > 0 ? 'reasoning.hint' : 'reasoning.none',
      on: {
        pointerenter: () => light(index), pointerleave: () => light(pinned), focus: () => light(index), blur: () => light(pinned),
        click: () => {
          pinned = pinned === index ? -1 : index;
          sentences.forEach((other, place) => other.setAttribute('aria-pressed', String(place === pinned)));
          light(index);
        },
      },
    }, sentence);
    sentences.push(press);
    return h('li', {}, press);
  });
  root.addEventListener('pointerover', (event) => {
    const piece = /** @type {HTMLElement} */ (event.target).closest?.('[data-evidence]');
    const name = piece instanceof HTMLElement ? piece.dataset.evidence ?? '' : null;
    cited.forEach(({ evidence }, index) => {
      const on = name !== null && evidence.some((pointer) => pointer !== '' && names(pointer, name));
      sentences[index]?.classList.toggle('lit', on);
    });
  });
  return h('ul', { class: 'plain reasoning' }, ...items);
}
