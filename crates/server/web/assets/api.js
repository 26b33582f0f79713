// Requests to the server. Every error response becomes an `ApiError` with the server's message.
import { eventsOf } from './events.js';
import { askForToken, token } from './token.js';
import { translate } from './i18n.js';

/** @typedef {import('../types.js').Image} Image */

export class ApiError extends Error {
  /**
   * @param {number} status 0 when no answer came
   * @param {string} kind
   * @param {string} message
   */
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** @param {unknown} error @returns {boolean} whether the user has canceled */
export function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/**
 * Sends a request. If the server requires a token, asks the user for it and sends the request again.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
export async function call(path, init = {}) {
  for (;;) {
    const sent = token();
    const headers = new Headers(init.headers);
    if (sent) headers.set('authorization', `Bearer ${sent}`);
    /** @type {Response} */
    let response;
    try {
      response = await fetch(path, { ...init, headers });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError(0, 'unreachable', translate('error.unreachable'));
    }
    if (response.status === 401) {
      // Another request may have obtained a token in the meantime.
      if (sent === token() && !(await askForToken(sent !== null))) throw await failure(response);
      continue;
    }
    if (!response.ok) throw await failure(response);
    return response;
  }
}

/** @param {Response} response */
async function failure(response) {
  const body = await response.json().catch(() => null);
  const error = fromBody(body, response.status);
  const wait = response.headers.get('retry-after');
  if (response.status === 429 && wait) error.message += ' ' + translate('error.again', { seconds: wait });
  return error;
}

/**
 * Creates an error from a response body.
 * @param {any} body
 * @param {number} status
 */
export function fromBody(body, status) {
  const detail = body?.detail;
  const message = typeof detail === 'string' ? detail : detail?.message;
  return new ApiError(status, detail?.error_type ?? 'error', message ?? translate('error.status', { status }));
}

/**
 * Sends a GET request and returns the JSON.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, signal) {
  return (await call(path, { signal, headers: { accept: 'application/json' } })).json();
}

/**
 * Sends JSON or a form in a POST request and returns the response.
 * @param {string} path
 * @param {object | FormData} body
 * @param {AbortSignal} [signal]
 */
export function post(path, body, signal) {
  if (body instanceof FormData) return call(path, { method: 'POST', body, signal });
  const headers = { 'content-type': 'application/json' };
  return call(path, { method: 'POST', body: JSON.stringify(body), headers, signal });
}

/**
 * Sends a POST request and returns its stream of events.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} signal
 */
export async function* stream(path, body, signal) {
  yield* eventsOf(await post(path, body, signal));
}

/**
 * Sends a GET request and returns its stream of events.
 * @param {string} path
 * @param {AbortSignal} signal
 */
export async function* follow(path, signal) {
  yield* eventsOf(await call(path, { signal, headers: { accept: 'text/event-stream' } }));
}

/**
 * Uploads an image.
 * @param {File} file
 * @param {AbortSignal} [signal]
 * @returns {Promise<Image>}
 */
export async function upload(file, signal) {
  const form = new FormData();
  form.append('image', file, file.name || 'picture');
  const picture = await (await post('/pictures', form, signal)).json();
  return { ...picture, name: picture.name || file.name };
}

/**
 * Shows an image of the server in an `img`: by URL, or by its bytes if a token must be sent.
 * @param {HTMLImageElement} image
 * @param {string} path
 */
export function show(image, path) {
  if (token() === null) {
    image.src = path;
    return;
  }
  call(path).then((response) => response.blob()).then((blob) => {
    const url = URL.createObjectURL(blob);
    image.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    image.src = url;
  }).catch(() => image.classList.add('missing'));
}

/**
 * Downloads a file.
 * @param {string} path
 * @param {string} name
 */
export async function download(path, name) {
  const url = URL.createObjectURL(await (await call(path)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
