// The page of `agenticiqa cull --format html`: groups side by side, keys, synchronized crops, export.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startBrowser } from './browser.js';
import { pictures } from './server.js';

const PROGRAM = process.env.AGENTICIQA_PROGRAM ?? resolve(import.meta.dirname, '../../target/debug/agenticiqa');
let browser;
let folder;
const cull = (...args) => promisify(execFile)(PROGRAM, ['cull', 'photos', ...args], {
  cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, maxBuffer: 1 << 26,
});
before(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), 'agenticiqa-review-'));
  await promisify(execFile)('mkdir', [join(folder, 'photos')]);
  for (const [name, path] of [['sharp.jpg', pictures.osprey], ['blurred.jpg', pictures.blurred], ['coded.jpg', pictures.compressed], ['otters.jpg', pictures.otters]]) {
    await copyFile(path, join(folder, 'photos', name));
  }
  await writeFile(join(folder, 'review.html'), (await cull('--format', 'html')).stdout);
});
after(async () => { await browser?.stop(); await rm(folder, { recursive: true, force: true }); });
afterEach(() => browser.clean());

test('a group is decided with the keyboard, its crops move together, and the export is what is written', async () => {
  const page = await browser.open(`file://${folder}`, { at: 'review.html' });
  const decisions = () => page.$$eval('figure', (all) => Object.fromEntries(all.map((one) => [one.dataset.path.split('/').pop(), one.dataset.decision])));
  const proposed = await decisions();
  assert.deepEqual([proposed['sharp.jpg'], proposed['blurred.jpg'], Object.keys(proposed).length], ['keep', 'reject', 3]);
  assert.match(await page.textContent('figure.reject figcaption'), /against/);

  const crops = page.locator('.crop');
  await crops.nth(0).evaluate((crop) => crop.scrollTo(60, 40));
  await page.waitForFunction(() => [...document.querySelectorAll('.crop')].every((crop) => crop.scrollLeft === 60 && crop.scrollTop === 40));

  await page.focus('figure[data-path$="blurred.jpg"]');
  await page.keyboard.press('s');
  const swapped = await decisions();
  assert.deepEqual([swapped['sharp.jpg'], swapped['blurred.jpg']], ['reject', 'keep']);
  await page.keyboard.press('u');
  await page.focus('figure[data-path$="sharp.jpg"]');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.group.accepted').count(), 1);
  assert.match(await page.textContent('#counts'), /keep 2, .*unsure 1/);
  await page.screenshot({ path: resolve(import.meta.dirname, '../../target/browser-review.png'), fullPage: true });

  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#export')]);
  await download.saveAs(join(folder, 'decisions.csv'));
  assert.match(await readFile(join(folder, 'decisions.csv'), 'utf8'), /^image_path,group,decision,score,reason\n/);
  await cull('--decisions', 'decisions.csv', '--xmp', '--apply');
  const rating = async (name) => /xmp:Rating="(-?\d)"/.exec(await readFile(join(folder, 'photos', name), 'utf8'))[1];
  assert.deepEqual([await rating('blurred.xmp'), Number(await rating('sharp.xmp')) > 0], ['0', true]);
});
