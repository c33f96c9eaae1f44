/** The panel to choose opponents, to see the moves and to find earlier games. */
import "./move-list.js";
import { actions, jump, promote, remove, typeMove } from "./actions.js";
import { byId, h, listen, row } from "./dom.js";
import { PERSON } from "./game.js";
import { sideName, valuesOf } from "./game-words.js";
import { programsFor } from "./levels.js";
import { recentGames } from "./settings.js";
import { state } from "./store.js";
import { currentLanguage, t } from "./words.js";

const CLOCKS = ["", "60+0", "180+2", "300+0", "600+5", "1800+0"];
const OTHER = "other";

export class PlayPanel {
  /** @type {Topic[]} */
  static shows = ["game", "paused", "players", "analysis", "review", "settings"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.filled = ""; // the game and the programs of the lists
    this.seats = [0, 1].map((side) => this.seat(side));
    this.clock = h("select", { id: "clock-picker", onchange: (event) => actions.setClock(event.target.value) });
    this.move = h("input", { id: "typed-move", autocomplete: "off", maxLength: 5, spellcheck: false, placeholder: t("play.type.example") });
    this.list = makeMoveList();
    this.recent = h("ul", { class: "recent" });
    this.pauseButton = h("button", { id: "pause", onclick: () => actions.pause() });
    this.terms = h("div", {},
      h("div", { class: "seats" }, ...this.seats.map((seat) => seat.row), row(t("play.clock"), this.clock)),
      h("div", { class: "buttons" },
        h("button", { id: "change-sides", onclick: () => actions.changeSides() }, t("control.sides")),
        this.pauseButton,
        h("button", { id: "resign", onclick: () => actions.resign() }, t("control.resign"))));
    box.replaceChildren(
      this.terms,
      h("form", { class: "typed", onsubmit: (event) => this.typed(event) },
        h("label", { htmlFor: "typed-move" }, t("play.type")), this.move, h("button", {}, t("play.type.go"))),
      this.list,
      h("details", { class: "more", ontoggle: () => this.fillRecent() }, h("summary", {}, t("play.recent")), this.recent),
    );
  }

  /** @param {number} side */
  seat(side) {
    const picker = h("select", { id: `seat-${side}` });
    const spec = h("input", { class: "spec", autocomplete: "off", spellcheck: false, maxLength: 120, hidden: true });
    picker.addEventListener("change", () => {
      spec.hidden = picker.value !== OTHER;
      if (picker.value === OTHER) spec.focus();
      else actions.setSeat(side, picker.value);
    });
    spec.addEventListener("change", () => actions.setSeat(side, spec.value.trim() || PERSON));
    const label = h("label", { htmlFor: picker.id });
    return { row: h("div", { class: "row" }, label, picker, spec), picker, spec, label };
  }

  /** @param {Event} event */
  typed(event) {
    event.preventDefault();
    if (typeMove(this.move.value.trim())) this.move.value = "";
  }

  update() {
    const { game, paused, players } = state;
    const wanted = [game.game, ...players].join();
    if (this.filled !== wanted) this.fill(game);
    this.filled = wanted;
    this.terms.hidden = game.live; // the club knows them
    this.seats.forEach(({ picker, spec }, side) => showSeat(picker, spec, game.seats[side]));
    this.showClock(game.clock ? `${game.clock.seconds}+${game.clock.increment}` : "");
    this.pauseButton.hidden = game.seats.includes(PERSON) && !paused;
    this.pauseButton.textContent = t(paused ? "control.resume" : "control.pause");
    byId("resign").disabled = game.at.over || game.at.children.length > 0 || !game.seats.includes(PERSON);
    this.list.config = { tree: treeOf(game.root), at: game.at.id, family: game.family };
  }

  /** @param {Game} given */
  fill({ game, family, rules }) {
    const levels = rules.opponents.map((spec, place) => h("option", { value: spec }, t(`level.${place + 1}`)));
    const programs = programsFor(game, state.players).map((spec) => h("option", { value: spec }, spec));
    this.seats.forEach(({ picker, spec, label }, side) => {
      label.textContent = sideName(family, side);
      spec.ariaLabel = t("play.spec", { side: sideName(family, side) });
      picker.replaceChildren(
        h("option", { value: PERSON }, t("player.person")),
        h("optgroup", { label: t("play.levels") }, ...levels.map((option) => option.cloneNode(true))),
        h("optgroup", { label: t("play.programs") }, ...programs.map((option) => option.cloneNode(true))),
        h("option", { value: OTHER }, t("play.other")),
      );
    });
    this.clock.replaceChildren(...CLOCKS.map((text) => h("option", { value: text }, clockWords(text))));
  }

  /** @param {string} text */
  showClock(text) {
    if (!CLOCKS.includes(text)) this.clock.append(h("option", { value: text }, clockWords(text)));
    this.clock.value = text;
  }

  fillRecent() {
    const when = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "short", timeStyle: "short" });
    const games = recentGames();
    this.recent.replaceChildren(
      ...games.map((entry) => h("li", {}, h("a", { href: entry.link }, entry.label), " ", h("small", {}, when.format(entry.when)))),
      ...(games.length ? [] : [h("li", {}, t("play.recent.none"))]),
    );
  }
}

/**
 * Show a seat's spec in its list, or as text if the list does not have it.
 * @param {HTMLSelectElement} picker
 * @param {HTMLInputElement} spec
 * @param {string} seat
 */
function showSeat(picker, spec, seat) {
  if (document.activeElement === spec || (picker.value === OTHER && document.activeElement === picker)) return;
  const listed = [...picker.options].some((option) => option.value === seat);
  picker.value = listed ? seat : OTHER;
  spec.hidden = listed;
  if (!listed) spec.value = seat;
}

/** @param {string} text */
function clockWords(text) {
  if (!text) return t("play.clock.none");
  const [seconds, increment] = text.split("+").map(Number);
  return t(increment ? "play.clock.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** The list of the moves of a game. */
export function makeMoveList() {
  const list = document.createElement("move-list");
  listen(list, "jump", ({ id }) => jump(id));
  listen(list, "promote", ({ id }) => promote(id));
  listen(list, "delete", ({ id }) => remove(id));
  return list;
}

/** The tree as the list of moves wants it. @param {GameNode} root */
export function treeOf(root) {
  const describe = (/** @type {GameNode} */ node) => /** @type {TreeNode} */ ({
    id: node.id, move: node.move, side: node.parent?.view?.side ?? 0, ...valuesOf(node),
    best: node.judgement?.best ?? null, seconds: node.seconds, children: [],
  });
  const top = describe(root);
  const waiting = [[root, top]];
  while (waiting.length) {
    const [node, shown] = /** @type {[GameNode, TreeNode]} */ (waiting.pop());
    for (const child of node.children) {
      const below = describe(child);
      shown.children.push(below);
      waiting.push([child, below]);
    }
  }
  return top;
}
