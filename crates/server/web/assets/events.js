// Server-sent events over fetch: EventSource cannot send a body or a token.

/**
 * @typedef {object} ServerEvent
 * @property {string} name
 * @property {any} data
 */

/**
 * Returns a parser that splits a character stream into events. Comments (keep-alive messages) are ignored.
 * @returns {(characters: string) => ServerEvent[]}
 */
export function parser() {
  let rest = '';
  let name = '';
  /** @type {string[]} */
  let data = [];
  return (characters) => {
    /** @type {ServerEvent[]} */
    const events = [];
    rest += characters;
    // A carriage return at the end may be the first half of a line break.
    const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
    const lines = whole.split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + rest.slice(whole.length);
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ name: name || 'message', data: JSON.parse(data.join('\n')) });
        name = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
    }
    return events;
  };
}

/**
 * Yields the events of a response.
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* eventsOf(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = parser();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield* parse(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
