/** What our own elements share: configuration in, events out, parts that are built once. */

/**
 * An element that shows its `config`; `build()` makes its parts, `refresh()` fills them.
 * @template Config
 */
export class Component extends HTMLElement {
  /** What is shown where the configuration says nothing. @type {any} */
  static defaults = {};

  /** @type {Config} */
  #config = /** @type {typeof Component} */ (this.constructor).defaults;
  /** @type {any} */
  parts = null;

  get config() {
    return this.#config;
  }

  set config(config) {
    this.#config = { .../** @type {typeof Component} */ (this.constructor).defaults, ...config };
    if (this.parts) this.refresh();
  }

  connectedCallback() {
    this.parts ??= this.build();
    this.refresh();
  }

  /** Make the parts. @returns {Record<string, any>} */
  build() {
    return {};
  }

  /** Show the configuration in the present language. */
  refresh() {}

  /** Fire an event that bubbles. @param {string} type @param {object} detail */
  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
