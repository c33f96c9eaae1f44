/**
 * <game-clock>: a player's strip beside the board with name, material and time.
 * It shows its configuration, fires `flag` {side} once, when the time is up, and redraws itself only when the digits
 * change.
 */
import { Component } from "./component.js";
import { appendSvg, h } from "./dom.js";
import { currentLanguage, pluralKey, t } from "./i18n.js";

/** @type {ClockConfig} */
const DEFAULTS = {
  name: "", player: "", seconds: null, used: 0, running: false, startedAt: 0, count: 0, unit: "discs", thinking: false,
  side: 0, family: "othello", winner: false,
};
const TENTHS_BELOW = 20;
const SYMBOLS = {
  othello: "M12 2.5a9.5 9.5 0 1 0 0 19a9.5 9.5 0 1 0 0-19Z",
  awale: "M18.6 5.4C22 8.8 20.7 14.6 17.2 18S8.8 22 5.4 18.6S3.3 10.3 6.8 6.8S15.2 2 18.6 5.4Z",
};

/** The symbol of a side: a disc or seed in its colour. @param {Element} parent */
function buildSymbol(parent) {
  const svg = appendSvg(parent, "svg", { viewBox: "0 0 24 24", class: "clock-symbol", "aria-hidden": "true" });
  appendSvg(svg, "path");
  return svg;
}

/** The digits of a clock: 1:02:03, 4:59 or, with tenths, 0:07.3. @param {number} seconds @param {boolean} tenths */
function formatClock(seconds, tenths) {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const start = hours ? `${hours}:${two(minutes)}` : String(minutes);
  const point = currentLanguage() === "fr" ? "," : ".";
  return `${start}:${two(whole % 60)}${tenths ? point + (Math.floor(seconds * 10) % 10) : ""}`;
}

/** @extends {Component<ClockConfig>} */
class GameClock extends Component {
  static defaults = DEFAULTS;

  #timer = 0;
  #flagged = false;

  /** Write everything, for example in another language. */
  refresh() {
    if (!this.config.running || this.#seconds() > 0) this.#flagged = false;
    const { name, player, count, unit, thinking, side, family, winner, running, seconds } = this.config;
    const { parts } = this;
    parts.symbol.firstChild.setAttribute("d", SYMBOLS[family]);
    this.dataset.side = String(side);
    this.classList.toggle("clock-running", running);
    parts.name.textContent = name;
    parts.player.textContent = player;
    parts.player.title = player;
    parts.winner.hidden = !winner;
    parts.winner.lastChild.textContent = t("clock.winner");
    parts.count.textContent = count;
    parts.unit.textContent = t(`clock.${unit}.${pluralKey(count)}`);
    parts.thinking.hidden = !thinking;
    parts.thinking.setAttribute("aria-label", t("clock.thinking"));
    parts.time.setAttribute("aria-label", t(seconds === null ? "clock.used" : "clock.left"));
    parts.time.classList.toggle("clock-counting-up", seconds === null);
    this.#tick();
  }

  build() {
    const symbol = buildSymbol(this);
    const name = h("span", { class: "clock-name" });
    const winner = h("span", { class: "clock-winner" }, h("span", { class: "clock-star", "aria-hidden": "true" }, "★"), h("span", { class: "clock-winner-text" }));
    const thinking = h("span", { class: "clock-thinking" }, ...[1, 2, 3].map(() => h("i", { class: "clock-dot" })));
    thinking.setAttribute("role", "img");
    const player = h("span", { class: "clock-player" });
    const labels = h("div", { class: "clock-labels" }, h("div", { class: "clock-first-line" }, name, winner, thinking), player);
    const count = h("span", { class: "clock-count" });
    const unit = h("span", { class: "clock-unit" });
    const time = h("span", { class: "clock-time" });
    time.setAttribute("role", "timer");
    this.replaceChildren(symbol, labels, h("span", { class: "clock-material" }, count, " ", unit), time);
    return { symbol, name, player, winner, count, unit, thinking, time };
  }

  /** Seconds left, or seconds used without a clock. */
  #seconds() {
    const { seconds, used, running, startedAt } = this.config;
    const gone = running ? Math.max(0, performance.now() - startedAt) / 1000 : 0;
    return seconds === null ? used + gone : Math.max(0, seconds - gone);
  }

  #tick() {
    clearTimeout(this.#timer);
    const left = this.#seconds();
    const down = this.config.seconds !== null;
    const tenths = down && left < TENTHS_BELOW;
    const text = formatClock(left, tenths);
    const { time } = this.parts;
    if (time.textContent !== text) time.textContent = text;
    time.classList.toggle("clock-low", tenths);
    if (!this.config.running || !this.isConnected) return;
    if (down && left === 0) this.#flag();
    else this.#timer = setTimeout(() => this.#tick(), this.#untilNextDigit(left, down, tenths ? 0.1 : 1));
  }

  /**
   * Milliseconds until the digits have changed, with a small margin.
   * @param {number} now
   * @param {boolean} down
   * @param {number} step
   */
  #untilNextDigit(now, down, step) {
    const gone = now % step;
    return (down ? gone : step - gone) * 1000 + 2;
  }

  #flag() {
    if (this.#flagged) return;
    this.#flagged = true;
    this.emit("flag", { side: this.config.side });
  }
}

customElements.define("game-clock", GameClock);
