// Image input by drag and drop, paste and file chooser.
import { h } from './dom.js';

/** @param {DataTransfer | null} data @returns {File[]} */
function filesOf(data) {
  return [...(data?.files ?? [])].filter((file) => file.type === '' || file.type.startsWith('image/'));
}

/**
 * Accepts dropped files on an element. The class `over` is set while files hover over it.
 * @param {HTMLElement} element
 * @param {(files: File[]) => void} take
 */
export function dropZone(element, take) {
  let depth = 0; // dragenter and dragleave fire for every child
  const carries = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') ?? false;
  element.addEventListener('dragenter', (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth += 1;
    element.classList.add('over');
  });
  element.addEventListener('dragover', (event) => {
    if (carries(event)) event.preventDefault();
  });
  element.addEventListener('dragleave', () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) element.classList.remove('over');
  });
  element.addEventListener('drop', (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    event.stopPropagation();
    depth = 0;
    element.classList.remove('over');
    const files = filesOf(event.dataTransfer);
    if (files.length > 0) take(files);
  });
}

/**
 * Accepts pasted images anywhere on the page while `wanted` returns true.
 * @param {() => boolean} wanted
 * @param {(files: File[]) => void} take
 */
export function onPaste(wanted, take) {
  document.addEventListener('paste', (event) => {
    const files = filesOf(event.clipboardData);
    if (files.length === 0 || !wanted()) return;
    event.preventDefault();
    take(files);
  });
}

/**
 * Creates a button that opens the file chooser.
 * @param {import('./dom.js').Words} words
 * @param {(files: File[]) => void} take
 * @param {{multiple?: boolean, class?: string, name?: string}} [how]
 */
export function chooser(words, take, how = {}) {
  const input = h('input', { type: 'file', accept: 'image/*,.tif,.tiff,.avif,.bmp', multiple: how.multiple, class: 'unseen', tabindex: '-1', 'aria-hidden': 'true', name: how.name });
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    input.value = ''; // allows choosing the same file again
    if (files.length > 0) take(files);
  });
  const press = h('button', { type: 'button', class: how.class ?? '', t: words, on: { click: () => input.click() } });
  return h('span', { class: 'chooser' }, press, input);
}
