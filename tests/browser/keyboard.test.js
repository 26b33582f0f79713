// Keyboard access: all controls can be reached and used with the keyboard, and the focus is always visible.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { painted, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([startServer(), startBrowser()]); });
after(async () => { await browser?.stop(); await server?.stop(); });
afterEach(() => browser.clean());

/** Presses Tab until the element has the focus. Each element on the way must be visible and show the focus. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate((wanted) => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      const ring = [element, ...element.querySelectorAll('*')].some((part) => getComputedStyle(part).outlineStyle !== 'none' && parseFloat(getComputedStyle(part).outlineWidth) > 0);
      const thumb = element.matches('input[type=range]');
      return { there: element.matches(wanted), seen: element.getClientRects().length > 0 && style.visibility !== 'hidden', ring: ring || thumb, what: element.outerHTML.slice(0, 100), body: element === document.body };
    }, selector);
    if (!stop.body) {
      assert.ok(stop.seen, `${stop.what} has the focus and is not seen`);
      assert.ok(stop.ring, `${stop.what} has the focus and does not show it`);
    }
    if (stop.there) return;
  }
  assert.fail(`${selector} is not reached by tab`);
}

test('from the first tab to the answer, its evidence, a region and the slider, without a pointer', async () => {
  const page = await browser.open(server.base);
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement.matches('.skip')));
  await page.keyboard.press('Enter');
  assert.ok(await page.evaluate(() => document.activeElement.id === 'main'));

  const chooser = page.waitForEvent('filechooser');
  await tabTo(page, '.welcome button');
  await page.keyboard.press('Enter');
  await (await chooser).setFiles([pictures.compressed, pictures.osprey]);
  await page.waitForSelector('.left:not(.empty)');
  assert.match(await page.textContent('#announcer'), / loaded$/);

  await tabTo(page, '.handle');
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft');
  await painted(page);
  assert.equal(await page.getAttribute('.handle', 'aria-valuenow'), '40');

  await tabTo(page, '.panel button[title^="Add a box"]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.regions .name:focus');
  await page.keyboard.type('bird');
  assert.equal(await page.inputValue('.regions .name'), 'bird');

  await tabTo(page, '.ask textarea');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('What is wrong with this image?');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.card');
  await page.waitForFunction(() => document.querySelector('#announcer').textContent !== '');

  await tabTo(page, '.sentence');
  assert.ok(await page.locator('[data-evidence].lit').count() > 0, 'a focused sentence lights its evidence');
  await page.keyboard.press('Space');
  await painted(page);
  assert.equal(await page.getAttribute('.sentence:focus', 'aria-pressed'), 'true');
  await page.context().close();
});

test('the trace is told to those who listen', async () => {
  const page = await browser.open(server.base);
  await page.evaluate(() => {
    globalThis.told = [];
    new MutationObserver(() => globalThis.told.push(document.querySelector('#announcer').textContent)).observe(document.querySelector('#announcer'), { childList: true, characterData: true, subtree: true });
  });
  await page.setInputFiles('.welcome input[type=file]', pictures.osprey);
  await page.waitForSelector('.left:not(.empty)');
  await page.click('.ask button.primary');
  await page.waitForSelector('.state[data-state=done]');
  const told = await page.evaluate(() => globalThis.told.join('\n'));
  assert.match(told, /Answer: \w+/);
  assert.equal(await page.getAttribute('#announcer', 'aria-live'), 'polite');
  await page.context().close();
});

test('there are landmarks, one first heading a view, and names for all that can be worked', async () => {
  const page = await browser.open(server.base);
  for (const landmark of ['banner', 'main', 'navigation', 'form']) assert.ok(await page.getByRole(landmark).count() >= 1, landmark);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select, textarea')]
    .filter((element) => element.getClientRects().length > 0 && !element.textContent.trim() && !element.getAttribute('aria-label') && !element.labels?.length && !element.closest('[aria-hidden]'))
    .map((element) => element.outerHTML));
  assert.deepEqual(nameless, []);
  await page.context().close();
});
