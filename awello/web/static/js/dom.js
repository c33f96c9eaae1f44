/** Helpers for the DOM. */
import { t } from "./i18n.js";

export const SVG = "http://www.w3.org/2000/svg";

/** An element by its id. @param {string} id @returns {Control} */
export const byId = (id) => /** @type {Control} */ (document.getElementById(id));

/** The board, once it exists. @returns {Configured | null} */
export const boardElement = () => /** @type {Configured | null} */ (byId("board-box").firstElementChild);

/** Move the focus to the board. */
export const focusBoard = () => /** @type {HTMLElement | null} */ (boardElement()?.querySelector("[tabindex='0']"))?.focus();

/** The target element of an event. @param {Event} event */
export const eventElement = (event) => (event.target instanceof Element ? event.target : document.documentElement);

/**
 * Call a function with the details of a custom event.
 * @param {EventTarget} target
 * @param {string} type
 * @param {(detail: any) => unknown} listener
 */
export function listen(target, type, listener) {
  target.addEventListener(type, (event) => listener(/** @type {CustomEvent} */ (event).detail));
}

/**
 * Create an element with properties and children: h("button", { onclick, class: "..." }, "text").
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} properties
 * @param {(Child | Child[])[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(.../** @type {(Node | string)[]} */ (children.flat().filter((child) => child !== null && child !== undefined && child !== false)));
  return element;
}

/** A control with its label. @param {string} label @param {Child & HTMLElement} control @param {Child[]} more */
export const buildFormRow = (label, control, ...more) => h("div", { class: "form-row" }, h("label", { htmlFor: control.id }, label), control, ...more);

/**
 * A drop-down list.
 * @param {Properties} properties
 * @param {[value: string | number, label: string][]} values
 * @param {unknown} [chosen]
 */
export const buildSelect = (properties, values, chosen) =>
  h("select", properties, values.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));

/**
 * Append a new SVG node with attributes.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Element} parent
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function appendSvg(parent, tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  parent.append(node);
  return /** @type {SVGElementTagNameMap[Tag]} */ (node);
}

/** @param {Element} node @param {Record<string, string | number>} attributes */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
}

/** Set the text of a node if it differs. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute if it differs. @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Translate all elements with data-t, data-t-label or data-t-title. @param {ParentNode} root */
export function translate(root) {
  const all = (/** @type {string} */ name) => /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[data-${name}]`));
  for (const element of all("t")) element.textContent = t(element.dataset.t ?? "");
  for (const element of all("t-label")) element.ariaLabel = t(element.dataset.tLabel ?? "");
  for (const element of all("t-title")) element.title = t(element.dataset.tTitle ?? "");
}

/**
 * Replace the children of an element; the focus stays on the child with the same id, or within the element.
 * @param {Element} element
 * @param {Child[]} children
 */
export function replaceContent(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : null;
  element.replaceChildren(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  if (typeof focused === "string") (byId(focused) ?? element.querySelector("button"))?.focus();
}

/** Offer a text or Blob as a download. @param {string} name @param {string | Blob} content @param {string} [type] */
export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Whether the user prefers reduced motion. */
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
