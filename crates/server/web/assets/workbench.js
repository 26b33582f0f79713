// The first view: image viewer, question form, trace and score card.
import { ApiError, call, fromBody, get, isAbort, stream, upload } from './api.js';
import { Ask } from './ask.js';
import { compareBar, compareKeys, corners, probeLine } from './compare.js';
import { announce, button, fill, h, say } from './dom.js';
import { chooser, dropZone, onPaste } from './drop.js';
import { HeatMaps } from './heatmap.js';
import { translate } from './i18n.js';
import { Regions } from './regions.js';
import { Repair } from './repair.js';
import { address, rename } from './router.js';
import { scoreCard } from './scorecard.js';
import { Trace } from './trace.js';
import { Viewer, loadBitmap } from './viewer.js';

/** @typedef {import('../types.js').Image} Image */
/** @typedef {import('../types.js').Answer} Answer */
/** @typedef {import('../types.js').Tool} Tool */
/** @typedef {'image' | 'reference'} Role */

export class Workbench {
  /** @param {(files: File[]) => void} many called with more than two images */
  constructor(many) {
    this.many = many;
    /** @type {{image: Image | null, reference: Image | null}} */
    this.pictures = { image: null, reference: null };
    /** @type {Map<string, Tool>} */
    this.tools = new Map();
    /** The latest request of each slot, so that slower earlier responses are ignored. */
    this.latest = { image: 0, reference: 0 };
    this.opening = '';
    /** @type {AbortController | null} */
    this.running = null;
    /** @type {Answer | null} */
    this.answer = null;
    const named = () => this.named();
    this.viewer = new Viewer();
    this.heat = new HeatMaps(this.viewer, named);
    this.repair = new Repair(this.viewer, named, (error) => this.#fail(error));
    this.regions = new Regions(this.viewer, named, (region) => {
      this.ask.setQuery(translate('region.question', { name: region.name }));
      this.assess();
    });
    this.ask = new Ask(() => this.assess(), () => this.running?.abort());
    this.trace = new Trace();
    this.card = h('div', { class: 'card-place' });
    this.problem = h('div', { class: 'notice problem', role: 'alert', hidden: true });
    this.slots = h('div', { class: 'slots' });
    this.tips = h('section', { class: 'panel tips', label: 'tips.title' }, h('h2', { t: 'tips.title' }),
      h('ol', {}, ...[1, 2, 3].map((tip) => h('li', { t: `tips.${tip}` }))), h('p', { class: 'small faint', t: 'tips.keys' }));
    this.left = h('div', { class: 'left empty' });
    this.element = this.#build();
    this.#showSlots();
  }

  #build() {
    corners(this.viewer);
    const welcome = h('div', { class: 'welcome' },
      h('h1', { t: 'welcome.title' }), h('p', { t: 'welcome.text' }),
      chooser('welcome.choose', (files) => this.take(files, 'image'), { multiple: true, class: 'primary', name: 'image' }),
      h('p', { class: 'small faint', t: 'welcome.formats' }));
    this.viewer.element.append(welcome);
    const bar = compareBar(this.viewer);
    const probe = probeLine(this.viewer, (at) => this.heat.valueAt(at));
    this.left.append(this.slots, bar, this.viewer.element, probe,
      h('div', { class: 'below' }, this.heat.element, this.regions.element));
    const right = h('div', { class: 'right' }, this.ask.element, this.problem, this.card, this.trace.element, this.tips);
    const element = h('div', { class: 'workbench' }, this.left, right);
    dropZone(element, (files) => this.take(files, 'image'));
    onPaste(() => element.isConnected, (files) => this.take(files, this.pictures.image ? 'reference' : 'image'));
    compareKeys(this.viewer, () => element.isConnected);
    stick(this.left);
    return element;
  }

  /** @param {Tool[]} tools */
  setTools(tools) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.heat.setTools(tools);
    this.ask.setTools(tools);
    if (this.answer) this.#showAnswer(this.answer);
  }

  /** Returns the images as request fields. */
  named() {
    const { image, reference } = this.pictures;
    return { image: image && { image_id: image.id }, reference: reference && { reference_id: reference.id } };
  }

  /**
   * Adds images: one fills a slot, two become image and reference, more become a job.
   * @param {File[]} files
   * @param {Role} role
   */
  async take(files, role) {
    const [first, second, third] = files;
    if (third) {
      this.many(files);
      return;
    }
    if (!first) return;
    this.#fail(null);
    if (second) await Promise.all([this.#put(first, 'image'), this.#put(second, 'reference')]);
    else await this.#put(first, role);
  }

  /** @param {File} file @param {Role} role */
  async #put(file, role) {
    this.slots.classList.add('busy');
    this.latest[role] += 1;
    const turn = this.latest[role];
    try {
      const picture = await upload(file);
      if (turn !== this.latest[role]) return;
      await this.place(role, picture);
      this.#forget();
      announce(translate(`put.${role}`, { name: file.name }));
    } catch (error) {
      if (!isAbort(error)) this.#fail(error, file.name);
    } finally {
      this.slots.classList.remove('busy');
    }
  }

  /**
   * Shows a stored image.
   * @param {Role} role @param {Image | null} picture @param {ImageBitmap} [decoded] where it was fetched already
   */
  async place(role, picture, decoded) {
    this.latest[role] += 1;
    const turn = this.latest[role];
    const bitmap = decoded ?? (picture && await loadBitmap(viewOf(picture.id)));
    if (turn !== this.latest[role]) return;
    this.repair.hide();
    this.pictures[role] = picture;
    if (role === 'image') {
      this.viewer.setImage(bitmap, picture ?? undefined);
      this.left.classList.toggle('empty', !picture);
      this.tips.hidden = Boolean(picture);
    } else this.viewer.setReference(bitmap);
    this.#showSlots();
    if (role === 'image') this.#suggest(picture);
    this.heat.offer();
    if (this.heat.map) this.heat.load();
  }

  /** Offers questions that fit the image. Without an answer the general ones stay. @param {Image | null} picture */
  async #suggest(picture) {
    this.ask.suggest([]);
    if (!picture) return;
    try {
      const { questions } = await get(`/pictures/${encodeURIComponent(picture.id)}/questions`);
      if (this.pictures.image === picture) this.ask.suggest(questions);
    } catch { /* the image is too small to be examined, or the server is busy */ }
  }

  /** Removes an answer that belongs to other images, and its URL. */
  #forget() {
    this.repair.hide();
    this.running?.abort();
    this.opening = '';
    this.answer = null;
    fill(this.card);
    this.trace.clear();
    this.regions.replace([]);
    rename(address([]));
  }

  #showSlots() {
    const slot = (/** @type {Role} */ role) => {
      const picture = this.pictures[role];
      const words = role === 'image' ? 'slot.image' : 'slot.reference';
      const zone = h('div', { class: 'slot' }, h('span', { class: 'faint small', t: words }),
        picture ? h('span', { class: 'file', title: picture.name }, h('b', {}, picture.name), h('span', { class: 'faint small' }, ` ${picture.width} × ${picture.height}`)) : null,
        chooser(picture ? 'slot.replace' : role === 'image' ? 'slot.choose' : 'slot.add', (files) => this.take(files, role), { class: 'small quiet', name: role, multiple: role === 'image' }),
        picture && role === 'reference' ? button('×', () => this.place('reference', null), { class: 'small quiet square', label: 'slot.remove' }) : null,
        picture?.notes?.length ? h('span', { class: 'tag', title: picture.notes.join('\n'), t: ['slot.notes', { count: picture.notes.length }] }) : null);
      dropZone(zone, (files) => this.take(files, role));
      return zone;
    };
    fill(this.slots, slot('image'), slot('reference'),
      this.pictures.image && this.pictures.reference ? button('slot.swap', () => this.#swap(), { class: 'small quiet' }) : null);
  }

  async #swap() {
    const { image, reference } = this.pictures;
    await Promise.all([this.place('image', reference), this.place('reference', image)]);
    this.#forget();
  }

  /** @param {unknown} error @param {string} [about] */
  #fail(error, about) {
    this.problem.hidden = error === null;
    const message = error instanceof Error ? error.message : String(error);
    fill(this.problem, h('p', {}, about ? h('b', {}, about, ': ') : null, message));
  }

  async assess() {
    const { image, reference } = this.named();
    this.#fail(null);
    if (!image) {
      this.#fail(new Error(translate('ask.no-picture')));
      return;
    }
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const body = { ...this.ask.request(), ...image, ...reference, regions: this.regions.named() };
    this.ask.setBusy(true);
    this.answer = null;
    fill(this.card);
    this.trace.begin();
    try {
      for await (const { name, data } of stream('/assess/stream', body, running.signal)) {
        if (name === 'answer') this.#answered(data);
        else if (name === 'error') throw fromBody(data, data.status ?? 500);
        else this.trace.take(name, data);
      }
      if (!this.answer) throw new ApiError(0, 'cut', translate('error.cut'));
      this.trace.end('done');
    } catch (error) {
      this.trace.end(isAbort(error) ? 'canceled' : 'failed');
      if (!isAbort(error)) this.#fail(error);
    } finally {
      if (this.running === running) {
        this.running = null;
        this.ask.setBusy(false);
      }
    }
  }

  /** @param {Answer} answer */
  #answered(answer) {
    this.answer = answer;
    this.#showAnswer(answer);
    this.trace.finish(answer.record.plan, answer.record.metadata);
    if (answer.id) rename(address(['a', answer.id]));
    const level = answer.record.summarizer_result?.quality_level;
    announce(translate('answer.said', { answer: level ? translate(`level.${level}`) : answer.record.summarizer_result?.final_answer ?? '' }));
  }

  /** @param {Answer} answer */
  #showAnswer(answer) {
    const highlight = (/** @type {string | null} */ object) => this.viewer.set({ highlighted: object });
    this.repair.hide();
    const card = scoreCard(answer.record, { tools: this.tools, highlight, show: (edit) => this.repair.button(edit), picture: pictureOf(answer.image_id) });
    const copy = button('card.link', async () => {
      try {
        await navigator.clipboard.writeText(new URL(address(['a', answer.id]), location.href).href);
        say(copy, 't', 'card.linked');
      } catch { // no clipboard access over plain HTTP; the link is in the address bar
        rename(address(['a', answer.id]));
      }
    }, { class: 'small quiet' });
    const save = button('card.save', () => saveJson(answer), { class: 'small quiet' });
    card.append(h('div', { class: 'row' }, copy, save));
    fill(this.card, card);
  }

  /** Shows a stored assessment. @param {string} id */
  async open(id) {
    if (this.answer?.id === id) return;
    this.running?.abort();
    this.opening = id;
    this.#fail(null);
    this.trace.clear();
    try {
      const answer = /** @type {Answer} */ (await get(`/assessments/${encodeURIComponent(id)}`));
      if (this.opening !== id) return; // another assessment was requested in the meantime
      this.answer = answer;
      this.ask.setQuery(answer.record.query);
      this.ask.setOptions(answer.record.options);
      this.#showAnswer(answer);
      this.trace.recall(answer.record);
      this.tips.hidden = true;
      await Promise.all([this.#reopen('image', answer.image_id), this.#reopen('reference', answer.reference_id)]);
      this.regions.replace(answer.record.regions.filter((region) => region.origin !== 'whole image'));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {Role} role @param {string | null} id */
  async #reopen(role, id) {
    if (!id) {
      await this.place(role, null);
      return;
    }
    try {
      const bitmap = await loadBitmap(viewOf(id));
      const size = await sizeOf(id, bitmap);
      await this.place(role, { id, name: translate(role === 'image' ? 'picture' : 'reference'), ...size }, bitmap);
    } catch (error) {
      await this.place(role, null);
      const gone = error instanceof ApiError && error.status === 404;
      this.#fail(gone ? new Error(translate('picture.gone')) : error);
    }
  }
}

/**
 * Keeps the viewer visible while the longer column next to it scrolls. An element taller than the window sticks at its
 * bottom edge.
 * @param {HTMLElement} element
 */
function stick(element) {
  const place = () => element.style.setProperty('--stick', `${Math.min(73, innerHeight - element.offsetHeight - 12)}px`);
  new ResizeObserver(place).observe(element);
  window.addEventListener('resize', place);
}

/**
 * Returns a function that loads the image of an answer once.
 * @param {string | null} id
 */
function pictureOf(id) {
  /** @type {Promise<import('./opinions.js').Shown | null> | null} */
  let loading = null;
  const load = async () => {
    if (!id) return null;
    const bitmap = await loadBitmap(viewOf(id));
    return { bitmap, ...(await sizeOf(id, bitmap)) };
  };
  return () => {
    loading ??= load();
    return loading;
  };
}

/** Returns the path of the decoded image. @param {string} id */
function viewOf(id) {
  return `/pictures/${encodeURIComponent(id)}/view`;
}

/** Returns the original size of an image that may have been reduced. @param {string} id @param {ImageBitmap} bitmap */
async function sizeOf(id, bitmap) {
  if (Math.max(bitmap.width, bitmap.height) < 4096) return { width: bitmap.width, height: bitmap.height };
  const own = await createImageBitmap(await (await call(`/pictures/${encodeURIComponent(id)}`)).blob());
  return { width: own.width, height: own.height };
}

/** @param {Answer} answer */
function saveJson(answer) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(answer.record, null, 2)], { type: 'application/json' }));
  h('a', { href: url, download: `assessment-${answer.id}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
