/**
 * <move-list>: the moves of a game in two columns, with variations, from a tree of nodes.
 * It shows its configuration and fires `jump`, `promote` and `delete` {id}. Elements are reused by node id, and only
 * changes are applied, so that values can be updated several times per second.
 */
import { Component } from "./component.js";
import { eventElement, h, setText } from "./dom.js";
import { currentLanguage, formatSigned, t } from "./i18n.js";

const DEFAULTS = { tree: { id: "", children: [] }, current: "", family: "othello" };
/** @type {Record<string, string>} */
const MARKS = { "?!": "moves-inaccuracy", "?": "moves-mistake", "??": "moves-blunder" };

/** A list without bullets that screen readers still recognise. @param {string} className */
function buildList(className) {
  const list = h("ol", { class: `moves-line ${className}` });
  list.setAttribute("role", "list");
  return list;
}

/**
 * Make `children` the children of `parent`, without touching those already in place.
 * @param {Element} parent
 * @param {Element[]} children
 */
function syncChildren(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

/** Time used for a move: 0.4, 12 or 1:05. @param {number} seconds */
function formatDuration(seconds) {
  const tenths = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  if (seconds < 9.95) return seconds.toLocaleString(currentLanguage(), tenths);
  const whole = Math.round(seconds);
  return whole < 60 ? String(whole) : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** @extends {Component<MoveListConfig>} */
class MoveList extends Component {
  static defaults = DEFAULTS;

  #elements = new Map();
  #usedKeys = new Set();
  /** @type {string | null} */
  #shownAt = null;
  #observer = new ResizeObserver(() => this.#scrollIntoView());

  /** Update the list to the configuration and the language. */
  refresh() {
    const { box, list, empty, promote, remove } = this.parts;
    const { tree } = this.config;
    const focused = box.contains(document.activeElement) ? document.activeElement : null;
    this.#usedKeys.clear();
    syncChildren(list, tree.children.length ? this.#renderLine(tree.children[0], tree.children.slice(1), 1, false) : []);
    for (const key of this.#elements.keys()) if (!this.#usedKeys.has(key)) this.#elements.delete(key);
    list.setAttribute("aria-label", t("moves.label"));
    empty.hidden = tree.children.length > 0;
    setText(empty, t("moves.empty"));
    setText(promote, t("moves.promote"));
    setText(remove, t("moves.delete"));
    this.#showCurrent(focused);
  }

  build() {
    const list = buildList("moves-main");
    const empty = h("p", { class: "moves-empty" });
    const box = h("div", { class: "moves-box" }, list, empty);
    const promote = this.#buildMenuItem("promote");
    const remove = this.#buildMenuItem("delete");
    const menu = h("div", { class: "moves-menu" }, promote, remove);
    menu.popover = "auto";
    const more = h("button", { class: "moves-more" }, "⋯");
    more.type = "button";
    more.popoverTargetElement = menu;
    menu.addEventListener("toggle", (event) => event.newState === "open" && this.#placeMenu());
    this.append(box, menu);
    box.addEventListener("click", (event) => this.#onClick(event));
    box.addEventListener("keydown", (event) => this.#onKey(event));
    this.#observer.observe(box);
    return { box, list, empty, menu, more, promote, remove };
  }

  /** @param {string} type */
  #buildMenuItem(type) {
    const item = h("button", { class: "moves-menu-item" });
    item.type = "button";
    item.addEventListener("click", () => {
      this.parts.menu.hidePopover();
      this.emit(type, { id: this.config.current });
    });
    return item;
  }

  #placeMenu() {
    const { menu, more, promote } = this.parts;
    const anchor = more.getBoundingClientRect();
    const below = anchor.bottom + 4 + menu.offsetHeight <= window.innerHeight;
    menu.style.left = `${Math.max(8, Math.min(anchor.left, window.innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${below ? anchor.bottom + 4 : anchor.top - 4 - menu.offsetHeight}px`;
    promote.focus({ preventScroll: true });
  }

  /**
   * The items of a line: each move, followed by an item with its variations, if any.
   * @param {TreeNode} first
   * @param {TreeNode[]} others
   * @param {number} ply
   * @param {boolean} inVariation
   */
  #renderLine(first, others, ply, inVariation) {
    const items = [];
    for (let node = first; node; [node, ...others] = node.children, ply += 1) {
      items.push(this.#renderMove(node, ply, inVariation));
      if (others.length) items.push(this.#renderVariations(node.id, others, ply));
    }
    return items;
  }

  /**
   * The item with the variations that replace a move.
   * @param {string} id
   * @param {TreeNode[]} others
   * @param {number} ply
   */
  #renderVariations(id, others, ply) {
    const item = this.#getOrCreate(`on ${id}`, () => h("li", { class: "moves-variations" }));
    syncChildren(item, others.map((other) => {
      const list = this.#getOrCreate(`from ${other.id}`, () => buildList("moves-variation"));
      syncChildren(list, this.#renderLine(other, [], ply, true));
      return list;
    }));
    return item;
  }

  /** @param {TreeNode} node @param {number} ply @param {boolean} inVariation */
  #renderMove(node, ply, inVariation) {
    const cell = this.#getOrCreate(node.id, () => this.#buildMoveItem(node.id));
    const rendered = JSON.stringify([{ ...node, children: null }, ply, currentLanguage(), this.config.family]);
    if (cell.rendered !== rendered) this.#fillMoveItem(cell, node, ply);
    cell.rendered = rendered;
    cell.inVariation = inVariation;
    return cell.item;
  }

  /** The element of a key, created if it is new. @param {string} key @param {() => any} maker */
  #getOrCreate(key, maker) {
    this.#usedKeys.add(key);
    if (!this.#elements.has(key)) this.#elements.set(key, maker());
    return this.#elements.get(key);
  }

  /** @param {string} id */
  #buildMoveItem(id) {
    const parts = ["number", "name", "mark", "loss", "time"].map((name) => h("span", { class: `moves-${name}` }));
    const button = h("button", { class: "moves-move" }, ...parts);
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.id = id;
    return { item: h("li", { class: "moves-cell" }, button), button, parts };
  }

  /** @param {any} given @param {TreeNode} node @param {number} ply */
  #fillMoveItem({ item, button, parts }, node, ply) {
    const [number, name, mark, loss, time] = parts;
    const move = node.move === "pass" ? t("move.pass") : node.move;
    const lost = node.loss && node.loss > 0 ? formatSigned(-node.loss, 1) : "";
    const side = t(`side.${this.config.family}.${node.side}`);
    item.classList.toggle("moves-second", node.side === 1);
    setText(number, String(ply));
    setText(name, move);
    setText(mark, node.mark ?? "");
    mark.className = `moves-mark ${MARKS[node.mark] ?? ""}`;
    setText(loss, lost);
    setText(time, typeof node.seconds === "number" ? formatDuration(node.seconds) : "");
    const remarks = this.#describeMove(node, lost);
    button.title = remarks.join(", ");
    button.setAttribute("aria-label", [t("moves.move", { ply, side, move }), ...remarks].join(", "));
  }

  /**
   * Remarks on a move: its mark, its loss, the best move and the value after it.
   * @param {TreeNode} given
   * @param {string} lost
   */
  #describeMove({ mark, best, value, exact }, lost) {
    const remarks = [];
    if (mark) remarks.push(t(`moves.${mark}`));
    if (lost) remarks.push(t("moves.loss", { loss: lost.slice(1) }));
    if (lost && best) remarks.push(t("moves.best", { move: best === "pass" ? t("move.pass") : best }));
    if (typeof value !== "number") return remarks;
    const side = t(`side.${this.config.family}.${value < 0 ? 1 : 0}`);
    remarks.push(value ? `${side} ${formatSigned(Math.abs(value), 1)}` : t("moves.even"));
    if (exact) remarks.push(t("moves.exact"));
    return remarks;
  }

  /**
   * Mark the current move, with a menu if it is in a variation; the focus follows it.
   * @param {any} focused
   */
  #showCurrent(focused) {
    const { menu, more, list } = this.parts;
    const now = this.#elements.get(this.config.current);
    const follow = focused && (focused === more || !focused.isConnected || focused.ariaCurrent);
    more.setAttribute("aria-label", t("moves.menu"));
    if (!now?.inVariation) more.remove();
    else if (more.parentElement !== now.item) now.item.append(more);
    if (this.#shownAt !== this.config.current) {
      this.#shownAt = this.config.current;
      if (menu.matches(":popover-open")) menu.hidePopover();
      list.querySelector("[aria-current]")?.removeAttribute("aria-current");
      now?.button.setAttribute("aria-current", "true");
      if (follow) now?.button.focus({ preventScroll: true });
      this.#scrollIntoView();
    } else if (focused && !focused.isConnected) now?.button.focus({ preventScroll: true });
    this.#setTabStop(document.activeElement, now?.button);
  }

  /**
   * Only one move is in the tab order: the first valid candidate, or the first move.
   * @param {any[]} wanted
   */
  #setTabStop(...wanted) {
    const moves = this.#moves();
    const chosen = wanted.find((button) => moves.includes(button)) ?? moves[0];
    for (const move of moves) move.tabIndex = move === chosen ? 0 : -1;
  }

  #moves() {
    return [...this.parts.list.querySelectorAll(".moves-move")];
  }

  /** Scroll the list, never the page, to the current move. */
  #scrollIntoView(button = this.#elements.get(this.config.current)?.button) {
    const { box } = this.parts;
    if (!button) {
      box.scrollTop = 0;
      return;
    }
    const [frame, target] = [box.getBoundingClientRect(), button.getBoundingClientRect()];
    const margin = target.height;
    if (target.top < frame.top + margin) box.scrollTop -= frame.top + margin - target.top;
    else if (target.bottom > frame.bottom - margin) box.scrollTop += target.bottom - frame.bottom + margin;
  }

  /** @param {Event} event */
  #onClick(event) {
    const button = /** @type {HTMLElement | null} */ (eventElement(event).closest(".moves-move"));
    if (!button) return;
    this.#setTabStop(button);
    this.emit("jump", { id: button.dataset.id });
  }

  /** Up and down move the focus between the moves, and Enter goes to a move; the page handles left and right. @param {KeyboardEvent} event */
  #onKey(event) {
    const moves = this.#moves();
    const index = moves.indexOf(eventElement(event));
    /** @type {Record<string, number>} */
    const targets = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: moves.length - 1 };
    const target = targets[event.key];
    if (index < 0 || target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const move = moves[target] ?? moves[index];
    this.#setTabStop(move);
    move.focus({ preventScroll: true });
    this.#scrollIntoView(move);
  }
}

customElements.define("move-list", MoveList);
