// The access token: stored for this tab only, sent in a header, never part of a URL.
import { button, fill, h, unique } from './dom.js';

const KEY = 'agenticiqa.token';

/** @type {string | null} */
let held = stored();
/** @type {Promise<boolean> | null} */
let asking = null;

function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @returns {string | null} */
export function token() {
  return held;
}

/**
 * Asks the user for the token. Requests that fail in the meantime wait for the same dialog.
 * @param {boolean} refused whether a token was sent and rejected
 * @returns {Promise<boolean>} whether there is a new token
 */
export function askForToken(refused) {
  asking ??= ask(refused).finally(() => { asking = null; });
  return asking;
}

/** @param {boolean} refused */
function ask(refused) {
  return /** @type {Promise<boolean>} */ (new Promise((resolve) => {
    const field = unique('token');
    const input = h('input', { id: field, type: 'password', autocomplete: 'off', required: true, name: 'token' });
    const dialog = h('dialog', { class: 'sheet', label: 'token.title' });
    const form = h('form', { method: 'dialog' },
      h('h2', { t: 'token.title' }),
      h('p', { t: refused ? 'token.refused' : 'token.why' }),
      h('label', { for: field, t: 'token.label' }), input,
      h('div', { class: 'row end' },
        button('cancel', () => dialog.close('')),
        h('button', { class: 'primary', value: 'go', t: 'token.go' })));
    fill(dialog, form);
    dialog.addEventListener('close', () => {
      const given = dialog.returnValue === 'go' ? input.value.trim() : '';
      dialog.remove();
      if (given) {
        held = given;
        try {
          sessionStorage.setItem(KEY, given);
        } catch { /* kept until the page is closed */ }
      }
      resolve(given !== '');
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  }));
}
