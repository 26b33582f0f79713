// Which view an address shows. Addresses live behind the `#`, so that one page serves all of them.

/**
 * @typedef {object} Route
 * @property {string[]} path the parts of the path, decoded
 * @property {URLSearchParams} query
 */

/** @returns {Route} */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = (path ?? '').split('/').filter(Boolean).map(decode);
  return { path: parts, query: new URLSearchParams(query ?? '') };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray percent sign of somebody who typed the address
  }
}

/**
 * The address of a view.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query] empty values are left out
 */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return '#/' + path.map(encodeURIComponent).join('/') + (search ? '?' + search : '');
}

/**
 * Goes to a view.
 * @param {string} to
 */
export function go(to) {
  if (location.hash === to) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = to;
}

/**
 * Changes the address without a new entry in the history and without showing the view again.
 * @param {string} to
 */
export function rename(to) {
  history.replaceState(history.state, '', to);
}
