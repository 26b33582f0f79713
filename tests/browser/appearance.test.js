// Themes, phone widths, Chinese, and accessibility checks (axe) of each view.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { assertNoOverflow, assess, choose, look, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const form = new FormData();
  for (const path of [pictures.osprey, pictures.blurred]) form.append('image', new Blob([await readFile(path)]), path.split('/').at(-1));
  form.append('query', 'Assess the overall quality of this image.');
  const job = await (await fetch(`${server.base}/jobs`, { method: 'POST', body: form })).json();
  for (let state = ''; state !== 'done';) {
    assert.ok(!['failed', 'stopped'].includes(state), state);
    await new Promise((wake) => setTimeout(wake, 200));
    ({ state } = await (await fetch(`${server.base}/jobs/${job.id}`)).json());
  }
});
after(async () => { await browser?.stop(); await server?.stop(); });
afterEach(() => browser.clean());

/** Returns the brightness of the page background, 0 to 255. */
const ground = (page) => page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]));

async function check(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(grave.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`), []);
}

/** Visits all views with content. */
async function everyView(options, visit) {
  const page = await browser.open(server.base, { bypassCSP: true, ...options });
  await page.waitForSelector('.backend[data-ready]');
  await visit(page, 'welcome');
  await choose(page, pictures.compressed, pictures.osprey);
  await page.locator('.regions, .panel button').filter({ hasText: /By numbers|输入坐标/ }).first().click();
  await page.selectOption('.heat select', 'SSIM');
  await page.waitForSelector('.legend:not([hidden])');
  await page.click('.ask .more summary');
  await page.click('.ask [aria-expanded]');
  await page.locator('.options input').nth(0).fill('sharp');
  await page.locator('.options input').nth(1).fill('blurred');
  await assess(page);
  await page.click('.tracing summary');
  await visit(page, 'result');
  for (const view of ['history', 'jobs', 'compare', 'nowhere']) {
    await page.goto(`${server.base}/#/${view}`);
    await page.waitForSelector('main h1');
    await page.waitForTimeout(200);
    await visit(page, view);
  }
  const [job] = (await (await fetch(`${server.base}/jobs`)).json()).jobs;
  await page.goto(`${server.base}/#/jobs/${job.id}`);
  await page.waitForSelector('.tile');
  await visit(page, 'gallery');
  await page.click('.tile');
  await page.waitForSelector('.card');
  await visit(page, 'sample');
  await page.context().close();
}

test('axe finds nothing serious in any view, in light', () => everyView({}, check));
test('axe finds nothing serious in any view, in dark and in Chinese', () => everyView({ colorScheme: 'dark', locale: 'zh-CN' }, check));
test('nothing is wider than a phone, in any view', () => everyView(PHONE, assertNoOverflow));
test('nothing is wider than a small phone, in Chinese', () => everyView({ ...PHONE, viewport: { width: 320, height: 640 }, locale: 'zh-CN' }, assertNoOverflow));

test('the theme is the system\'s until somebody chooses, and is then remembered', async () => {
  const page = await browser.open(server.base, { colorScheme: 'dark' });
  assert.ok(await ground(page) < 60);
  await choose(page, pictures.compressed, pictures.osprey);
  await assess(page);
  await look(page, 'dark');
  await page.click('header >> text=Light');
  assert.ok(await ground(page) > 200);
  await page.reload();
  assert.ok(await ground(page) > 200);
  await page.click('header >> text=Dark');
  assert.ok(await ground(page) < 60);
  await page.context().close();
});

test('a Chinese browser gets Chinese, a button changes it at once and for good, and the answer stays', async () => {
  const page = await browser.open(server.base, { locale: 'zh-CN' });
  assert.equal(await page.textContent('.welcome h1'), '把图像拖到这里');
  assert.equal(await page.getAttribute('html', 'lang'), 'zh');
  assert.equal(await page.inputValue('.ask textarea'), '请评估这张图像的整体质量。');
  await choose(page, pictures.compressed, pictures.osprey);
  await assess(page);
  assert.match(await page.textContent('.card .answer'), /^[优良中差劣]$/);
  assert.match(await page.textContent('.severity'), /压缩/);
  assert.match(await page.textContent('.attribute'), /^明暗/);
  await look(page, 'chinese');
  await page.click('header >> text=English');
  assert.match(await page.textContent('.card .answer'), /^(Bad|Poor|Fair|Good|Excellent)$/);
  assert.match(await page.title(), /^Assess/);
  await page.reload();
  assert.equal(await page.textContent('nav a'), 'Assess');
  await page.context().close();
});

test('a phone shows image, question and answer below each other', async () => {
  const page = await browser.open(server.base, PHONE);
  await look(page, 'phone-welcome');
  await choose(page, pictures.compressed, pictures.osprey);
  await assess(page);
  const tops = await page.evaluate(() => ['.stage', '.ask', '.card'].map((name) => document.querySelector(name).getBoundingClientRect().top));
  assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
  await page.evaluate(() => scrollTo(0, 0));
  await look(page, 'phone');
  await page.context().close();
});
