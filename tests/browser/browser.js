// Starts Chromium. A console error, a policy violation or a request to another host fails the test.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { palettePng } from './palette.js';

const ROOT = resolve(import.meta.dirname, '../..');
const ARTIFACTS = join(ROOT, 'target/browser');
const GOLDEN = join(import.meta.dirname, 'golden');
const COARSE = 48; // width of a golden image in pixels
const TOLERANCE = 16; // mean difference of 255: allows for fonts and timing, not for layout changes

/** Starts a browser. */
export async function startBrowser() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--force-color-profile=srgb'],
  });
  const troubles = [];

  /**
   * Opens the page.
   * @param {string} base
   * @param {object} [options] of the context, and `at` for the view, `expected` for console errors that belong to the test
   */
  async function open(base, { at = '', expected = null, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-GB', ...options });
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => {
      if (message.type() === 'error' && !expected?.test(message.text())) troubles.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => troubles.push(`uncaught: ${error.stack}`));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(base)) troubles.push(`outside request: ${request.url()}`);
    });
    await page.goto(`${base}/${at}`);
    return page;
  }

  return {
    open,
    /** Fails if an error occurred since the last call. */
    clean() {
      assert.deepEqual(troubles.splice(0), []);
    },
    stop: () => browser.close(),
    browser,
  };
}

/** Returns the bounding box of an element once it is visible. */
export async function place(page, selector) {
  const locator = page.locator(selector);
  await locator.waitFor();
  return locator.boundingBox();
}

/** Loads images with the file chooser. */
export async function choose(page, ...files) {
  await page.setInputFiles('.welcome input[type=file]', files);
  await page.waitForSelector('.left:not(.empty)');
  await page.waitForFunction((count) => document.querySelectorAll('.slot .file').length === count, files.length);
}

/** Submits a question and waits for the score card. */
export async function assess(page, query) {
  if (query) await page.fill('.ask textarea', query);
  await page.click('.ask button.primary');
  await page.waitForSelector('.card');
}

/** Waits until the viewer is painted. */
export async function painted(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Returns the colors of viewer pixels at positions in CSS pixels. */
export async function stagePixels(page, points) {
  await painted(page);
  return page.evaluate((places) => {
    const canvas = document.querySelector('.canvas');
    const context = canvas.getContext('2d');
    return places.map(([x, y]) => [...context.getImageData(Math.round(x * devicePixelRatio), Math.round(y * devicePixelRatio), 1, 1).data].slice(0, 3));
  }, points);
}

/** Checks that nothing is wider than the window. */
export async function assertNoOverflow(page) {
  const wide = await page.evaluate(() => {
    const limit = document.documentElement.clientWidth + 1;
    const scrolls = (element) => element.closest('.scroll, .unseen, .skip, .histogram .plot, .file *');
    const found = [...document.querySelectorAll('main *, header *')].filter((element) => element.getBoundingClientRect().right > limit && !scrolls(element));
    return { page: document.documentElement.scrollWidth - document.documentElement.clientWidth, found: found.map((element) => element.outerHTML.slice(0, 120)) };
  });
  assert.deepEqual(wide, { page: 0, found: [] });
}

/**
 * Takes a screenshot and compares it loosely with the golden image: not blank, same size, similar content.
 * @param {any} page
 * @param {string} name
 */
export async function look(page, name) {
  await painted(page);
  const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await mkdir(ARTIFACTS, { recursive: true });
  await writeFile(join(ARTIFACTS, `${name}.png`), shot);
  const seen = await coarse(page, shot);
  const { width, height } = page.viewportSize();
  assert.equal(seen.width % width, 0, 'the image is as wide as the window');
  assert.equal(Math.round(seen.height / height), Math.round(seen.width / width), 'and as high');
  const spread = Math.max(...seen.values) - Math.min(...seen.values);
  assert.ok(spread > 40, `${name} is blank`);
  const path = join(GOLDEN, `${name}.png`);
  if (process.env.UPDATE_GOLDEN) {
    await mkdir(GOLDEN, { recursive: true });
    await writeFile(path, Buffer.from(seen.small, 'base64'));
    return;
  }
  assertAlike(seen, await coarse(page, await readFile(path)), name);
}

function assertAlike(seen, golden, name) {
  assert.equal(golden.values.length, seen.values.length, `${name} has a different shape than its golden image`);
  const apart = golden.values.reduce((sum, value, index) => sum + Math.abs(value - seen.values[index]), 0) / golden.values.length;
  assert.ok(apart < TOLERANCE, `${name} differs by ${apart.toFixed(1)} of 255 from its golden image (see target/browser/${name}.png)`);
}

/**
 * Takes the screenshot for the README, at most 300 kB, and compares it with the stored screenshot.
 * @param {any} page
 */
export async function lookForReadme(page) {
  const path = join(ROOT, 'docs/images/page.png');
  const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const seen = await coarse(page, shot, true);
  const small = palettePng(Buffer.from(seen.pixels, 'base64'), seen.width, seen.height);
  assert.ok(small.length <= 300_000, `${small.length} bytes`);
  await mkdir(ARTIFACTS, { recursive: true });
  await writeFile(join(ARTIFACTS, 'page.png'), small);
  if (process.env.UPDATE_GOLDEN) await writeFile(path, small);
  assertAlike(seen, await coarse(page, await readFile(path)), 'page');
}

/** Shrinks an image in a blank page, which has no content security policy. */
async function coarse(page, png, whole = false) {
  const blank = await page.context().newPage();
  try {
    return await blank.evaluate(async ([base64, across, all]) => {
      const file = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([file], { type: 'image/png' }));
      const canvas = document.createElement('canvas');
      canvas.width = across;
      canvas.height = Math.round(across * bitmap.height / bitmap.width);
      const context = canvas.getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const values = [...data].filter((_, index) => index % 4 !== 3);
      const small = canvas.toDataURL('image/png').split(',')[1];
      let pixels = '';
      if (all) {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
        context.drawImage(bitmap, 0, 0);
        const bytes = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
        for (let at = 0; at < bytes.length; at += 32768) pixels += String.fromCharCode(...bytes.subarray(at, at + 32768));
        pixels = btoa(pixels);
      }
      return { width: bitmap.width, height: bitmap.height, values, small, pixels };
    }, [png.toString('base64'), COARSE, whole]);
  } finally {
    await blank.close();
  }
}
