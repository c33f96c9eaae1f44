/** The tab of the engine's analysis and of the game review. */
import { actions, goToNodeId, leaveRetry, playLine, playMove, retryMistake, showAnswer } from "./actions.js";
import { loadLineAhead } from "./analyst.js";
import { buildFormRow, buildSelect, h, replaceContent } from "./dom.js";
import { sideName } from "./game-text.js";
import { currentLanguage, formatSigned, t } from "./i18n.js";
import { canShowHints, MARKS } from "./reviewer.js";
import { analyst, reviewer } from "./services.js";
import { saveSetting, settings } from "./settings.js";
import { notifyChange, setState, state } from "./store.js";

const ANALYSIS_SECONDS = [2, 5, 10, 30, 60];

/** @param {number} number */
const formatCompact = (number) => number.toLocaleString(currentLanguage(), { notation: "compact", maximumSignificantDigits: 2 });

export class AnalysisTab {
  /** @type {Topic[]} */
  static topics = ["game", "analysis", "review", "settings"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.seconds = buildSelect({ id: "analysis-seconds", onchange: () => this.setSeconds() }, ANALYSIS_SECONDS.map((value) => [value, t("analysis.seconds", { value })]));
    this.status = h("p", { class: "status" });
    this.values = h("ol", { class: "values" });
    this.line = h("p", { class: "pv", onmouseleave: () => this.leaveLine() });
    this.more = h("button", { onclick: () => analyst.extend(state.game) }, t("analysis.extend"));
    this.reviewBox = h("div", { class: "review", id: "review" });
    /** @type {Analysis | null} */
    this.shown = null;
    this.drawn = ""; // the review shown, as a key
    /** @type {number | null} */
    this.wanted = null; // index of the previewed move of the principal variation
    box.replaceChildren(
      buildFormRow(t("analysis.time"), this.seconds),
      this.status, this.values, this.line, this.more,
      h("h2", {}, t("review.title")), this.reviewBox,
    );
  }

  setSeconds() {
    analyst.stop();
    saveSetting("analysisSeconds", Number(this.seconds.value));
  }

  update() {
    const { current } = state.game;
    this.seconds.value = String(settings.analysisSeconds);
    const shown = settings.engine && canShowHints(reviewer) ? current.analysis : null;
    this.status.replaceChildren(...this.renderStatus(current, shown));
    this.more.hidden = !shown || analyst.running || Boolean(shown.solved);
    if (this.shown !== shown) {
      this.shown = shown;
      this.drawValues(shown);
      this.drawLine(shown);
    }
    this.drawReview();
  }

  /** @param {GameNode} current @param {Analysis | null} shown @returns {(Node | string)[]} */
  renderStatus(current, shown) {
    if (!settings.engine) return [t("analysis.off")];
    if (current.over) return [t("analysis.over")];
    if (!canShowHints(reviewer)) return [t("analysis.hidden")];
    if (!shown) return [analyst.error || t("analysis.starting")];
    const { exact, depth, confidence, nodes, seconds } = shown;
    const speed = seconds > 0.05 ? ` · ${t("analysis.speed", { speed: formatCompact(nodes / seconds) })}` : "";
    if (exact) return [t("analysis.exact"), speed];
    const selective = confidence < 100 ? h("abbr", { title: t("analysis.selective.help") }, t("analysis.selective", { confidence })) : "";
    return [t("analysis.depth", { depth }), selective && " · ", selective, speed];
  }

  /**
   * The value of each move, best first; buttons are reused, so that clicks are not lost while new values arrive.
   * @param {Analysis | null} shown
   */
  drawValues(shown) {
    const moves = shown?.moves ?? [];
    const best = Math.max(...moves.map((entry) => entry.value));
    const kept = new Map([.../** @type {HTMLCollectionOf<HTMLElement>} */ (this.values.children)].map((item) => [item.getAttribute("data-move"), item]));
    for (const { move } of moves) if (!kept.has(move)) kept.set(move, this.values.appendChild(this.buildValueItem(move)));
    const known = new Map(moves.map((entry, index) => [entry.move, { ...entry, index }]));
    for (const [move, item] of kept) {
      const value = known.get(move ?? "");
      if (value) showValue(item, value, best);
      else item.remove();
    }
  }

  /** @param {string} move */
  buildValueItem(move) {
    const button = h("button", { onclick: () => playMove(move) }, h("b", {}, move === "pass" ? t("move.pass") : move), " ", h("span"));
    return h("li", { "data-move": move }, button);
  }

  /** The moves of the principal variation; buttons are reused. @param {Analysis | null} shown */
  drawLine(shown) {
    const moves = shown?.pv ?? [];
    while (this.line.children.length > moves.length) this.line.lastChild?.remove();
    while (this.line.children.length < moves.length) this.line.append(this.buildLineButton(this.line.children.length));
    moves.forEach((move, index) => (this.line.children[index].textContent = move === "pass" ? t("move.pass") : move));
  }

  /** @param {number} index */
  buildLineButton(index) {
    return h("button", {
      onmouseenter: () => this.previewLine(index),
      onfocus: () => this.previewLine(index),
      onblur: () => this.leaveLine(),
      onclick: () => this.shown && playLine(this.shown.pv.slice(0, index + 1)),
    });
  }

  leaveLine() {
    this.wanted = null;
    setState({ preview: null });
  }

  /** @param {number} index */
  async previewLine(index) {
    const { shown } = this;
    const node = state.game.current;
    if (!shown) return;
    this.wanted = index;
    shown.views ??= loadLineAhead(state.game, node, shown.pv);
    const views = await shown.views.catch(() => []);
    if (this.wanted !== index || state.game.current !== node || !views[index]) return;
    setState({ preview: { position: views[index], moves: shown.pv.slice(0, index + 1) } });
  }

  // ---- the review -----------------------------------------------------------------------------------------------
  drawReview() {
    const { game } = state;
    const { running, done, sides, retry, error } = reviewer;
    const drawn = [running, done, Boolean(sides), game.current.id, retry?.node.id, retry?.tried, retry?.loss, error].join();
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    /** @type {HTMLElement[]} */
    const parts = [this.renderReviewHead(game)];
    if (retry) parts.push(this.renderRetry(game, retry));
    if (sides) parts.push(this.renderSummary(game, sides));
    if (done) parts.push(this.renderMistakes(game));
    replaceContent(this.reviewBox, ...parts);
  }

  /** @param {Game} game */
  renderReviewHead(game) {
    if (reviewer.running) {
      const total = reviewer.path.length - 1;
      return h("div", { class: "buttons" },
        h("progress", { value: reviewer.done, max: total, "aria-label": t("review.progress") }),
        h("span", {}, t("review.progress.count", { done: reviewer.done, total })),
        h("button", { id: "stop-review", onclick: () => stopReview() }, t("review.stop")));
    }
    const empty = game.line.length < 2;
    return h("div", {},
      reviewer.error ? h("p", { class: "error" }, reviewer.error) : null,
      h("button", { id: "begin-review", class: "primary", disabled: empty, onclick: () => actions.reviewGame() }, t("review.begin")),
      h("p", { class: "muted" }, t(empty ? "review.empty" : "review.about")));
  }

  /** @param {Game} game @param {Retry} given */
  renderRetry(game, { node, tried, loss }) {
    const good = loss !== null && loss < game.rules.inaccuracy;
    const key = tried === null ? "retry.ask" : loss === null ? "retry.analysing" : good ? "retry.right" : "retry.wrong";
    return h("div", { class: `retry ${good ? "good" : ""}`, role: "status" },
      h("p", {}, t(key, { move: tried, loss: loss === null ? "" : formatSigned(-loss, 1) })),
      h("div", { class: "buttons" },
        tried !== null && !good ? h("button", { id: "retry-again", onclick: () => retryMistake(node) }, t("retry.again")) : null,
        h("button", { id: "retry-answer", onclick: () => showAnswer(node) }, t("retry.answer")),
        h("button", { id: "retry-leave", onclick: () => leaveRetry() }, t("retry.leave"))));
  }

  /** @param {Game} game @param {SideSummary[]} sides */
  renderSummary(game, sides) {
    const line = (/** @type {number} */ side) => {
      const { moves, accuracy, mean_loss: mean, inaccuracies, mistakes, blunders } = sides[side];
      const cells = [moves, `${Math.round(accuracy)} %`, mean.toLocaleString(currentLanguage(), { minimumFractionDigits: 2, maximumFractionDigits: 2 }), inaccuracies, mistakes, blunders];
      return h("tr", {}, h("th", { scope: "row" }, sideName(game.family, side)), ...cells.map((value) => h("td", {}, String(value))));
    };
    const marks = Object.values(MARKS).map((mark) => h("abbr", { title: t(`moves.${mark}`) }, mark));
    const heads = [...["review.moves", "review.accuracy", `review.mean.${game.rules.unit}`].map((key) => t(key)), ...marks];
    return h("table", { class: "summary" },
      h("caption", { class: "visually-hidden" }, t("review.title")),
      h("thead", {}, h("tr", {}, h("td", {}), ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, line(0), line(1)));
  }

  /** @param {Game} game */
  renderMistakes(game) {
    const found = reviewer.mistakes;
    if (!found.length) return h("p", {}, reviewer.sides ? t("review.none") : "");
    return h("ol", { class: "mistakes" }, ...found.map((node) => this.renderMistake(game, node)));
  }

  /** @param {Game} game @param {GameNode} node */
  renderMistake(game, node) {
    const { move, mark, loss, best, side } = /** @type {MoveReview} */ (node.review);
    const values = { number: node.ply, side: sideName(game.family, side), move: move + mark, loss: formatSigned(-loss, 1), best };
    return h("li", { class: node === game.current ? "is-current" : "" },
      h("button", { id: `mistake-${node.id}`, class: "plain", onclick: () => goToNodeId(node.id) }, t("review.mistake", values)),
      h("button", { "aria-label": t("review.retry.move", values), onclick: () => retryMistake(node) }, t("review.retry")));
  }
}

function stopReview() {
  reviewer.cancel?.();
  reviewer.cancel = null;
  notifyChange("review");
}

/** @param {HTMLElement} item @param {MoveValue & { index: number }} given @param {number} best */
function showValue(item, { value, exact, index }, best) {
  const [number] = item.getElementsByTagName("span");
  item.style.order = String(index);
  item.getElementsByTagName("button")[0].className = value === best ? "best" : "";
  number.textContent = formatSigned(value, exact ? 0 : 1) + (exact ? " =" : "");
  number.title = exact ? t("analysis.exact") : "";
}
