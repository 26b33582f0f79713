// Before and after: shows in the viewer what an edit makes of the image.
import { post } from './api.js';
import { button, say } from './dom.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */
/** @typedef {{operation: string, amount: number}} Edit */
/** @typedef {{image: {image_id: string} | null}} Named */

export class Repair {
  /**
   * @param {Viewer} viewer
   * @param {() => Named} named
   * @param {(error: unknown) => void} fail
   */
  constructor(viewer, named, fail) {
    this.viewer = viewer;
    this.named = named;
    this.fail = fail;
    /** @type {{image: ImageBitmap, reference: ImageBitmap | null, press: HTMLElement} | null} */
    this.shown = null;
    this.turn = 0;
  }

  /** Returns a button that shows an edit, and hides it again. @param {Edit} edit */
  button(edit) {
    const press = button('whatif.show', () => this.#toggle(edit, press), { class: 'small quiet', 'aria-pressed': 'false' });
    return press;
  }

  /** Shows the image as it is again, unless another one has taken its place. */
  hide() {
    this.turn += 1;
    const { shown } = this;
    if (!shown) return;
    this.shown = null;
    this.viewer.scene.repaired = false;
    this.viewer.setImage(shown.image, this.viewer.picture);
    this.viewer.setReference(shown.reference);
    this.viewer.changed();
    press(shown.press, false);
  }

  /** @param {Edit} edit @param {HTMLElement} pressed */
  async #toggle(edit, pressed) {
    const again = this.shown?.press === pressed;
    this.hide();
    const { image } = this.named();
    const before = this.viewer.scene.image;
    if (again || !image || !before) return;
    const { turn } = this;
    try {
      const { operation, amount } = edit;
      const response = await post('/what-if?format=png', { ...image, edits: [{ operation, amount }] });
      const after = await createImageBitmap(await response.blob());
      if (turn !== this.turn) return;
      this.shown = { image: before, reference: this.viewer.scene.reference, press: pressed };
      this.viewer.setReference(before);
      this.viewer.setImage(after, this.viewer.picture);
      this.viewer.set({ mode: 'slider', repaired: true });
      press(pressed, true);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** @param {HTMLElement} item @param {boolean} on */
function press(item, on) {
  item.setAttribute('aria-pressed', String(on));
  say(item, 't', on ? 'whatif.hide' : 'whatif.show');
}
