/** What was played in the shown position, by the games of the archive. */
import { playMove } from "./actions.js";
import { h, redraw } from "./dom.js";
import { predictMove } from "./effects.js";
import { openingOf } from "./game-words.js";
import { problemWords } from "./notices.js";
import { api } from "./server.js";
import { set, state } from "./store.js";
import { currentLanguage, signed, t } from "./words.js";

const WRITTEN = 35; // percent of a bar from which on there is room for the figure

/** @param {number} number */
const digits = (number) => number.toLocaleString(currentLanguage());
/** @param {number} part @param {number} whole */
const percent = (part, whole) => Math.round((100 * part) / Math.max(1, whole));
/** @param {number} part @param {number} whole */
const share = (part, whole) => (percent(part, whole) || part === 0 ? percent(part, whole) : "<1");

export class Explorer {
  constructor() {
    this.head = h("p", { class: "explorer-head", id: "explorer-head", role: "status" });
    this.heads = h("div", { class: "explorer-heads", "aria-hidden": "true" },
      ...["move", "games", "results", "mean"].map((name) => h("span", {}, t(`explorer.${name}`))),
      h("span", { class: "explorer-value", title: t("explorer.value.help") }, t("explorer.value")));
    this.rows = h("ol", { class: "explorer-rows", id: "explorer-rows", onmouseleave: () => set({ preview: null }) });
    this.empty = h("p", { class: "soft" });
    this.element = h("section", { class: "explorer" }, this.head, this.heads, this.rows, this.empty);
    /** @type {WeakMap<GameNode, any>} */
    this.answers = new WeakMap();
    /** @type {GameNode | null} */
    this.node = null;
  }

  /** The archive has changed: ask again. */
  forget() {
    this.answers = new WeakMap();
    this.node = null;
  }

  /** Follow the position on the board. */
  update() {
    const { game } = state;
    if (this.node === game.at) return;
    this.node = game.at;
    if (this.answers.has(game.at)) this.show(game, this.answers.get(game.at));
    else this.ask(game, game.at);
  }

  /** @param {Game} game @param {GameNode} node */
  async ask(game, node) {
    const { answers } = this;
    try {
      const answer = await api("POST", "/api/explore", game.question(node));
      answers.set(node, answer);
      if (this.node === node && this.answers === answers) this.show(game, answer);
    } catch (error) {
      if (this.node === node && this.answers === answers) this.complain(error);
    }
  }

  /** @param {Problem} error */
  complain(error) {
    this.head.replaceChildren(problemWords(error));
    this.heads.hidden = true;
    this.empty.textContent = "";
    redraw(this.rows);
  }

  /** @param {Game} game @param {Exploration} found */
  show(game, { games, value, moves, opening: here }) {
    const opening = (here ?? openingOf(game))?.[currentLanguage()];
    const count = t(games === 1 ? "explorer.one" : "explorer.many", { games: digits(games) });
    const worth = value === null ? "" : ` · ${t("explorer.worth", { value: signed(value) })}`;
    this.head.replaceChildren(h("b", {}, count), opening ? ` · ${opening}` : "", worth);
    this.element.classList.toggle("has-values", value !== null);
    this.heads.hidden = !moves.length;
    this.empty.textContent = moves.length ? "" : this.emptyWords(game, games);
    redraw(this.rows, ...moves.map((branch) => this.row(branch, games)));
  }

  /** @param {Game} given @param {number} games */
  emptyWords({ at }, games) {
    if (games) return t("explorer.ends");
    return at.parent ? t("explorer.none") : t("explorer.fill");
  }

  /** @param {Branch} branch @param {number} total */
  row(branch, total) {
    const { node } = this;
    const { move, games, score, value, opening } = branch;
    const name = move === "pass" ? t("move.pass") : move;
    const show = () => node === state.game.at && this.preview(move);
    /** @type {HTMLButtonElement} */
    const button = h("button", {
      id: `explore-${move}`, class: "explorer-move", "aria-label": label(name, branch, total),
      onmouseenter: show, onfocus: () => button.matches(":focus-visible") && show(), onblur: () => set({ preview: null }),
      onclick: () => node === state.game.at && playMove(move),
    },
      h("b", {}, name),
      h("span", { class: "explorer-games" }, digits(games), h("small", {}, `${share(games, total)} %`)),
      bar(branch, node?.view.side ?? 0),
      h("span", { class: "explorer-mean" }, score === null ? "" : signed(score, 1)),
      h("span", { class: "explorer-value" }, value === null ? "" : signed(value)),
      opening ? h("span", { class: "explorer-opening" }, opening[currentLanguage()]) : null);
    return h("li", {}, button);
  }

  /** Show on the board what a move would do. @param {string} move */
  preview(move) {
    const view = this.node?.view;
    if (view && move in view.moves) set({ preview: { view: predictMove(view, move), moves: [move] } });
  }
}

/**
 * Won, drawn and lost games of the mover, each in the colour of whoever won.
 * @param {Branch} given
 * @param {number} side
 */
function bar({ wins, draws, losses }, side) {
  const decided = wins + draws + losses;
  const [own, other] = side ? ["second", "first"] : ["first", "second"];
  /** @type {[count: number, winner: string][]} */
  const parts = [[wins, `${own} is-won`], [draws, "drawn"], [losses, other]];
  /** @param {[count: number, winner: string]} part */
  const draw = ([count, winner]) => {
    const part = percent(count, decided);
    const piece = h("span", { class: `explorer-${winner}` }, part >= WRITTEN ? `${part} %` : "");
    piece.style.flexGrow = String(count);
    return piece;
  };
  return h("span", { class: "explorer-bar" }, ...parts.filter(([count]) => count).map(draw));
}

/** The row for those who hear it. @param {string} move @param {Branch} given @param {number} total */
function label(move, { games, wins, draws, losses, score, value, opening }, total) {
  const decided = wins + draws + losses;
  const words = [t("explorer.row", { move, games: digits(games), share: share(games, total) })];
  if (decided) words.push(t("explorer.row.results", { won: percent(wins, decided), drawn: percent(draws, decided), lost: percent(losses, decided) }));
  if (score !== null) words.push(t("explorer.row.mean", { mean: signed(score, 1) }));
  if (value !== null) words.push(t("explorer.row.value", { value: signed(value) }));
  if (opening) words.push(opening[currentLanguage()]);
  return words.join(", ");
}
