// Maps URL fragments to views. All views are on one page, so routes are in the part after `#`.

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
    return part; // invalid percent-encoding, such as in a typed URL
  }
}

/**
 * Returns the URL of a view.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query] empty values are skipped
 */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return '#/' + path.map(encodeURIComponent).join('/') + (search ? '?' + search : '');
}

/**
 * Navigates to a view.
 * @param {string} to
 */
export function go(to) {
  if (location.hash === to) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = to;
}

/**
 * Changes the URL without a new history entry and without showing the view again.
 * @param {string} to
 */
export function rename(to) {
  history.replaceState(history.state, '', to);
}
