// The controls above the viewer: compare mode, gain, zoom, and the pixel under the pointer.
import { button, fill, h, isTyping, say, unique } from './dom.js';
import { number } from './i18n.js';
import { apart, hexadecimal, pixel } from './probe.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */
/** @typedef {import('./paint.js').Mode} Mode */

/** @type {[Mode, string][]} */
const MODES = [['slider', '1'], ['side', '2'], ['flip', '3'], ['difference', '4']];
const GAINS = [1, 2, 4, 8, 16, 32];

/**
 * Returns the toolbar of the viewer.
 * @param {Viewer} viewer
 */
export function compareBar(viewer) {
  const modes = MODES.map(([mode]) => button(`mode.${mode}`, () => viewer.set({ mode, flipped: false }), {
    class: 'segment', hint: `mode.${mode}.hint`, 'data-mode': mode,
  }));
  const gainName = unique('gain');
  const gain = h('input', {
    id: gainName, type: 'range', min: '0', max: String(GAINS.length - 1), value: '2', step: '1',
    on: { input: () => viewer.set({ gain: GAINS[Number(gain.value)] ?? 4 }) },
  });
  const gainText = h('output', { for: gainName });
  const gainRow = h('div', { class: 'gain' }, h('label', { for: gainName, t: 'gain' }), gain, gainText);
  const flip = button('flip', () => viewer.flip(), { class: 'quiet', hint: 'flip.hint' });
  const zoomText = h('output', { class: 'zoom', label: 'zoom.label' });
  const group = h('div', { class: 'segments', role: 'group', label: 'compare.label' }, ...modes);
  const element = h('div', { class: 'bar', role: 'toolbar', label: 'viewer.bar' },
    group, flip, gainRow,
    h('div', { class: 'row zooming' },
      button('zoom.out', () => viewer.zoomBy(1 / 1.4), { class: 'quiet square', label: 'zoom.out.label' }),
      zoomText,
      button('zoom.in', () => viewer.zoomBy(1.4), { class: 'quiet square', label: 'zoom.in.label' }),
      button('zoom.fit', () => viewer.fit(), { class: 'quiet', hint: 'zoom.fit.hint' }),
      button('zoom.actual', () => viewer.actualSize(), { class: 'quiet', hint: 'zoom.actual.hint' })));
  const update = () => {
    const { mode, flipped, viewport } = viewer.scene;
    group.hidden = !viewer.comparing;
    flip.hidden = !viewer.comparing || mode !== 'flip';
    gainRow.hidden = !viewer.comparing || mode !== 'difference';
    for (const item of modes) item.setAttribute('aria-pressed', String(item.dataset.mode === mode));
    say(flip, 't', flipped ? 'flip.image' : 'flip.reference');
    gainText.textContent = `×${viewer.scene.gain}`;
    zoomText.textContent = `${number(viewport.scale * devicePixelRatio * 100, 0)} %`;
  };
  viewer.addEventListener('change', update);
  update();
  return element;
}

/**
 * Returns the labels in the corners of the viewer.
 * @param {Viewer} viewer
 */
export function corners(viewer) {
  const left = h('span', { class: 'corner first' });
  const right = h('span', { class: 'corner last' });
  viewer.element.append(left, right);
  const update = () => {
    const { mode, flipped, repaired } = viewer.scene;
    const two = viewer.comparing;
    const [before, after] = repaired ? ['whatif.before', 'whatif.after'] : ['reference', 'picture'];
    left.hidden = !two;
    right.hidden = !two || !(mode === 'slider' || mode === 'side');
    if (mode === 'slider' || mode === 'side') say(left, 't', before);
    else if (mode === 'flip') say(left, 't', flipped ? before : after);
    else say(left, 't', ['difference.corner', { gain: viewer.scene.gain }]);
    say(right, 't', after);
  };
  viewer.addEventListener('change', update);
  update();
}

/**
 * Returns the display of the pixel under the pointer: position, colors, difference, and heat map value.
 * @param {Viewer} viewer
 * @param {(at: {x: number, y: number}) => string | null} mapValue
 */
export function probeLine(viewer, mapValue) {
  const element = h('output', { class: 'probe', label: 'probe.label' });
  const swatch = (/** @type {string} */ words, /** @type {import('./probe.js').Rgb} */ color) => h('span', { class: 'swatch' },
    h('i', { style: { background: hexadecimal(color) }, 'aria-hidden': 'true' }), h('span', { t: words }), ' ', color.join(' '));
  const update = () => {
    const { probe, image, reference, viewport } = viewer.scene;
    if (!probe || !image) {
      fill(element, h('span', { class: 'faint', t: 'probe.hint' }));
      return;
    }
    const shown = pixel(image, probe, viewport.picture);
    const parts = [h('span', { class: 'place' }, `${probe.x}, ${probe.y}`), swatch('picture', shown)];
    if (reference) {
      const original = pixel(reference, probe, viewport.picture);
      parts.push(swatch('reference', original), h('span', {}, `Δ ${apart(shown, original).join(' ')}`));
    }
    const value = mapValue(probe);
    if (value) parts.push(h('span', {}, value));
    fill(element, ...parts);
  };
  viewer.addEventListener('probe', update);
  viewer.addEventListener('change', update);
  update();
  return element;
}

/**
 * Handles the keyboard shortcuts of the viewer, except in text fields.
 * @param {Viewer} viewer
 * @param {() => boolean} shown whether the viewer is visible
 */
export function compareKeys(viewer, shown) {
  document.addEventListener('keydown', (event) => {
    if (!shown() || isTyping(event) || !viewer.scene.image) return;
    const mode = MODES.find(([, key]) => key === event.key)?.[0];
    /** @type {Record<string, () => void>} */
    const actions = {
      f: () => viewer.flip(), '+': () => viewer.zoomBy(1.4), '=': () => viewer.zoomBy(1.4), '-': () => viewer.zoomBy(1 / 1.4),
      0: () => viewer.fit(), z: () => viewer.actualSize(), b: () => viewer.setDrawing(!viewer.drawing), Escape: () => viewer.setDrawing(false),
    };
    if (mode && viewer.comparing) viewer.set({ mode, flipped: false });
    else actions[event.key]?.();
  });
}
