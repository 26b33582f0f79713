// Two images in the viewer: compare modes, heat maps and regions.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { choose, look, painted, place, stagePixels, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

let server;
let browser;
let page;
before(async () => { [server, browser] = await Promise.all([startServer(), startBrowser()]); });
after(async () => { await browser?.stop(); await server?.stop(); });
beforeEach(async () => {
  page = await browser.open(server.base);
  await choose(page, pictures.compressed, pictures.osprey);
});
afterEach(async () => {
  await page.context().close();
  browser.clean();
});

/** Converts fractions of the viewer size to positions. */
async function places(...shares) {
  const box = await place(page, '.canvas');
  return shares.map(([x, y]) => [x * box.width, y * box.height]);
}

const LEFT = [[0.2, 0.3], [0.3, 0.6], [0.4, 0.5]];
const RIGHT = [[0.6, 0.3], [0.7, 0.6], [0.8, 0.5]];

test('the slider shows the reference on its left and the image on its right; dragging and keys move it', async () => {
  const points = await places(...LEFT, ...RIGHT);
  const slider = await stagePixels(page, points);
  await page.keyboard.press('3');
  const image = await stagePixels(page, points);
  await page.keyboard.press('f');
  const reference = await stagePixels(page, points);
  assert.notDeepEqual(image, reference);
  assert.deepEqual(slider.slice(0, 3), reference.slice(0, 3));
  assert.deepEqual(slider.slice(3), image.slice(3));

  await page.keyboard.press('1');
  const handle = await place(page, '.handle');
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  const box = await place(page, '.canvas');
  await page.mouse.move(box.x + box.width * 0.95, handle.y + 40, { steps: 4 });
  await page.mouse.up();
  assert.deepEqual(await stagePixels(page, points), reference, 'nearly all of it is the reference');
  await page.locator('.handle').focus();
  await page.keyboard.press('Home');
  await painted(page);
  assert.equal(await page.getAttribute('.handle', 'aria-valuenow'), '0');
  assert.deepEqual(await stagePixels(page, points), image, 'all of it is the image');
});

test('flipping shows one, then the other, at the same place', async () => {
  await page.click('text=Flip');
  const points = await places(...LEFT);
  const image = await stagePixels(page, points);
  assert.match(await page.textContent('.corner.first'), /Image/);
  await page.click('text=Show reference');
  assert.match(await page.textContent('.corner.first'), /Reference/);
  assert.notDeepEqual(await stagePixels(page, points), image);
  await page.keyboard.press('f');
  assert.deepEqual(await stagePixels(page, points), image);
});

test('side by side, zoom and pan move both', async () => {
  await page.setInputFiles('.slot:nth-child(1) input[type=file]', pictures.osprey);
  await page.waitForFunction(() => [...document.querySelectorAll('.slot .file')].every((file) => file.textContent.startsWith('osprey.jpg')));
  await page.click('text=Side by side');
  const box = await place(page, '.canvas');
  const points = await places([0.1, 0.3], [0.2, 0.5], [0.35, 0.7], [0.42, 0.4]);
  const other = points.map(([x, y]) => [x + box.width / 2, y]);
  const still = await stagePixels(page, points);
  assert.deepEqual(await stagePixels(page, other), still);
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.4);
  await page.mouse.wheel(0, -900);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.5, { steps: 4 });
  await page.mouse.up();
  const moved = await stagePixels(page, points);
  assert.notDeepEqual(moved, still);
  assert.deepEqual(await stagePixels(page, other), moved);
});

test('the difference of equal images is black, of others not, and grows with the gain', async () => {
  await page.keyboard.press('4');
  const points = await places(...LEFT, ...RIGHT, [0.33, 0.44], [0.55, 0.66], [0.75, 0.25]);
  const light = (pixels) => pixels.flat().reduce((sum, value) => sum + value, 0);
  const slider = page.locator('.gain input');
  await slider.fill('0');
  const plain = await stagePixels(page, points);
  await slider.fill('3');
  await painted(page);
  assert.equal(await page.textContent('.gain output'), '×8');
  const strong = await stagePixels(page, points);
  assert.ok(light(plain) > 0);
  // The stage is scaled after the gain, so that a pixel may be off by rounding.
  plain.flat().forEach((value, index) => assert.ok(Math.abs(strong.flat()[index] - Math.min(255, 8 * value)) <= 24 || strong.flat()[index] > 200, `${value} became ${strong.flat()[index]}`));
  assert.ok(light(strong) > 3 * light(plain));
  await page.setInputFiles('.slot:nth-child(1) input[type=file]', pictures.osprey);
  await page.waitForFunction(() => [...document.querySelectorAll('.slot .file')].every((file) => file.textContent.startsWith('osprey.jpg')));
  assert.equal(light(await stagePixels(page, points)), 0);
});

test('at 1:1 a pixel of the image is a pixel of the screen, and the probe reads what is shown', async () => {
  await page.keyboard.press('3');
  await page.click('text=1:1');
  await painted(page);
  assert.equal(await page.textContent('output.zoom'), '100 %');
  const box = await place(page, '.canvas');
  await page.mouse.move(box.x + 301, box.y + 203);
  const [x, y] = (await page.textContent('.probe .place')).split(', ').map(Number);
  const id = createHash('sha256').update(await readFile(pictures.compressed)).digest('hex');
  const own = await page.evaluate(async ([path, left, top]) => {
    const bitmap = await createImageBitmap(await (await fetch(path)).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return [...context.getImageData(left, top, 1, 1).data].slice(0, 3);
  }, [`/pictures/${id}/view`, x, y]);
  assert.deepEqual(await stagePixels(page, [[301, 203]]), [own], 'the stage shows the pixel as it is');
  const text = await page.textContent('.probe');
  assert.ok(text.includes(`Image ${own.join(' ')}`), `${own} in ${text}`);
  assert.match(text, /Reference \d+ \d+ \d+.*Δ \d+ \d+ \d+/);
  assert.ok(x >= 0 && x < 768 && y >= 0 && y < 512);
  await page.locator('.canvas').focus();
  await page.keyboard.press('Shift+ArrowRight');
  assert.match(await page.textContent('.probe .place'), new RegExp(`^${x + 1}, ${y}$`));
  await page.keyboard.press('0');
  assert.notEqual(await page.textContent('output.zoom'), '100 %');
});

test('a heat map lies over the image, fades, and has a legend and a value under the pointer', async () => {
  await page.keyboard.press('3');
  const points = await places(...LEFT, ...RIGHT);
  const bare = await stagePixels(page, points);
  const offered = await page.locator('.heat option').allTextContents();
  for (const tool of ['SSIM', 'GMSD', 'Fused-NR']) assert.ok(offered.includes(tool), `${tool} in ${offered}`);
  await page.selectOption('.heat select', 'SSIM');
  await page.waitForSelector('.legend:not([hidden])');
  assert.notDeepEqual(await stagePixels(page, points), bare);
  assert.match(await page.textContent('.legend .ends'), /best.*worst/);
  await page.locator('.canvas').hover({ position: { x: 400, y: 200 } });
  assert.match(await page.textContent('.probe'), /SSIM \d/);
  await look(page, 'heatmap');
  await page.locator('.heat input[type=range]').fill('0');
  assert.deepEqual(await stagePixels(page, points), bare);
  await page.selectOption('.heat select', '');
  await painted(page);
  assert.equal(await page.isVisible('.legend'), false);
});

test('without a reference only tools that need none are offered', async () => {
  await page.click('[aria-label="Remove the reference"]');
  await page.waitForFunction(() => document.querySelectorAll('.slot .file').length === 1);
  const offered = await page.locator('.heat option').allTextContents();
  assert.ok(offered.includes('Fused-NR') && !offered.includes('SSIM'), String(offered));
  await painted(page);
  assert.equal(await page.isVisible('.segments'), false);
});

test('a box is drawn, named, scored and asked about', async () => {
  await page.click('text=Draw a box');
  const box = await place(page, '.canvas');
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.15);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.55, box.y + box.height * 0.85, { steps: 5 });
  await page.mouse.up();
  await page.fill('.regions .name', 'bird');
  const [x, y, width, height] = await page.locator('.sides input').evaluateAll((inputs) => inputs.map((input) => Number(input.value)));
  assert.ok(x > 0 && y > 0 && x + width <= 768 && y + height <= 512 && width > 50 && height > 50, `${[x, y, width, height]}`);

  const [request] = await Promise.all([page.waitForRequest('**/score'), page.click('.regions >> text=Scores')]);
  assert.deepEqual(request.postDataJSON().regions, { bird: [x, y, width, height] });
  await page.waitForSelector('.scores tbody tr');
  assert.ok(await page.locator('.scores tbody tr').count() >= 5);

  await page.click('.regions >> text=Ask');
  await page.waitForSelector('.card');
  assert.match(await page.textContent('.card .question'), /bird/);
  assert.ok(await page.locator('.card .tag', { hasText: 'bird' }).count() > 0, 'the evidence names the region');
  await painted(page);
  await look(page, 'region');
});

test('numbers of a box stay inside the image', async () => {
  await page.click('text=By numbers');
  const inputs = page.locator('.sides input');
  await inputs.nth(0).fill('700');
  await inputs.nth(0).press('Enter');
  await inputs.nth(2).fill('5000');
  await inputs.nth(2).press('Enter');
  assert.equal(await inputs.nth(2).inputValue(), '68');
});
