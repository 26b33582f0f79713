// Unit tests of page modules in the browser, and checks of all page files.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startBrowser } from './browser.js';
import { startServer } from './server.js';

const WEB = resolve(import.meta.dirname, '../../crates/server/web');

let server;
let browser;
let page;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  page = await browser.open(server.base);
});
after(async () => { await browser?.stop(); await server?.stop(); });
afterEach(() => browser.clean());

const files = async () => (await readdir(join(WEB, 'assets'))).sort();

test('the whole page is below 100 kB compressed, no file is long, and every module is fetched at once', async (t) => {
  let sum = gzipSync(await readFile(join(WEB, 'index.html'))).length;
  for (const name of await files()) {
    const bytes = await readFile(join(WEB, 'assets', name));
    sum += gzipSync(bytes).length;
    assert.ok(bytes.toString().split('\n').length <= 400, `${name} is too long`);
  }
  const index = await readFile(join(WEB, 'index.html'), 'utf8');
  const modules = (await files()).filter((name) => name.endsWith('.js') && name !== 'boot.js' && name !== 'main.js');
  assert.deepEqual([...index.matchAll(/modulepreload" href="\/assets\/([\w-]+\.js)"/g)].map(([, name]) => name), modules);
  t.diagnostic(`${(sum / 1000).toFixed(1)} kB`);
  assert.ok(sum < 100_000, `${sum} bytes`);
});

test('nothing in the files names another place, and no markup is made of text', async () => {
  for (const name of ['../index.html', ...await files()]) {
    const text = await readFile(join(WEB, 'assets', name), 'utf8');
    const outside = [...text.replaceAll('http://www.w3.org/2000/svg', '').matchAll(/https?:|(?:["'(]\/\/)/g)].map(([match]) => match);
    assert.deepEqual(outside, [], name);
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text), name);
    assert.ok(!/ style="| on[a-z]+="|<script>/.test(text), `${name} has inline code or style`);
  }
});

test('every word is there in both languages, with the same gaps, and every key in use is known', async () => {
  const [english, chinese] = await page.evaluate(async () => [(await import('/assets/words-en.js')).english, (await import('/assets/words-zh.js')).chinese]);
  assert.deepEqual(Object.keys(english).sort(), Object.keys(chinese).sort());
  const gaps = (text) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
  for (const [key, text] of Object.entries(english)) {
    assert.deepEqual(gaps(text), gaps(chinese[key]), key);
    assert.ok(text.trim() && chinese[key].trim(), key);
  }
  for (const name of (await files()).filter((file) => /^(?!words-|dom).*\.js$/.test(file))) {
    const text = await readFile(join(WEB, 'assets', name), 'utf8');
    const used = [...text.matchAll(/(?:[{ ]t|label|hint|placeholder): \[?'([a-z][\w.-]*)'|translate\('([\w.-]+)'|button\('([a-z][\w.-]*)'/g)];
    for (const [, ...keys] of used) assert.ok(keys.some((key) => key in english), `${name}: ${keys.join('')}`);
  }
});

test('a stream is cut into events wherever its parts end', async () => {
  const text = ': alive\r\n\r\nevent: one\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: more\ndata: "two"\n\nevent: three\rdata: [3]\r\r';
  const results = await page.evaluate(async (whole) => {
    const { parser } = await import('/assets/events.js');
    return [1, 2, 3, 7, whole.length].map((size) => {
      const parse = parser();
      const events = [];
      for (let at = 0; at < whole.length; at += size) events.push(...parse(whole.slice(at, at + size)));
      return [...events, ...parse('\n')];
    });
  }, text);
  const expected = [{ name: 'one', data: { a: 1 } }, { name: 'message', data: 'two' }, { name: 'three', data: [3] }];
  for (const events of results) assert.deepEqual(events, expected);
});

test('ranks share ties and correlations are those of the textbook', async () => {
  const found = await page.evaluate(async () => {
    const { agreement, correlation, ranks } = await import('/assets/statistics.js');
    return { ranks: ranks([10, 30, 20, 30]), line: correlation([1, 2, 3], [2, 4, 6]), known: correlation([1, 2, 3, 4], [1, 3, 2, 5]), few: correlation([1, 2], [1, 2]), flat: correlation([1, 1, 1], [1, 2, 3]), both: agreement([1, 2, 3, 4], [2, 4, 8, 16]) };
  });
  assert.deepEqual(found.ranks, [1, 3.5, 2, 3.5]);
  assert.ok(Math.abs(found.line - 1) < 1e-12);
  assert.ok(Math.abs(found.known - 5.5 / Math.sqrt(5 * 8.75)) < 1e-12);
  assert.equal(found.few, null);
  assert.equal(found.flat, null);
  assert.ok(Math.abs(found.both.rank - 1) < 1e-12 && found.both.linear < 1 && found.both.shift === 5);
});

test('the weights of the levels follow the formula, and a tool with an interval carries the score', async () => {
  const { weights, alone, carried, parts } = await page.evaluate(async () => {
    const { together, weightsOf } = await import('/assets/fusion.js');
    const log = (tool_name, normalized_score, interval = null, region = null) => ({ tool_name, normalized_score, interval, region });
    return {
      weights: weightsOf(3.5),
      alone: together([log('VSI', 4), log('PSNR', 3), log('VSI', 4)]),
      carried: together([log('VSI', 2), log('Fused-FR', 4, [3.5, 4.4])]),
      parts: together([log('Fused-FR', 4, [3, 5], [0, 0, 9, 9]), log('VSI', 2, null, [9, 9, 9, 9])]),
    };
  });
  assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-12);
  assert.ok(Math.abs(weights[2] / weights[1] - Math.exp(-0.25 + 2.25)) < 1e-9);
  assert.equal(alone, 3.5);
  assert.equal(carried, 4);
  assert.equal(parts, 3);
});

test('zoom keeps the pixel below the pointer, and the image cannot be lost', async () => {
  const found = await page.evaluate(async () => {
    const { Viewport } = await import('/assets/viewport.js');
    const view = new Viewport();
    view.resize({ width: 800, height: 600 }, { width: 400, height: 100 });
    const fitted = [view.scale, view.x, view.y];
    const at = { x: 300, y: 310 };
    const before = view.toPicture(at);
    view.zoom(8, at);
    const after = view.toPicture(at);
    const back = view.toStage(after);
    view.pan(1e6, -1e6);
    const lost = view.x > 800 || view.y + 100 * view.scale < 0;
    view.zoom(1e9);
    const most = view.scale;
    view.zoom(1.5);
    view.x = 10.3;
    view.align(2);
    const aligned = view.x;
    return { fitted, before, after, back, lost, most, aligned };
  });
  assert.deepEqual(found.fitted, [2, 0, 200]);
  assert.ok(Math.abs(found.before.x - found.after.x) < 1e-9 && Math.abs(found.before.y - found.after.y) < 1e-9);
  assert.deepEqual(found.back, { x: 300, y: 310 });
  assert.equal(found.lost, false);
  assert.equal(found.most, 64);
  assert.equal(found.aligned, 10.5, 'on half CSS pixels of a dense screen');
});

test('evidence is named by pointers: itself, what holds it, what is in it', async () => {
  const found = await page.evaluate(async () => {
    const { escapePart, names } = await import('/assets/reasoning.js');
    const piece = '/distortion_analysis/Global/0';
    return [names(piece, piece), names('/distortion_analysis', piece), names(`${piece}/severity`, piece), names('', piece), names('/distortion_analysis/Global/01', piece), names('/tool_logs/1', '/tool_logs/10'), escapePart('a/b~c')];
  });
  assert.deepEqual(found, [true, true, true, true, false, false, 'a~1b~0c']);
});

test('addresses take any name there and back', async () => {
  const name = 'folder/ä %41 ?&#.jpg';
  const found = await page.evaluate(async (sample) => {
    const { address, rename, route } = await import('/assets/router.js');
    rename(address(['jobs', 'x', sample], { min: 2, tool: 'A&B', empty: '' }));
    const { path, query } = route();
    rename('#/jobs/%');
    return { path, query: Object.fromEntries(query), broken: route().path };
  }, name);
  assert.deepEqual(found.path, ['jobs', 'x', name]);
  assert.deepEqual(found.query, { min: '2', tool: 'A&B' });
  assert.deepEqual(found.broken, ['jobs', '%']);
});

test('what a model was shown, what it disagrees about and a second opinion are next to the answer', async () => {
  const found = await page.evaluate(async () => {
    const { scoreCard } = await import('/assets/scorecard.js');
    const { Trace } = await import('/assets/trace.js');
    const canvas = new OffscreenCanvas(400, 300);
    const context = canvas.getContext('2d');
    context.fillStyle = 'rgb(20, 20, 20)';
    context.fillRect(0, 0, 400, 300);
    context.fillStyle = 'rgb(200, 10, 10)';
    context.fillRect(100, 50, 80, 60);
    const bitmap = canvas.transferToImageBitmap();
    const call = { node: 'executor', backend: 'openai.x', task: 'distortion_analysis', images: 3, prompt_tokens: 900, completion_tokens: 40, cost_usd: 0.0123, seconds: 1.5 };
    const side = (by, value, reason) => ({ by, value, reason });
    const result = { final_answer: 'C', answer_form: 'score', quality_score: 3.1, quality_level: 'Fair', quality_reasoning: 'Soft.', used_evidence: [], disagreements: [
      { object: 'Global', about: 'quality level', claimed: side('openai.x', 'Fair'), measured: side('the tools', 'Excellent', '4.80 of 5'), levels: 2 }] };
    const record = {
      query: 'Rate it.', options: [], regions: [], plan: null, summarizer_result: result,
      second_opinion: { backend: 'google.y', result: { ...result, final_answer: 'B', quality_level: 'Good', quality_reasoning: '<b>Fine</b>' }, agrees: false },
      executor_evidence: { tool_logs: [], disagreements: [
        { object: 'Global', about: 'Noise', claimed: side('openai.x', 'extreme', 'grain'), measured: side('the measurement', 'none', 'sigma 0.4'), levels: 4 }] },
      metadata: { final_status: 'success', execution_time_ms: 5, iteration_count: 0, replan_history: [], timestamp: '', backends: { planner: 'openai.x', executor: 'openai.x', summarizer: 'openai.x' },
        tokens_used: {}, cost_usd: 0.0123, calls: [call], views: { max_crops: 3, max_side: 80, max_rounds: 2, kept_side: 200, sent: [
          { kind: 'crop', shows: 'the subject', x: 100, y: 50, width: 80, height: 60, bytes: 900 },
          { kind: 'brightened', shows: 'the view that you asked for', x: 0, y: 0, width: 400, height: 300, stops: 3, bytes: 900, requested_by: 'conclusion' }] } },
    };
    const card = scoreCard(record, { tools: new Map(), picture: () => Promise.resolve({ bitmap, width: 800, height: 600 }) });
    document.body.append(card);
    await new Promise((done) => { setTimeout(done, 50); });
    const pixel = (view) => [...view.getContext('2d').getImageData(5, 5, 1, 1).data].slice(0, 3);
    const drawn = [...card.querySelectorAll('canvas.view')].map((view) => [view.width, view.height, pixel(view)]);
    const text = (selector) => [...card.querySelectorAll(selector)].map((part) => part.innerText);
    const trace = new Trace();
    trace.recall(record);
    const found = { drawn, captions: text('.views figcaption'), sides: text('.disagreements tbody tr'), opinions: text('.opinion'), calls: text('.calls tbody tr'), trace: trace.element.textContent };
    card.remove();
    return found;
  });
  // The bitmap is half as large as the image: 80x60 pixels at 100,50 are 40x30 at 50,25.
  assert.deepEqual(found.drawn[0], [40, 30, [20, 20, 20]]);
  assert.equal(found.drawn[1][0], 200);
  assert.ok(found.drawn[1][2][0] > 40, `brightened: ${found.drawn[1][2]}`);
  assert.match(found.captions[0], /100,50,80,60[\s\S]*the subject/);
  assert.match(found.captions[1], /the model asked for it/);
  assert.match(found.sides[0], /Noise[\s\S]*[Ee]xtreme[\s\S]*grain[\s\S]*not visible[\s\S]*sigma 0\.4/);
  assert.match(found.sides[1], /Quality level[\s\S]*Fair[\s\S]*Excellent[\s\S]*4\.80 of 5/);
  assert.match(found.opinions[0], /openai\.x[\s\S]*C\. Fair/);
  assert.match(found.opinions[1], /google\.y[\s\S]*B\. Good[\s\S]*<b>Fine<\/b>/);
  assert.match(found.calls[0], /Analyze severity[\s\S]*900 \+ 40[\s\S]*\$0\.0123/);
  assert.match(found.trace, /940 tokens, 3 images, \$0\.0123/);
});
