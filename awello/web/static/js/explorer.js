/** The opening explorer: moves played in the current position, from the games of the archive. */
import { playMove } from "./actions.js";
import { h, replaceContent } from "./dom.js";
import { findOpening } from "./game-text.js";
import { currentLanguage, formatSigned, pluralKey, t } from "./i18n.js";
import { predictMove } from "./move-prediction.js";
import { formatError } from "./notices.js";
import { api } from "./server.js";
import { setState, state } from "./store.js";

const MIN_LABEL_PERCENT = 35; // narrower bars have no label

/** @param {number} number */
const formatNumber = (number) => number.toLocaleString(currentLanguage());

/** A number of games, such as "1 game". @param {number} number */
const formatGames = (number) => t(`games.count.${pluralKey(number)}`, { games: formatNumber(number) });
/** @param {number} part @param {number} whole */
const percent = (part, whole) => Math.round((100 * part) / Math.max(1, whole));
/** @param {number} part @param {number} whole */
const share = (part, whole) => (percent(part, whole) || part === 0 ? percent(part, whole) : "<1");

export class Explorer {
  constructor() {
    this.summary = h("p", { class: "explorer-summary", id: "explorer-summary", role: "status" });
    this.columns = h("div", { class: "explorer-columns", "aria-hidden": "true" },
      ...["move", "games", "results", "mean"].map((name) => h("span", {}, t(`explorer.${name}`))),
      h("span", { class: "explorer-value", title: t("explorer.value.help") }, t("explorer.value")));
    this.rows = h("ol", { class: "explorer-rows", id: "explorer-rows", onmouseleave: () => setState({ preview: null }) });
    this.empty = h("p", { class: "muted" });
    this.element = h("section", { class: "explorer" }, this.summary, this.columns, this.rows, this.empty);
    /** @type {WeakMap<GameNode, any>} */
    this.responses = new WeakMap();
    /** @type {GameNode | null} */
    this.node = null;
  }

  /** Discard the statistics, because the archive has changed. */
  invalidate() {
    this.responses = new WeakMap();
    this.node = null;
  }

  /** Show the statistics of the position on the board. */
  update() {
    const { game } = state;
    if (this.node === game.current) return;
    this.node = game.current;
    if (this.responses.has(game.current)) this.show(game, this.responses.get(game.current));
    else this.load(game, game.current);
  }

  /** @param {Game} game @param {GameNode} node */
  async load(game, node) {
    const { responses } = this;
    try {
      const response = await api("POST", "/api/explore", game.toRequest(node));
      responses.set(node, response);
      if (this.node === node && this.responses === responses) this.show(game, response);
    } catch (error) {
      if (this.node === node && this.responses === responses) this.showError(error);
    }
  }

  /** @param {ErrorInfo} error */
  showError(error) {
    this.summary.replaceChildren(formatError(error));
    this.columns.hidden = true;
    this.empty.textContent = "";
    replaceContent(this.rows);
  }

  /** @param {Game} game @param {Exploration} exploration */
  show(game, { games, value, moves, opening: storedOpening }) {
    const opening = (storedOpening ?? findOpening(game))?.[currentLanguage()];
    const suffix = value === null ? "" : ` · ${t("explorer.root.value", { value: formatSigned(value) })}`;
    this.summary.replaceChildren(h("b", {}, formatGames(games)), opening ? ` · ${opening}` : "", suffix);
    this.element.classList.toggle("has-values", value !== null);
    this.columns.hidden = !moves.length;
    this.empty.textContent = moves.length ? "" : this.formatEmptyText(game, games);
    replaceContent(this.rows, ...moves.map((statistics) => this.renderRow(statistics, games)));
  }

  /** @param {Game} given @param {number} games */
  formatEmptyText({ current }, games) {
    if (games) return t("explorer.ends");
    return current.parent ? t("explorer.none") : t("explorer.empty");
  }

  /** @param {MoveStatistics} statistics @param {number} total */
  renderRow(statistics, total) {
    const { node } = this;
    const { move, games, mean_margin: mean, value, opening } = statistics;
    const name = move === "pass" ? t("move.pass") : move;
    const show = () => node === state.game.current && this.preview(move);
    /** @type {HTMLButtonElement} */
    const button = h("button", {
      id: `explore-${move}`, class: "explorer-move", "aria-label": describeRow(name, statistics, total),
      onmouseenter: show, onfocus: () => button.matches(":focus-visible") && show(), onblur: () => setState({ preview: null }),
      onclick: () => node === state.game.current && playMove(move),
    },
      h("b", {}, name),
      h("span", { class: "explorer-games" }, formatNumber(games), h("small", {}, `${share(games, total)} %`)),
      renderBar(statistics, node?.position.side ?? 0),
      h("span", { class: "explorer-mean" }, mean === null ? "" : formatSigned(mean, 1)),
      h("span", { class: "explorer-value" }, value === null ? "" : formatSigned(value)),
      opening ? h("span", { class: "explorer-opening" }, opening[currentLanguage()]) : null);
    return h("li", {}, button);
  }

  /** Preview a move on the board. @param {string} move */
  preview(move) {
    const position = this.node?.position;
    if (position && move in position.moves) setState({ preview: { position: predictMove(position, move), moves: [move] } });
  }
}

/**
 * Games won, drawn and lost by the mover, each in the colour of the winner.
 * @param {MoveStatistics} given
 * @param {number} side
 */
function renderBar({ wins, draws, losses }, side) {
  const decided = wins + draws + losses;
  const [own, other] = side ? ["second", "first"] : ["first", "second"];
  /** @type {[count: number, winner: string][]} */
  const parts = [[wins, `${own} is-won`], [draws, "drawn"], [losses, other]];
  /** @param {[count: number, winner: string]} part */
  const draw = ([count, winner]) => {
    const part = percent(count, decided);
    const piece = h("span", { class: `explorer-${winner}` }, part >= MIN_LABEL_PERCENT ? `${part} %` : "");
    piece.style.flexGrow = String(count);
    return piece;
  };
  return h("span", { class: "explorer-bar" }, ...parts.filter(([count]) => count).map(draw));
}

/** The row for screen readers. @param {string} move @param {MoveStatistics} given @param {number} total */
function describeRow(move, { games, wins, draws, losses, mean_margin: mean, value, opening }, total) {
  const decided = wins + draws + losses;
  const parts = [t("explorer.row", { move, games: formatGames(games), share: share(games, total) })];
  if (decided) parts.push(t("explorer.row.results", { won: percent(wins, decided), drawn: percent(draws, decided), lost: percent(losses, decided) }));
  if (mean !== null) parts.push(t("explorer.row.mean", { mean: formatSigned(mean, 1) }));
  if (value !== null) parts.push(t("explorer.row.value", { value: formatSigned(value) }));
  if (opening) parts.push(opening[currentLanguage()]);
  return parts.join(", ");
}
