/** The play tab: opponents, clock, moves and recent games. */
import "./move-list.js";
import { actions, deleteVariation, goToNodeId, promoteVariation, typeMove } from "./actions.js";
import { buildFormRow, byId, h, listen } from "./dom.js";
import { nodeValues, sideName } from "./game-text.js";
import { HUMAN } from "./game.js";
import { formatDate, t } from "./i18n.js";
import { listPlayerSpecs } from "./opponents.js";
import { loadRecentGames } from "./settings.js";
import { state } from "./store.js";

const CLOCK_OPTIONS = ["", "60+0", "180+2", "300+0", "600+5", "1800+0"];
const OTHER_PLAYER = "other";

export class PlayTab {
  /** @type {Topic[]} */
  static topics = ["game", "paused", "availablePlayers", "analysis", "review", "settings"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.filledFor = ""; // the variant and players in the lists
    this.pickers = [0, 1].map((side) => this.buildPicker(side));
    this.clock = h("select", { id: "clock-picker", onchange: (event) => actions.setClock(event.target.value) });
    this.move = h("input", { id: "typed-move", autocomplete: "off", maxLength: 5, spellcheck: false, placeholder: t("play.move.example") });
    this.list = buildMoveList();
    this.recent = h("ul", { class: "recent" });
    this.pauseButton = h("button", { id: "pause", onclick: () => actions.togglePause() });
    this.gameOptions = h("div", {},
      h("div", { class: "players" }, ...this.pickers.map((picker) => picker.row), buildFormRow(t("play.clock"), this.clock)),
      h("div", { class: "buttons" },
        h("button", { id: "change-sides", onclick: () => actions.swapSides() }, t("control.swap")),
        this.pauseButton,
        h("button", { id: "resign", onclick: () => actions.resign() }, t("control.resign"))));
    box.replaceChildren(
      this.gameOptions,
      h("form", { class: "inline-form", onsubmit: (event) => this.submitMove(event) },
        h("label", { htmlFor: "typed-move" }, t("play.move")), this.move, h("button", {}, t("play.move.submit"))),
      this.list,
      h("details", { class: "disclosure", ontoggle: () => this.fillRecent() }, h("summary", {}, t("play.recent")), this.recent),
    );
  }

  /** @param {number} side */
  buildPicker(side) {
    const picker = h("select", { id: `player-${side}` });
    const spec = h("input", { class: "spec", autocomplete: "off", spellcheck: false, maxLength: 120, hidden: true });
    picker.addEventListener("change", () => {
      spec.hidden = picker.value !== OTHER_PLAYER;
      if (picker.value === OTHER_PLAYER) spec.focus();
      else actions.setPlayer(side, picker.value);
    });
    spec.addEventListener("change", () => actions.setPlayer(side, spec.value.trim() || HUMAN));
    const label = h("label", { htmlFor: picker.id });
    return { row: h("div", { class: "form-row" }, label, picker, spec), picker, spec, label };
  }

  /** @param {Event} event */
  submitMove(event) {
    event.preventDefault();
    if (typeMove(this.move.value.trim())) this.move.value = "";
  }

  update() {
    const { game, paused, availablePlayers } = state;
    const wanted = [game.variant, ...availablePlayers].join();
    if (this.filledFor !== wanted) this.fillLists(game);
    this.filledFor = wanted;
    this.gameOptions.hidden = game.live; // the club sets them
    this.pickers.forEach(({ picker, spec }, side) => showPlayer(picker, spec, game.players[side]));
    this.showClock(game.clock ? `${game.clock.seconds}+${game.clock.increment}` : "");
    this.pauseButton.hidden = game.players.includes(HUMAN) && !paused;
    this.pauseButton.textContent = t(paused ? "control.resume" : "control.pause");
    byId("resign").disabled = game.current.over || game.current.children.length > 0 || !game.players.includes(HUMAN);
    this.list.config = { tree: toMoveTree(game.root), current: game.current.id, family: game.family };
  }

  /** @param {Game} given */
  fillLists({ variant, family, rules }) {
    const levels = rules.opponents.map((spec, index) => h("option", { value: spec }, t(`level.${index + 1}`)));
    const specOptions = listPlayerSpecs(variant, state.availablePlayers).map((spec) => h("option", { value: spec }, spec));
    this.pickers.forEach(({ picker, spec, label }, side) => {
      label.textContent = sideName(family, side);
      spec.ariaLabel = t("play.spec", { side: sideName(family, side) });
      picker.replaceChildren(
        h("option", { value: HUMAN }, t("player.you")),
        h("optgroup", { label: t("play.levels") }, ...levels.map((option) => option.cloneNode(true))),
        h("optgroup", { label: t("play.algorithms") }, ...specOptions.map((option) => option.cloneNode(true))),
        h("option", { value: OTHER_PLAYER }, t("play.custom")),
      );
    });
    this.clock.replaceChildren(...CLOCK_OPTIONS.map((text) => h("option", { value: text }, formatClockOption(text))));
  }

  /** @param {string} text */
  showClock(text) {
    if (!CLOCK_OPTIONS.includes(text)) this.clock.append(h("option", { value: text }, formatClockOption(text)));
    this.clock.value = text;
  }

  fillRecent() {
    const games = loadRecentGames();
    this.recent.replaceChildren(
      ...games.map((entry) => h("li", {}, h("a", { href: entry.link }, entry.label), " ", h("small", {}, formatDate(entry.when)))),
      ...(games.length ? [] : [h("li", {}, t("play.recent.none"))]),
    );
  }
}

/**
 * Select a player in its list, or show the spec as text if it is not listed.
 * @param {HTMLSelectElement} picker
 * @param {HTMLInputElement} spec
 * @param {string} player
 */
function showPlayer(picker, spec, player) {
  if (document.activeElement === spec || (picker.value === OTHER_PLAYER && document.activeElement === picker)) return;
  const listed = [...picker.options].some((option) => option.value === player);
  picker.value = listed ? player : OTHER_PLAYER;
  spec.hidden = listed;
  if (!listed) spec.value = player;
}

/** @param {string} text */
function formatClockOption(text) {
  if (!text) return t("play.clock.none");
  const [seconds, increment] = text.split("+").map(Number);
  return t(increment ? "play.clock.minutes.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** The list of the game's moves. */
export function buildMoveList() {
  const list = document.createElement("move-list");
  listen(list, "jump", ({ id }) => goToNodeId(id));
  listen(list, "promote", ({ id }) => promoteVariation(id));
  listen(list, "delete", ({ id }) => deleteVariation(id));
  return list;
}

/** The game tree in the form of the move list. @param {GameNode} root */
export function toMoveTree(root) {
  const describe = (/** @type {GameNode} */ node) => /** @type {TreeNode} */ ({
    id: node.id, move: node.move, side: node.parent?.position?.side ?? 0, ...nodeValues(node),
    best: node.review?.best ?? null, seconds: node.seconds, children: [],
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
