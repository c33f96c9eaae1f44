/** Elements by a short word. */
import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children: h("button", { onclick, class: "..." }, "text"). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A new SVG node with its attributes, put into a parent. */
export function draw(parent, tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent.append(node);
  return node;
}

/** Give a node a text, if it is new. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Give a node an attribute, if it is new. */
export function mark(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Fill in the words of everything below an element that asks for them by data-t, data-t-label or data-t-title. */
export function translate(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-t-label]")) element.ariaLabel = t(element.dataset.tLabel);
  for (const element of root.querySelectorAll("[data-t-title]")) element.title = t(element.dataset.tTitle);
}

/** Give an element other children; the focus stays on the one with the same id, or at least in the element. */
export function redraw(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : null;
  element.replaceChildren(...children.filter(Boolean));
  if (focused !== null) (document.getElementById(focused) ?? element.querySelector("button"))?.focus();
}

/** Offer a text or a Blob as a file. */
export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Whether the person asked for a page that does not move. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
