/**
 * <lab-panel>: contests of programs.  A form begins one, its standings are shown while it runs, its games can be
 * replayed, and earlier contests are kept.
 *
 * `config` is { game, players: specs to offer, api: async (method, path, body, headers) };
 * the event is `replay` { game, moves }.
 */
import { h } from "./dom.js";
import { ContestForm } from "./lab-form.js";
import { ContestView, contestName } from "./lab-view.js";
import { problemWords } from "./notices.js";
import { currentLanguage, t } from "./words.js";

const OFTEN = 1000; // milliseconds between two looks at a contest that runs
const SELDOM = 3000; // and at a server that does not answer
const SURE = 4000; // milliseconds in which a second press deletes
const KEYS = "awello.contests"; // where the keys of this browser's contests are kept
const MOST_KEYS = 50;

/** The keys of the contests that this browser has started, by id. */
function contestKeys() {
  try {
    return new Map(JSON.parse(localStorage.getItem(KEYS) ?? "[]"));
  } catch {
    return new Map();
  }
}

/** @param {string} id @param {string} key */
function keepKey(id, key) {
  try {
    localStorage.setItem(KEYS, JSON.stringify([...contestKeys(), [id, key]].slice(-MOST_KEYS)));
  } catch {
    // nothing can be kept: the contest cannot be stopped on a server for guests
  }
}

/** The header that allows this browser to change a contest that it has started. @param {string} id */
const proof = (id) => ({ "x-contest-key": contestKeys().get(id) ?? "" });

class LabPanel extends HTMLElement {
  #config = /** @type {LabConfig} */ (/** @type {unknown} */ (null));
  /** @type {ContestForm | null} */
  #form = null;
  /** @type {ContestView | null} */
  #view = null;
  /** @type {Contest | null} */
  #contest = null; // as it was last seen, with all its games
  /** @type {Contest[]} */
  #earlier = [];
  #timer = 0;
  result = h("div", { class: "lab-result" });
  list = h("ul", { class: "lab-list" });
  listTitle = h("h3", { class: "lab-title", tabindex: -1 });
  earlier = h("section", { class: "lab-card" }, this.listTitle, this.list);
  #look = 0; // the number of the latest look: answers to others come too late

  get config() {
    return this.#config;
  }

  set config(config) {
    const before = this.#config;
    this.#config = config;
    this.#keep(before?.game === config.game ? {} : { game: config.game });
    if (this.isConnected) this.#begin();
  }

  connectedCallback() {
    if (this.#config) this.#begin();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    this.#look += 1;
  }

  /** Build everything anew, such as after a change of language. */
  refresh() {
    if (!this.#config || !this.isConnected) return;
    this.#keep();
    this.#show();
  }

  #keep(changes = {}) {
    const values = this.#form ? this.#form.values : {};
    this.#form = new ContestForm(this.#config, (plan) => this.#start(plan), { ...values, ...changes });
  }

  #begin() {
    this.#show();
    this.#list();
    if (this.#contest) this.#open(this.#contest.id);
  }

  #show() {
    this.#view = null;
    this.listTitle.textContent = t("lab.earlier");
    if (this.#form) this.replaceChildren(this.#form.element, this.result, this.earlier);
    this.#showContest();
    this.#showList();
  }

  // --- one contest ---------------------------------------------------------------------------------------------------
  /** @param {object} plan */
  async #start(plan) {
    try {
      const seed = Math.floor(Math.random() * 2 ** 32);
      const { id, key } = await this.#config.api("POST", "/api/contests", { ...plan, seed });
      keepKey(id, key);
      await this.#open(id);
      this.#view?.title.focus();
      this.#list();
    } catch (error) {
      this.#form?.complain(problemWords(error));
    }
  }

  /** @param {string} id */
  async #open(id) {
    if (this.#contest?.id !== id) {
      this.#contest = null;
      this.#showContest();
    }
    await this.#watch(id);
  }

  /** Look at a contest, and again as long as it runs. @param {string} id */
  async #watch(id) {
    clearTimeout(this.#timer);
    const look = ++this.#look;
    const known = this.#contest?.games ?? [];
    let pause = OFTEN;
    try {
      const seen = await this.#config.api("GET", `/api/contests/${id}?since=${known.length}`);
      if (look !== this.#look) return;
      const ended = this.#contest?.state === "running" && seen.state !== "running";
      this.#contest = { ...seen, games: [...known, ...seen.games] };
      this.#showContest();
      if (ended) this.#list();
      if (seen.state !== "running") return;
    } catch (error) {
      if (look !== this.#look) return;
      if (!this.#view) return this.#form?.complain(problemWords(error));
      this.#view.complain(problemWords(error));
      pause = SELDOM;
    }
    this.#timer = setTimeout(() => this.#watch(id), pause);
  }

  #showContest() {
    if (!this.#contest) {
      this.#view = null;
      this.result.replaceChildren();
      return;
    }
    if (!this.#view) {
      this.#view = new ContestView((what) => this.#act(what), (game) => this.#replay(game));
      this.result.replaceChildren(this.#view.element);
    }
    this.#view.update(this.#contest);
  }

  /** @param {string} what */
  async #act(what) {
    const id = this.#contest?.id ?? "";
    try {
      await this.#config.api("POST", `/api/contests/${id}/${what}`, undefined, proof(id));
      await this.#watch(id);
      this.#list();
    } catch (error) {
      this.#view?.complain(problemWords(error));
    }
  }

  /** @param {object} detail */
  #replay(detail) {
    this.dispatchEvent(new CustomEvent("replay", { detail, bubbles: true }));
  }

  // --- all contests --------------------------------------------------------------------------------------------------
  async #list() {
    try {
      this.#earlier = await this.#config.api("GET", "/api/contests");
    } catch {
      return; // whoever acts next is told
    }
    const running = this.#earlier.find(({ state }) => state === "running");
    if (running && !this.#contest) this.#open(running.id);
    this.#showList();
  }

  #showList() {
    this.earlier.hidden = !this.#earlier.length;
    this.list.replaceChildren(...this.#earlier.map((contest) => this.#listItem(contest)));
  }

  /** @param {Contest} contest */
  #listItem(contest) {
    const begun = new Date(contest.started).toLocaleString(currentLanguage(), { dateStyle: "medium", timeStyle: "short" });
    const state = t(`lab.state.${contest.state}`);
    const facts = contest.state === "running" ? [begun, state] : [begun, state, t("lab.progress", { played: contest.rounds_played, total: contest.rounds_total })];
    const open = h("button", { class: "lab-open", onclick: () => this.#open(contest.id) },
      h("span", {}, contestName(contest)),
      h("span", { class: "lab-soft" }, facts.join(" · ")));
    const remove = h("button", { class: "lab-round", "aria-label": t("lab.delete", { name: contestName(contest) }) }, "✕");
    remove.disabled = contest.state === "running";
    remove.addEventListener("click", () => this.#delete(contest, remove));
    return h("li", { class: "lab-item" }, open, remove);
  }

  /** The first press asks, the second one deletes. @param {Contest} given @param {HTMLButtonElement} button */
  async #delete({ id }, button) {
    if (button.textContent === "✕") {
      const label = button.ariaLabel;
      button.textContent = button.ariaLabel = t("lab.sure");
      setTimeout(() => Object.assign(button, { textContent: "✕", ariaLabel: label }), SURE);
      return;
    }
    try {
      await this.#config.api("DELETE", `/api/contests/${id}`, undefined, proof(id));
    } catch (error) {
      this.#form?.complain(problemWords(error));
      return;
    }
    if (this.#contest?.id === id) this.#close();
    await this.#list();
    this.listTitle.focus();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#look += 1;
    this.#contest = null;
    this.#showContest();
  }
}

customElements.define("lab-panel", LabPanel);
