// A job of several images: gallery, filters, range selection, keyboard, export, and comparing two runs.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { look, place, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

const FILES = Object.values(pictures);

let server;
let browser;
let page;
let first;
let second;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  page = await browser.open(server.base);
});
after(async () => { await browser?.stop(); await server?.stop(); });
afterEach(() => browser.clean());

/** Starts a job with the form and waits until it is done. */
async function runJob(name, files, query) {
  await page.click('nav >> text=Jobs');
  await page.setInputFiles('input[name=images]', files);
  await page.getByLabel('Name', { exact: true }).fill(name);
  if (query) await page.getByLabel('Question', { exact: true }).fill(query);
  await page.click('button:has-text("Start")');
  await page.waitForSelector('.job-head .tag[data-state=done]', { timeout: 90_000 });
  await page.waitForFunction((count) => document.querySelectorAll('.tile').length === count, files.length);
  return (await page.evaluate(() => location.hash)).split('/').at(-1);
}

const scores = () => page.locator('.tile .figure').allTextContents().then((all) => all.map(Number));

test('a job runs, and its images stand on the wall with scores, worst first', async () => {
  first = await runJob('first run', FILES);
  assert.equal(await page.textContent('.job-head h1'), 'first run done');
  assert.match(await page.textContent('.hidden-count'), /6 of 6 shown, 0 hidden/);
  const shown = await scores();
  assert.deepEqual(shown, [...shown].sort((a, b) => a - b));
  await page.waitForFunction(() => [...document.querySelectorAll('.tile img')].every((image) => image.complete && image.naturalWidth > 0));
  await look(page, 'gallery');
});

test('other orders: best first, by name', async () => {
  await page.getByLabel('Sort by').selectOption('-score');
  await page.waitForFunction(() => location.hash.includes('sort=-score'));
  await page.waitForFunction(() => { const all = [...document.querySelectorAll('.tile .figure')].map((one) => Number(one.textContent)); return all[0] >= all.at(-1); });
  await page.getByLabel('Sort by').selectOption('name');
  await page.waitForFunction(() => document.querySelector('.tile .file')?.textContent === 'astronaut.jpg');
  await page.getByLabel('Sort by').selectOption('score');
  await page.waitForFunction(() => document.querySelector('.tile .file')?.textContent !== 'astronaut.jpg');
});

test('the brush over the histogram hides what lies outside, says how many, and the address keeps it', async () => {
  const all = await scores();
  const bars = await place(page, '.histogram svg');
  await page.mouse.move(bars.x + bars.width * 0.75, bars.y + 20);
  await page.mouse.down();
  await page.mouse.move(bars.x + bars.width - 1, bars.y + 20, { steps: 4 });
  await page.mouse.up();
  const kept = all.filter((score) => score >= 4).length;
  assert.ok(kept > 0 && kept < all.length, String(all));
  await page.waitForFunction((count) => document.querySelectorAll('.tile').length === count, kept);
  assert.match(await page.textContent('.hidden-count'), new RegExp(`${kept} of 6 shown, ${6 - kept} hidden`));
  await page.reload();
  await page.waitForFunction((count) => document.querySelectorAll('.tile').length === count, kept);
  assert.match(await page.textContent('.hidden-count'), new RegExp(`${6 - kept} hidden`));

  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('text=JSONL')]);
  const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.length, kept, 'what is saved is what is shown');
  await page.click('text=Show all');
  await page.waitForFunction(() => document.querySelectorAll('.tile').length === 6);
  const [table] = await Promise.all([page.waitForEvent('download'), page.click('text=CSV')]);
  const csv = (await readFile(await table.path(), 'utf8')).trim().split('\n');
  assert.ok(csv.length >= 7 && csv[0].includes(','), csv[0]);
});

test('the ends of the brush move by keys', async () => {
  await page.getByLabel('Lowest score').focus();
  for (let step = 0; step < 30; step += 1) await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash.includes('min=4'));
  await page.waitForFunction(() => document.querySelectorAll('.tile').length < 6);
  await page.click('text=All scores');
  await page.waitForFunction(() => document.querySelectorAll('.tile').length === 6);
});

test('distortion, severity and tool narrow the wall', async () => {
  const { facets } = await (await fetch(`${server.base}/jobs/${first}/results`)).json();
  await page.getByRole('group', { name: 'Distortion' }).getByRole('button', { name: /Blur/ }).click();
  await page.getByRole('group', { name: 'Severity' }).getByRole('button', { name: /severe/ }).click();
  await page.waitForFunction(() => /distortion=Blurs/.test(location.hash) && /severity=severe/.test(location.hash));
  await page.waitForFunction(() => document.querySelector('.tile .file')?.textContent === 'osprey-blurred.jpg');
  assert.match(await page.textContent('.hidden-count'), /[1-5] hidden/);
  await page.click('text=Show all');
  await page.waitForFunction(() => document.querySelectorAll('.tile').length === 6);
  assert.ok(facets.tools.includes('Fused-NR'), String(facets.tools));
  await page.getByLabel('Tool', { exact: true }).selectOption('Fused-NR');
  await page.getByLabel('from', { exact: true }).fill('4.2');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.tile').length < 6);
  await page.click('text=Show all');
  await page.waitForFunction(() => document.querySelectorAll('.tile').length === 6);
});

test('arrows walk over the wall, enter opens an image, J and escape go on and back', async () => {
  await page.locator('.tile').first().focus();
  await page.keyboard.press('ArrowRight');
  const focused = await page.evaluate(() => document.activeElement.dataset.sample);
  assert.equal(focused, await page.locator('.tile').nth(1).getAttribute('data-sample'));
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.card');
  const opened = await page.textContent('.workbench h1');
  await page.keyboard.press('j');
  await page.waitForFunction((before) => document.querySelector('.workbench h1')?.textContent !== before, opened);
  await page.waitForSelector('.card');
  await page.waitForFunction(() => document.querySelector('.canvas').width > 100);
  await look(page, 'sample');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.wall');
});

test('two runs against each other: a point for each image that both have', async () => {
  second = await runJob('second run', FILES.slice(0, 4), 'Is this image sharp?');
  await page.click('text=Compare runs');
  await page.waitForSelector('.scatter svg');
  await page.getByLabel('Run A').selectOption(first);
  await page.getByLabel('Run B').selectOption(second);
  await page.waitForFunction(() => document.querySelectorAll('.point').length === 4);
  assert.match(await page.locator('.narrow [role=status]').textContent(), /4 in both\. Only in A: 2, only in B: 0\. SRCC -?[01]\.\d+/);
  await page.locator('.point').first().focus();
  await page.waitForSelector('.scatter-detail:not([hidden])');
  await page.waitForFunction(() => document.querySelector('.scatter-detail img').naturalWidth > 0);
  await look(page, 'scatter');
});

test('a job can be deleted, after a second press', async () => {
  await page.goto(`${server.base}/#/jobs/${second}`);
  await page.click('text=Delete');
  await page.click('text=Really delete');
  await page.waitForFunction(() => location.hash === '#/jobs');
  await page.waitForFunction(() => document.querySelectorAll('.job').length === 1);
});
