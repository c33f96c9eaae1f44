/**
 * <contest-manager>: contests between bots. A form starts one, standings are shown while it runs, its games can be
 * replayed, and earlier contests are listed.
 *
 * `config` is { variant, players: specs to offer, api: async (method, path, body, headers) };
 * the event is `replay` { variant, moves }.
 */
import { ContestForm } from "./contest-form.js";
import { contestName, ContestView } from "./contest-view.js";
import { h } from "./dom.js";
import { formatDate, t } from "./i18n.js";
import { formatError } from "./notices.js";

const POLL_MS = 1000;
const RETRY_MS = 3000; // between requests while the server does not respond
const CONFIRM_MS = 4000; // time for the second press, which deletes the contest
const STORAGE_KEY = "awello.contests"; // for the keys of this browser's contests
const MAX_KEYS = 50;

/** The keys of the contests started by this browser, by id. */
function loadContestKeys() {
  try {
    return new Map(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]"));
  } catch {
    return new Map();
  }
}

/** @param {string} id @param {string} key */
function saveContestKey(id, key) {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([...loadContestKeys(), [id, key]].slice(-MAX_KEYS)));
  } catch {
    // without storage, this browser cannot stop its contests on a public server
  }
}

/** The header that proves that this browser started a contest. @param {string} id */
const ownerHeader = (id) => ({ "x-contest-key": loadContestKeys().get(id) ?? "" });

class ContestManager extends HTMLElement {
  #config = /** @type {ContestManagerConfig} */ (/** @type {unknown} */ (null));
  /** @type {ContestForm | null} */
  #form = null;
  /** @type {ContestView | null} */
  #view = null;
  /** @type {Contest | null} */
  #contest = null; // as last received, with all its games
  /** @type {Contest[]} */
  #contests = [];
  #timer = 0;
  contestBox = h("div", { class: "contest-box" });
  list = h("ul", { class: "contest-list" });
  listTitle = h("h3", { class: "contest-title", tabindex: -1 });
  listBox = h("section", { class: "lab-card" }, this.listTitle, this.list);
  #pollId = 0; // number of the latest poll: responses to earlier ones are ignored

  get config() {
    return this.#config;
  }

  set config(config) {
    const before = this.#config;
    this.#config = config;
    this.#rebuildForm(before?.variant === config.variant ? {} : { game: config.variant });
    if (this.isConnected) this.#refreshAll();
  }

  connectedCallback() {
    if (this.#config) this.#refreshAll();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    this.#pollId += 1;
  }

  /** Rebuild everything, for example in another language. */
  refresh() {
    if (!this.#config || !this.isConnected) return;
    this.#rebuildForm();
    this.#show();
  }

  #rebuildForm(changes = {}) {
    const values = this.#form ? this.#form.values : {};
    this.#form = new ContestForm(this.#config, (plan) => this.#start(plan), { ...values, ...changes });
  }

  #refreshAll() {
    this.#show();
    this.#loadContests();
    if (this.#contest) this.#open(this.#contest.id);
  }

  #show() {
    this.#view = null;
    this.listTitle.textContent = t("contest.all");
    if (this.#form) this.replaceChildren(this.#form.element, this.contestBox, this.listBox);
    this.#showContest();
    this.#showList();
  }

  // --- one contest ---------------------------------------------------------------------------------------------------
  /** @param {object} plan */
  async #start(plan) {
    try {
      const seed = Math.floor(Math.random() * 2 ** 32);
      const { id, key } = await this.#config.api("POST", "/api/contests", { ...plan, seed });
      saveContestKey(id, key);
      await this.#open(id);
      this.#view?.title.focus();
      this.#loadContests();
    } catch (error) {
      this.#form?.showError(formatError(error));
    }
  }

  /** @param {string} id */
  async #open(id) {
    if (this.#contest?.id !== id) {
      this.#contest = null;
      this.#showContest();
    }
    await this.#poll(id);
  }

  /** Load a contest, repeatedly while it runs. @param {string} id */
  async #poll(id) {
    clearTimeout(this.#timer);
    const pollId = ++this.#pollId;
    const known = this.#contest?.games ?? [];
    let pause = POLL_MS;
    try {
      const seen = await this.#config.api("GET", `/api/contests/${id}?after=${known.length}`);
      if (pollId !== this.#pollId) return;
      const ended = this.#contest?.state === "running" && seen.state !== "running";
      this.#contest = { ...seen, games: [...known, ...seen.games] };
      this.#showContest();
      if (ended) this.#loadContests();
      if (seen.state !== "running") return;
    } catch (error) {
      if (pollId !== this.#pollId) return;
      if (!this.#view) return this.#form?.showError(formatError(error));
      this.#view.showError(formatError(error));
      pause = RETRY_MS;
    }
    this.#timer = setTimeout(() => this.#poll(id), pause);
  }

  #showContest() {
    if (!this.#contest) {
      this.#view = null;
      this.contestBox.replaceChildren();
      return;
    }
    if (!this.#view) {
      this.#view = new ContestView((action) => this.#sendCommand(action), (game) => this.#replay(game));
      this.contestBox.replaceChildren(this.#view.element);
    }
    this.#view.update(this.#contest);
  }

  /** @param {string} action */
  async #sendCommand(action) {
    const id = this.#contest?.id ?? "";
    try {
      await this.#config.api("POST", `/api/contests/${id}/${action}`, undefined, ownerHeader(id));
      await this.#poll(id);
      this.#loadContests();
    } catch (error) {
      this.#view?.showError(formatError(error));
    }
  }

  /** @param {object} detail */
  #replay(detail) {
    this.dispatchEvent(new CustomEvent("replay", { detail, bubbles: true }));
  }

  // --- all contests --------------------------------------------------------------------------------------------------
  async #loadContests() {
    try {
      this.#contests = await this.#config.api("GET", "/api/contests");
    } catch {
      return; // the next request reports the error
    }
    const running = this.#contests.find(({ state }) => state === "running");
    if (running && !this.#contest) this.#open(running.id);
    this.#showList();
  }

  #showList() {
    this.listBox.hidden = !this.#contests.length;
    this.list.replaceChildren(...this.#contests.map((contest) => this.#renderListItem(contest)));
  }

  /** @param {Contest} contest */
  #renderListItem(contest) {
    const started = formatDate(contest.started, { dateStyle: "medium", timeStyle: "short" });
    const state = t(`contest.state.${contest.state}`);
    const facts = contest.state === "running" ? [started, state] : [started, state, t("contest.progress", { played: contest.rounds_played, total: contest.rounds_total })];
    const open = h("button", { class: "contest-open", onclick: () => this.#open(contest.id) },
      h("span", {}, contestName(contest)),
      h("span", { class: "lab-muted" }, facts.join(" · ")));
    const remove = h("button", { class: "lab-icon-button", "aria-label": t("contest.delete", { name: contestName(contest) }) }, "✕");
    remove.disabled = contest.state === "running";
    remove.addEventListener("click", () => this.#delete(contest, remove));
    return h("li", { class: "contest-item" }, open, remove);
  }

  /** The first press asks for confirmation, the second deletes. @param {Contest} given @param {HTMLButtonElement} button */
  async #delete({ id }, button) {
    if (button.textContent === "✕") {
      const label = button.ariaLabel;
      button.textContent = button.ariaLabel = t("contest.delete.confirm");
      setTimeout(() => Object.assign(button, { textContent: "✕", ariaLabel: label }), CONFIRM_MS);
      return;
    }
    try {
      await this.#config.api("DELETE", `/api/contests/${id}`, undefined, ownerHeader(id));
    } catch (error) {
      this.#form?.showError(formatError(error));
      return;
    }
    if (this.#contest?.id === id) this.#close();
    await this.#loadContests();
    this.listTitle.focus();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#pollId += 1;
    this.#contest = null;
    this.#showContest();
  }
}

customElements.define("contest-manager", ContestManager);
