// One image: input, question, trace, answer, and opening the result by its URL.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { assess, choose, look, lookForReadme, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([startServer(), startBrowser()]); });
after(async () => { await browser?.stop(); await server?.stop(); });
afterEach(() => browser.clean());

/** Simulates dropping or pasting files on an element. */
async function bring(page, selector, kind, ...paths) {
  const files = await Promise.all(paths.map(async (path) => [path.split('/').at(-1), (await readFile(path)).toString('base64')]));
  await page.evaluate(([place, event, given]) => {
    const data = new DataTransfer();
    for (const [name, base64] of given) {
      data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name, { type: 'image/jpeg' }));
    }
    const element = document.querySelector(place);
    if (event === 'paste') element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    else for (const step of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(step, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [selector, kind, files]);
}

test('the page is there at once, says who answers, and is small', async (t) => {
  const page = await browser.open(server.base);
  await page.waitForSelector('.backend[data-ready]');
  assert.equal(await page.textContent('.backend .name'), 'Built-in analyst');
  assert.equal(await page.getAttribute('.backend', 'data-ready'), 'yes');
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  t.diagnostic(`first contentful paint after ${Math.round(paint)} ms`);
  await look(page, 'welcome');
  await page.context().close();
});

test('an image is dropped, a reference is dropped on its place, an image is pasted', async () => {
  const page = await browser.open(server.base);
  await bring(page, '.stage', 'drop', pictures.compressed);
  await page.waitForSelector('.slot .file');
  assert.match(await page.textContent('.slot .file'), /osprey-compressed\.jpg 768 × 512/);
  await bring(page, '.slot:nth-child(2)', 'drop', pictures.osprey);
  await page.waitForSelector('.slot:nth-child(2) .file');
  assert.match(await page.textContent('.slot:nth-child(2) .file'), /osprey\.jpg/);
  await page.click('[aria-label="Remove the reference"]');
  await page.waitForFunction(() => document.querySelectorAll('.slot .file').length === 1);
  await bring(page, 'body', 'paste', pictures.blurred);
  await page.waitForSelector('.slot:nth-child(2) .file');
  assert.match(await page.textContent('.slot:nth-child(2) .file'), /osprey-blurred\.jpg/);
  await page.context().close();
});

test('a file that is no image is refused in the words of the server', async () => {
  const page = await browser.open(server.base, { expected: /400|415|422/ });
  await page.setInputFiles('.welcome input[type=file]', { name: 'text.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no image at all') });
  await page.waitForSelector('.notice.problem:not([hidden])');
  assert.match(await page.textContent('.notice.problem'), /text\.jpg: .{10,}/);
  await page.context().close();
});

test('a question is answered: trace, score with interval, attributes, tools, fusion, and evidence behind every sentence', async () => {
  const page = await browser.open(server.base);
  await choose(page, pictures.compressed, pictures.osprey);
  await assess(page);
  await page.waitForSelector('.state[data-state=done]');
  await look(page, 'result');

  const id = (await page.evaluate(() => location.hash)).split('/').at(-1);
  const { record } = await (await fetch(`${server.base}/assessments/${id}`)).json();
  const result = record.summarizer_result;
  assert.equal(await page.textContent('.card .score b'), result.quality_score.toFixed(2));
  assert.equal(await page.textContent('.card .answer'), result.quality_level);
  const interval = await page.textContent('.verdict p:last-child');
  for (const end of result.score_interval) assert.ok(interval.includes(end.toFixed(1)), interval);
  assert.deepEqual(await page.locator('.attribute > :first-child').allInnerTexts(),
    ['Lighting', 'Exposure', 'Sharpness', 'Noise', 'Contrast', 'Colorfulness', 'Color cast', 'Compression', 'Haze']);
  assert.deepEqual(await page.locator('.attribute b').allInnerTexts(), Object.values(record.executor_evidence.attributes.Global).map(({ level }) => level));
  assert.equal(await page.locator('.axisbar .mark').count(), 9);
  assert.equal(await page.locator('.card .part table.tools tbody tr').count(), record.executor_evidence.tool_logs.length);
  assert.ok(await page.locator('.fusion rect.by-tools').count() === 5);

  await page.click('.tracing summary');
  const trace = await page.textContent('.trace');
  for (const word of ['Planner', 'Executor', 'Summarizer', 'Detect distortions', 'the whole image', 'with a reference']) assert.ok(trace.includes(word), `${word} in ${trace}`);
  for (const log of record.executor_evidence.tool_logs) {
    assert.ok(trace.includes(log.tool_name) && trace.includes(`${log.normalized_score.toFixed(2)} of 5`), trace);
  }
  assert.match(await page.textContent('.totals'), /tokens: 0\s*cost: \$0/);

  const cited = result.used_evidence.findIndex(({ evidence }) => evidence.length === 1 && evidence[0].startsWith('/tool_logs/'));
  assert.ok(cited >= 0);
  await page.locator('.sentence').nth(cited).hover();
  assert.deepEqual(await page.locator('[data-evidence].lit').evaluateAll((lit) => lit.map((element) => element.dataset.evidence)), result.used_evidence[cited].evidence);
  await page.locator('.sentence').nth(cited).click();
  await page.mouse.move(5, 5);
  assert.equal(await page.locator('[data-evidence].lit').count(), 1, 'a pressed sentence keeps its evidence lit');
  assert.equal(await page.locator('.sentence').allTextContents().then((all) => all.join(' ')), result.used_evidence.map(({ sentence }) => sentence).join(' '));
  await page.context().close();
});

test('an edit that helps is shown before and after, and hidden again', async () => {
  const page = await browser.open(server.base);
  await choose(page, pictures.compressed);
  await assess(page);
  assert.match(await page.textContent('.advice'), /original at quality 80 or more/);
  assert.ok(await page.locator('.contribution').count() > 2);
  const show = page.locator('.whatif button').first();
  assert.equal(await show.textContent(), 'Show');
  await show.click();
  await page.waitForFunction(() => document.querySelector('.whatif button')?.getAttribute('aria-pressed') === 'true');
  assert.deepEqual(await page.locator('.corner:visible').allTextContents(), ['Before', 'After']);
  await page.locator('.handle:visible').waitFor();
  await show.click();
  await page.locator('.handle').waitFor({ state: 'hidden' });
  assert.equal(await show.textContent(), 'Show');
  await page.context().close();
});

test('the image in the README shows the page as it is', async () => {
  const page = await browser.open(server.base, { viewport: { width: 1280, height: 800 } });
  await choose(page, pictures.compressed, pictures.osprey);
  await assess(page);
  await page.locator('.sentence').nth(1).focus(); // the evidence of a sentence is lit
  await page.evaluate(() => scrollTo(0, 0));
  await lookForReadme(page);
  await page.context().close();
});

test('an address brings back the assessment with its images', async () => {
  const first = await browser.open(server.base);
  await choose(first, pictures.blurred);
  await assess(first, 'Is this image sharp?');
  const hash = await first.evaluate(() => location.hash);
  const answer = await first.textContent('.card .answer');
  await first.context().close();
  const second = await browser.open(server.base, { at: hash });
  await second.waitForSelector('.card');
  assert.equal(await second.textContent('.card .answer'), answer);
  assert.equal(await second.inputValue('.ask textarea'), 'Is this image sharp?');
  await second.waitForSelector('.left:not(.empty)');
  await second.click('nav >> text=History');
  await second.waitForSelector('.past');
  assert.match(await second.textContent('.past'), /Is this image sharp\?/);
  await second.click('.past');
  await second.waitForFunction((wanted) => location.hash === wanted, hash);
  await second.context().close();
});

test('the page suggests questions that the image makes interesting, in both languages', async () => {
  const page = await browser.open(server.base);
  assert.ok((await page.locator('.presets .chip').allInnerTexts()).includes('Overall quality'));
  await choose(page, pictures.compressed);
  await page.waitForSelector('[aria-label="Questions about this image"]');
  const questions = await page.locator('.presets .chip').allInnerTexts();
  assert.ok(questions.includes('How visible are the compression artifacts?') && questions.includes('How can I fix it?'), questions.join());
  await page.click('text=How visible are the compression artifacts?');
  assert.equal(await page.inputValue('.ask textarea'), 'How visible are the compression artifacts?');
  await page.context().close();
  const chinese = await browser.open(server.base, { locale: 'zh-CN' });
  await choose(chinese, pictures.compressed);
  await chinese.waitForSelector('[aria-label="适合这张图像的问题"]');
  assert.ok((await chinese.locator('.presets .chip').allInnerTexts()).includes('怎样修复它？'));
  await chinese.context().close();
});

test('options make a multiple-choice question', async () => {
  const page = await browser.open(server.base);
  await choose(page, pictures.blurred);
  await page.click('text=Multiple choice');
  await page.click('text=Add an option');
  for (const [index, text] of ['Blur', 'Noise', 'Compression'].entries()) await page.locator('.options input').nth(index).fill(text);
  await assess(page, 'Which distortion does this image have?');
  assert.match(await page.textContent('.card .answer'), /A Blur/);
  await page.context().close();
});

/** Formats events as a server-sent event stream. */
const streamOf = (...events) => events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(': comment\n\n');

test('retries, deputies, new plans, problems, tokens and cost are shown, and text from outside stays text', async () => {
  const page = await browser.open(server.base);
  await choose(page, pictures.osprey);
  await assess(page);
  const id = (await page.evaluate(() => location.hash)).split('/').at(-1);
  const answer = await (await fetch(`${server.base}/assessments/${id}`)).json();
  const markup = '<img src=x onerror=alert(1)>';
  Object.assign(answer.record.metadata, { tokens_used: { planner: 10, executor: 20, summarizer: 12 }, cost_usd: 0.0123, iteration_count: 1, replan_history: [{ iteration: 0, reason: markup }] });
  answer.record.summarizer_result.used_evidence[0].sentence = markup;
  answer.record.executor_evidence.attributes = { [markup]: { haze: { level: markup, direction: markup, value: 0.5, probability: 0.5 } } };
  answer.record.metadata.backends.planner = 'openai.gpt-4o';
  await page.route('**/assess/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body: streamOf(
    ['started', { id, backends: { planner: 'openai.gpt-4o', executor: 'builtin', summarizer: 'builtin' } }],
    ['node_started', { node: 'planner', iteration: 0 }],
    ['retry', { node: 'planner', backend: 'openai.gpt-4o', attempt: 1, reason: markup }],
    ['fallback', { node: 'planner', from: 'openai.gpt-4o', to: 'builtin' }],
    ['node_ended', { node: 'planner', iteration: 0, seconds: 1.5 }],
    ['node_started', { node: 'executor', iteration: 0 }],
    ['subtask_ended', { subtask: 'distortion_detection', seconds: 0.2, problem: 'it took too long' }],
    ['tool_ended', { log: { tool_name: markup, object_name: 'Global', distortion: 'Noise', raw_score: null, normalized_score: null, execution_time: 0.1, error: 'no such luck' } }],
    ['replan', { iteration: 0, reason: 'nothing was measured' }],
    ['node_started', { node: 'planner', iteration: 1 }],
    ['answer', answer]) }));
  await page.click('.ask button.primary');
  await page.waitForSelector('.state[data-state=done]');
  const trace = await page.locator('.trace').evaluate((element) => element.textContent);
  for (const words of ['openai.gpt-4o, builtin', `attempt 1 failed: ${markup}`, 'Falling back from openai.gpt-4o to builtin', 'it took too long', 'no such luck',
    'Replanning, round 2: nothing was measured', 'Planner, round 2', '1.50 s']) assert.ok(trace.includes(words), `${words} in ${trace}`);
  assert.match(await page.textContent('.card footer'), /tokens: 42\s*cost: \$0\.0123/);
  assert.equal(await page.locator('.sentence').first().textContent(), markup);
  assert.equal(await page.textContent('.attribute b'), markup);
  assert.equal(await page.locator('main img[src=x]').count(), 0);
  await page.context().close();
});

test('an assessment can be canceled, and an error ends it with its reason', async () => {
  const page = await browser.open(server.base);
  await choose(page, pictures.osprey);
  let release = () => {};
  await page.route('**/assess/stream', (route) => new Promise((done) => { release = done; }).then(() => route.abort().catch(() => {})));
  await page.click('.ask button.primary');
  await page.waitForSelector('.state[data-state=running]');
  await page.click('.ask >> text=Cancel');
  await page.waitForSelector('.state[data-state=canceled]');
  release();
  await page.unroute('**/assess/stream');
  const detail = { error_type: 'timeout', message: 'it took longer than 300 s', timestamp: '' };
  await page.route('**/assess/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body: streamOf(['error', { status: 504, detail }]) }));
  await page.click('.ask button.primary');
  await page.waitForSelector('.state[data-state=failed]');
  assert.equal(await page.textContent('.right .notice.problem'), detail.message);
  assert.equal(await page.isDisabled('.ask button.primary'), false);
  await page.context().close();
});
