// A server with a token: the page asks for it, stores it for the tab, and sends it with every request.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { assess, choose, startBrowser } from './browser.js';
import { pictures, startServer } from './server.js';

const TOKEN = 'a-token-for-this-test-alone';

let server;
let browser;
let said = '';
before(async () => { [server, browser] = await Promise.all([startServer({ AGENTICIQA_TOKEN: TOKEN }), startBrowser()]); });
after(async () => {
  await browser?.stop();
  said = await server?.stop() ?? '';
  assert.ok(!said.includes(TOKEN), 'the server does not print the token');
});
afterEach(() => browser.clean());

test('the page asks once, says when a token is wrong, and works with the right one', async () => {
  const page = await browser.open(server.base, { expected: /401/ });
  await page.waitForSelector('dialog[open]');
  assert.equal(await page.locator('dialog').count(), 1);
  await page.fill('dialog input', 'wrong');
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open] >> text=not accepted');
  await page.fill('dialog input', TOKEN);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.backend[data-ready=yes]');
  await choose(page, pictures.osprey);
  await assess(page);
  await page.click('nav >> text=History');
  await page.waitForFunction(() => document.querySelector('.past img')?.naturalWidth > 0, undefined, { timeout: 10_000 });
  await page.reload();
  await page.waitForSelector('.backend[data-ready=yes]');
  assert.equal(await page.locator('dialog').count(), 0, 'it is kept for the tab');
  assert.ok(!page.url().includes(TOKEN));
  await page.context().close();
});

test('another tab is asked again, and may refuse', async () => {
  const page = await browser.open(server.base, { expected: /401/ });
  await page.waitForSelector('dialog[open]');
  await page.click('dialog >> text=Cancel');
  await page.waitForSelector('.backend[data-ready=no]');
  await page.context().close();
});
