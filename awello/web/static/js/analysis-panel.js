/** The panel of the engine and of the review. */
import { lineViews } from "./analyst.js";
import { h, redraw } from "./dom.js";
import { MARKS, mayShowHints } from "./reviewer.js";
import { set, settings } from "./settings.js";
import { currentLanguage, signed, t } from "./words.js";

const SECONDS = [2, 5, 10, 30, 60];

const compact = (number) => number.toLocaleString(currentLanguage(), { notation: "compact", maximumSignificantDigits: 2 });

export class AnalysisPanel {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.build();
  }

  build() {
    const { app } = this;
    this.seconds = h("select", { id: "seconds", onchange: () => this.setSeconds() },
      ...SECONDS.map((value) => h("option", { value }, t("analysis.seconds", { value }))));
    this.status = h("p", { class: "status" });
    this.values = h("ol", { class: "values" });
    this.line = h("p", { class: "pv", onmouseleave: () => this.leaveLine() });
    this.more = h("button", { onclick: () => app.analyst.more(app.table.game) }, t("analysis.more"));
    this.reviewBox = h("div", { class: "review", id: "review" });
    this.shown = this.state = null;
    this.box.replaceChildren(
      h("div", { class: "row" }, h("label", { htmlFor: "seconds" }, t("analysis.time")), this.seconds),
      this.status, this.values, this.line, this.more,
      h("h2", {}, t("review.title")), this.reviewBox,
    );
  }

  setSeconds() {
    set("seconds", Number(this.seconds.value));
    this.app.analyst.rest();
    this.app.draw();
  }

  update() {
    const { table, analyst, reviewer } = this.app;
    const { at } = table.game;
    this.seconds.value = String(settings.seconds);
    const shown = settings.engine && mayShowHints(reviewer) ? at.analysis : null;
    this.status.textContent = this.statusWords(at, shown);
    this.more.hidden = !shown || analyst.running || shown.solved;
    if (this.shown !== shown) {
      this.shown = shown;
      this.drawValues(shown);
      this.drawLine(shown);
    }
    this.drawReview();
  }

  statusWords(at, shown) {
    if (!settings.engine) return t("analysis.off");
    if (at.over) return t("analysis.over");
    if (!mayShowHints(this.app.reviewer)) return t("analysis.hidden");
    if (!shown) return this.app.analyst.problem || t("analysis.begins");
    const words = [shown.exact ? t("analysis.exact") : t("analysis.depth", { depth: shown.depth })];
    if (!shown.exact && shown.certainty < 100) words.push(t("analysis.certainty", { certainty: shown.certainty }));
    if (shown.seconds > 0.05) words.push(t("analysis.speed", { speed: compact(shown.nodes / shown.seconds) }));
    return words.join(" · ");
  }

  /** The value of each move, the best first; a button stays the same as long as its move is shown, to be pressed. */
  drawValues(shown) {
    const moves = shown?.moves ?? [];
    const best = Math.max(...moves.map((entry) => entry.value));
    const kept = new Map([...this.values.children].map((item) => [item.dataset.move, item]));
    for (const { move } of moves) if (!kept.has(move)) kept.set(move, this.values.appendChild(this.valueOf(move)));
    const known = new Map(moves.map((entry, place) => [entry.move, { ...entry, place }]));
    for (const [move, item] of kept) {
      if (!known.has(move)) item.remove();
      else showValue(item, known.get(move), best);
    }
  }

  valueOf(move) {
    const button = h("button", { onclick: () => this.app.playMove(move) }, h("b", {}, move === "pass" ? t("move.pass") : move), " ", h("span"));
    return h("li", { "data-move": move }, button);
  }

  /** The moves of the best line; its buttons stay, and say another move. */
  drawLine(shown) {
    const moves = shown?.line ?? [];
    while (this.line.children.length > moves.length) this.line.lastChild.remove();
    while (this.line.children.length < moves.length) this.line.append(this.stepOf(this.line.children.length));
    moves.forEach((move, place) => (this.line.children[place].textContent = move === "pass" ? t("move.pass") : move));
  }

  stepOf(place) {
    return h("button", {
      onmouseenter: () => this.previewLine(place),
      onfocus: () => this.previewLine(place),
      onblur: () => this.leaveLine(),
      onclick: () => this.app.playLine(this.shown.line.slice(0, place + 1)),
    });
  }

  leaveLine() {
    this.wanted = null;
    this.app.showPreview(null);
  }

  async previewLine(place) {
    const { shown } = this;
    const node = this.app.table.game.at;
    this.wanted = place;
    shown.views ??= lineViews(this.app.table.game, node, shown.line);
    const views = await shown.views.catch(() => []);
    if (this.wanted !== place || this.app.table.game.at !== node || !views[place]) return;
    this.app.showPreview({ view: views[place], moves: shown.line.slice(0, place + 1) });
  }

  // ---- the review -----------------------------------------------------------------------------------------------
  drawReview() {
    const { reviewer, table } = this.app;
    const { game } = table;
const state = [reviewer.running, reviewer.done, Boolean(reviewer.sides), game.at.id, reviewer.trial?.node.id, reviewer.trial?.tried,
      reviewer.trial?.loss, reviewer.problem, t("app.name"), t("review.title")].join();
    if (state === this.state) return;
    this.state = state;
    const parts = [this.reviewHead(game)];
    if (reviewer.trial) parts.push(this.trialBox(game));
    if (reviewer.sides) parts.push(this.summaries(game));
    if (reviewer.done) parts.push(this.mistakes(game));
    redraw(this.reviewBox, ...parts);
  }

  reviewHead(game) {
    const { reviewer } = this.app;
    if (reviewer.running) {
      const total = reviewer.path.length - 1;
      return h("div", { class: "buttons" },
        h("progress", { value: reviewer.done, max: total, "aria-label": t("review.progress") }),
        h("span", {}, t("review.of", { done: reviewer.done, total })),
        h("button", { id: "stop-review", onclick: () => this.app.stopReview() }, t("review.stop")));
    }
    const empty = game.line.length < 2;
    return h("div", {},
      reviewer.problem ? h("p", { class: "bad" }, reviewer.problem) : null,
      h("button", { id: "begin-review", class: "primary", disabled: empty, onclick: () => this.app.actions.review() }, t("review.begin")),
      h("p", { class: "soft" }, t(empty ? "review.empty" : "review.about")));
  }

  trialBox(game) {
    const { reviewer } = this.app;
    const { node, tried, loss } = reviewer.trial;
    const good = loss !== null && loss < game.rules.inaccuracy;
    const key = tried === null ? "trial.ask" : loss === null ? "trial.judging" : good ? "trial.right" : "trial.wrong";
    return h("div", { class: `trial ${good ? "good" : ""}`, role: "status" },
      h("p", {}, t(key, { move: tried, loss: loss === null ? "" : signed(-loss, 1), side: t(`side.${game.family}.${node.parent.view.side}`) })),
      h("div", { class: "buttons" },
        tried !== null && !good ? h("button", { id: "trial-again", onclick: () => this.app.tryAgain(node) }, t("trial.again")) : null,
        h("button", { id: "trial-answer", onclick: () => this.app.showAnswer(node) }, t("trial.answer")),
        h("button", { id: "trial-leave", onclick: () => this.app.leaveTrial() }, t("trial.leave"))));
  }

  summaries(game) {
    const row = (side) => {
      const { moves, accuracy, mean_loss: mean, inaccuracies, mistakes, blunders } = this.app.reviewer.sides[side];
      const cells = [moves, `${Math.round(accuracy)} %`, mean.toFixed(2), inaccuracies, mistakes, blunders];
      return h("tr", {}, h("th", { scope: "row" }, t(`side.${game.family}.${side}`)), ...cells.map((value) => h("td", {}, String(value))));
    };
    const heads = ["review.moves", "review.accuracy", "review.mean"].map((key) => t(key));
    return h("table", { class: "summary" },
      h("caption", { class: "unseen" }, t("review.title")),
      h("thead", {}, h("tr", {}, h("td", {}), ...[...heads, ...Object.values(MARKS)].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, row(0), row(1)));
  }

  mistakes(game) {
    const found = this.app.reviewer.mistakes;
    if (!found.length) return h("p", {}, this.app.reviewer.sides ? t("review.none") : "");
    return h("ol", { class: "mistakes" }, ...found.map((node) => this.mistake(game, node)));
  }

  mistake(game, node) {
    const { move, mark, loss, best, side } = node.judgement;
    const values = { number: node.ply, side: t(`side.${game.family}.${side}`), move: move + mark, loss: signed(-loss, 1), best };
    return h("li", { class: node === game.at ? "here" : "" },
      h("button", { id: `mistake-${node.id}`, class: "plain", onclick: () => this.app.jump(node.id) }, t("review.mistake", values)),
      h("button", { "aria-label": t("review.try.move", values), onclick: () => this.app.tryAgain(node) }, t("review.try")));
  }
}

function showValue(item, { value, exact, place }, best) {
  const number = item.querySelector("span");
  item.style.order = place;
  item.firstChild.className = value === best ? "best" : "";
  number.textContent = signed(value, exact ? 0 : 1) + (exact ? " =" : "");
  number.title = exact ? t("analysis.exact") : "";
}
