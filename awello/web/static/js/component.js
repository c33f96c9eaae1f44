/** Base class of the page's custom elements, which show a configuration and fire events. */

/**
 * An element that shows its `config`: `build()` creates its parts once, `refresh()` fills them after each change.
 * @template Config
 */
export class Component extends HTMLElement {
  /** Defaults of the configuration. @type {any} */
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

  /** Create the parts. @returns {Record<string, any>} */
  build() {
    return {};
  }

  /** Show the configuration in the current language. */
  refresh() {}

  /** Fire a bubbling event. @param {string} type @param {object} detail */
  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
