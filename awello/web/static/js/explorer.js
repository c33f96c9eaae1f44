/** What was played in the shown position, by the games of the archive. */
import { h, redraw } from "./dom.js";
import { foresee } from "./effects.js";
import { problemWords } from "./notices.js";
import { openingOf } from "./screen.js";
import { api } from "./server.js";
import { currentLanguage, signed, t } from "./words.js";

const WRITTEN = 35; // percent of a bar from which on there is room for the figure

const digits = (number) => number.toLocaleString(currentLanguage());
const percent = (part, whole) => Math.round((100 * part) / Math.max(1, whole));
const share = (part, whole) => (percent(part, whole) || part === 0 ? percent(part, whole) : "<1");

export class Explorer {
  constructor(app) {
    this.app = app;
    this.build();
  }

  build() {
    this.head = h("p", { class: "explorer-head", id: "explorer-head", role: "status" });
    this.heads = h("div", { class: "explorer-heads", "aria-hidden": "true" },
      ...["move", "games", "results", "mean"].map((name) => h("span", {}, t(`explorer.${name}`))),
      h("span", { class: "explorer-value", title: t("explorer.value.help") }, t("explorer.value")));
    this.rows = h("ol", { class: "explorer-rows", id: "explorer-rows", onmouseleave: () => this.app.showPreview(null) });
    this.empty = h("p", { class: "soft" });
    this.element = h("section", { class: "explorer" }, this.head, this.heads, this.rows, this.empty);
    this.forget();
  }

  /** The archive has changed, or the words: ask again. */
  forget() {
    this.answers = new WeakMap(); // by node
    this.node = null;
  }

  /** Follow the position on the board. */
  update() {
    const { game } = this.app.table;
    if (this.node === game.at) return;
    this.node = game.at;
    if (this.answers.has(game.at)) this.show(game, this.answers.get(game.at));
    else this.ask(game, game.at);
  }

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

  complain(error) {
    this.head.replaceChildren(problemWords(error));
    this.heads.hidden = true;
    this.empty.textContent = "";
    redraw(this.rows);
  }

  show(game, { games, value, branches, opening: here }) {
    const opening = (here ?? openingOf(game))?.[currentLanguage()];
    const count = t(games === 1 ? "explorer.one" : "explorer.many", { games: digits(games) });
    const worth = value === null ? "" : ` · ${t("explorer.worth", { value: signed(value) })}`;
    this.head.replaceChildren(h("b", {}, count), opening ? ` · ${opening}` : "", worth);
    this.element.classList.toggle("has-values", value !== null);
    this.heads.hidden = !branches.length;
    this.empty.textContent = branches.length ? "" : this.emptyWords(game, games);
    redraw(this.rows, ...branches.map((branch) => this.row(branch, games)));
  }

  emptyWords({ at }, games) {
    if (games) return t("explorer.ends");
    return at.parent ? t("explorer.none") : t("explorer.fill");
  }

  row(branch, total) {
    const { node } = this;
    const { move, games, score, value, opening } = branch;
    const name = move === "pass" ? t("move.pass") : move;
    const show = () => node === this.app.table.game.at && this.preview(move);
    const button = h("button", {
      id: `explore-${move}`, class: "explorer-move", "aria-label": label(name, branch, total),
      onmouseenter: show, onfocus: () => button.matches(":focus-visible") && show(), onblur: () => this.app.showPreview(null),
      onclick: () => node === this.app.table.game.at && this.app.playMove(move),
    },
      h("b", {}, name),
      h("span", { class: "explorer-games" }, digits(games), h("small", {}, `${share(games, total)} %`)),
      bar(branch, node.view.side),
      h("span", { class: "explorer-mean" }, score === null ? "" : signed(score, 1)),
      h("span", { class: "explorer-value" }, value === null ? "" : signed(value)),
      opening ? h("span", { class: "explorer-opening" }, opening[currentLanguage()]) : null);
    return h("li", {}, button);
  }

  /** Show on the board what a move would do. */
  preview(move) {
    const { view } = this.node;
    if (move in view.moves) this.app.showPreview({ view: foresee(view, move), moves: [move] });
  }
}

/** Won, drawn and lost games of the mover, each in the colour of whoever won. */
function bar({ wins, draws, losses }, side) {
  const decided = wins + draws + losses;
  const [own, other] = side ? ["second", "first"] : ["first", "second"];
  const parts = [[wins, `${own} is-won`], [draws, "drawn"], [losses, other]];
  const draw = ([count, winner]) => {
    const part = percent(count, decided);
    const piece = h("span", { class: `explorer-${winner}` }, part >= WRITTEN ? `${part} %` : "");
    piece.style.flexGrow = count;
    return piece;
  };
  return h("span", { class: "explorer-bar" }, ...parts.filter(([count]) => count).map(draw));
}

/** The row for those who hear it. */
function label(move, { games, wins, draws, losses, score, value, opening }, total) {
  const decided = wins + draws + losses;
  const words = [t("explorer.row", { move, games: digits(games), share: share(games, total) })];
  if (decided) words.push(t("explorer.row.results", { won: percent(wins, decided), drawn: percent(draws, decided), lost: percent(losses, decided) }));
  if (score !== null) words.push(t("explorer.row.mean", { mean: signed(score, 1) }));
  if (value !== null) words.push(t("explorer.row.value", { value: signed(value) }));
  if (opening) words.push(opening[currentLanguage()]);
  return words.join(", ");
}
