/** The form of a new contest: game, bots, rounds and time. */
import { h } from "./dom.js";
import { RULES } from "./game.js";
import { t } from "./i18n.js";

const MAX_BOTS = 8;
const NUMBER_FIELDS = {
  rounds: { min: 1, max: 50, step: 1, value: 5 },
  opening_plies: { min: 0, max: 12, step: 1, value: 4 },
  move_time: { min: 0.01, max: 5, step: "any", value: 1 },
};

/** A form that calls `start` with the contest's settings; `initial` holds initial values. */
export class ContestForm {
  /** @param {{ variant: string, players: string[] }} given @param {(plan: object) => void} start @param {any} [initial] */
  constructor({ variant, players }, start, initial = {}) {
    this.bots = h("div", { class: "contest-bots" });
    this.game = h("select", { class: "lab-input" }, Object.keys(RULES).map((name) => h("option", { value: name }, t(`game.${name}`))));
    this.game.value = initial.game ?? variant;
    this.numbers = Object.fromEntries(Object.entries(NUMBER_FIELDS).map(([name, range]) => [name, buildNumberInput(range, initial[name])]));
    this.adder = h("button", { type: "button", onclick: () => this.#addBot("", true) }, t("contest.bot.add"));
    this.total = h("span", { class: "lab-muted" });
    this.error = h("p", { class: "lab-error", role: "alert", hidden: true });
    this.element = this.#build(players, start);
    for (const spec of initial.players ?? players.slice(0, 2)) this.#addBot(spec);
    while (this.#inputs.length < 2) this.#addBot("");
  }

  /** The settings in the form. */
  get values() {
    const numbers = Object.entries(this.numbers).map(([name, input]) => [name, input.valueAsNumber]);
    return { game: this.game.value, players: this.#inputs.map((input) => input.value.trim()), ...Object.fromEntries(numbers) };
  }

  /** Show an error, or hide it. */
  showError(message = "") {
    this.error.textContent = message;
    this.error.hidden = !message;
  }

  get #inputs() {
    return [...this.bots.querySelectorAll("input")];
  }

  /** @param {string[]} players @param {(plan: object) => void} start */
  #build(players, start) {
    /** @param {Event} event */
    const submit = (event) => {
      event.preventDefault();
      this.showError();
      start(this.values);
    };
    return h(
      "form", { class: "lab-card", onsubmit: submit, oninput: () => this.#updateCount() },
      buildLabelledField(t("contest.game"), this.game),
      h("fieldset", { class: "contest-fieldset" }, h("legend", {}, t("contest.bots")), this.bots, this.adder),
      h("datalist", { id: "contest-specs" }, players.map((spec) => h("option", { value: spec }))),
      h("div", { class: "lab-numbers" }, Object.entries(this.numbers).map(([name, input]) => buildLabelledField(t(`contest.field.${name}`), input))),
      h("p", { class: "lab-muted" }, t("contest.rules")),
      this.error,
      h("div", { class: "lab-row" }, h("button", { class: "primary" }, t("contest.start")), this.total),
    );
  }

  /** @param {string} spec @param {boolean} [focus] */
  #addBot(spec, focus = false) {
    const input = h("input", { class: "lab-input", value: spec, required: true, maxLength: 120, spellcheck: false, list: "contest-specs" });
    input.setAttribute("autocapitalize", "none");
    const remove = h("button", { type: "button", class: "lab-icon-button", onclick: () => this.#removeBot(row) }, "✕");
    /** @type {HTMLElement} */
    const row = h("div", { class: "contest-bot" }, input, remove);
    this.bots.append(row);
    this.#updateCount();
    if (focus) input.focus();
  }

  /** @param {HTMLElement} row */
  #removeBot(row) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    this.#updateCount();
    next?.querySelector("input")?.focus();
  }

  /** Number the bots, enforce the limits and show the number of games. */
  #updateCount() {
    const rows = [...this.bots.children];
    rows.forEach((row, index) => {
      const [input, remove] = /** @type {any} */ (row.children);
      input.ariaLabel = t("contest.bot", { number: index + 1 });
      input.placeholder = t("contest.bot", { number: index + 1 });
      remove.ariaLabel = t("contest.bot.remove", { number: index + 1 });
      remove.disabled = rows.length <= 2;
    });
    this.adder.disabled = rows.length >= MAX_BOTS;
    const games = rows.length * (rows.length - 1) * this.numbers.rounds.valueAsNumber;
    this.total.textContent = games ? t("contest.games.total", { games }) : "";
  }
}

/** @param {any} range @param {number} [value] */
function buildNumberInput(range, value = range.value) {
  return h("input", { type: "number", class: "lab-input", required: true, ...range, value });
}

let labels = 0;

/** A control with its label above. @param {string} text @param {HTMLElement} control */
export function buildLabelledField(text, control) {
  control.id = `lab-control-${++labels}`;
  return h("div", { class: "lab-field" }, h("label", { for: control.id }, text), control);
}
