/** The user's bots: create one, create a token for it, revoke it. */
import { formatClubError } from "./club-text.js";
import { h } from "./dom.js";
import { formatDate, t, withColon } from "./i18n.js";
import { announce } from "./notices.js";
import { api } from "./server.js";

export class ClubBots {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.name = h("input", { id: "bot-name", autocomplete: "off", autocapitalize: "off", spellcheck: false, maxLength: 20, required: true });
    this.error = h("p", { id: "bot-error", class: "error", role: "alert" });
    this.list = h("div", { id: "bots" });
    this.element = h("section", { "aria-label": t("club.view.bots") },
      h("p", { class: "muted" }, t("club.bots.about")), this.error, this.list,
      h("h2", {}, t("club.bots.new")),
      h("form", { class: "inline-form", onsubmit: (event) => this.createBot(event) },
        h("label", { htmlFor: "bot-name" }, t("club.name")), this.name, h("button", { id: "bot-create" }, t("club.bots.create"))));
  }

  /** Run a task and show its error. @param {() => Promise<void>} work */
  async run(work) {
    this.error.textContent = "";
    try {
      await work();
    } catch (error) {
      this.error.textContent = formatClubError(error);
    }
  }

  load() {
    return this.run(async () => {
      const bots = await api("GET", "/api/club/bots");
      const tokens = await Promise.all(bots.map((/** @type {{ name: string }} */ { name }) => api("GET", `/api/club/bots/${name}/tokens`)));
      this.list.replaceChildren(...bots.map((/** @type {{ name: string }} */ { name }, /** @type {number} */ index) => this.renderBot(name, tokens[index])));
    });
  }

  /** @param {Event} event */
  async createBot(event) {
    event.preventDefault();
    await this.run(async () => {
      await api("POST", "/api/club/bots", { name: this.name.value.trim() });
      this.name.value = "";
      await this.load();
    });
  }

  /** @param {string} name @param {Token[]} tokens */
  renderBot(name, tokens) {
    const rows = h("ul", { class: "club-rows" }, ...tokens.map((token) => this.renderToken(name, token)));
    const label = h("input", { id: `token-label-${name}`, autocomplete: "off", spellcheck: false, maxLength: 60, required: true, placeholder: t("club.token.example") });
    const tokenBox = h("div", { class: "club-token", role: "status" });
    return h("article", { class: "club-card" }, h("h3", {}, name),
      rows,
      h("form", { class: "inline-form", onsubmit: (event) => this.createToken(event, name, { rows, label, tokenBox }) },
        h("label", { htmlFor: label.id }, t("club.token.label")), label, h("button", { id: `token-create-${name}` }, t("club.token.create"))),
      tokenBox);
  }

  /** @param {string} name @param {Token} token */
  renderToken(name, { id, label, created }) {
    const when = formatDate(1000 * created, { dateStyle: "short" });
    return h("li", { class: "club-list-item" }, h("span", {}, label, " ", h("small", {}, when)),
      h("button", { id: `token-revoke-${id}`, "aria-label": withColon(t("club.token.revoke"), label), onclick: () => this.run(async () => {
        await api("DELETE", `/api/club/bots/${name}/tokens/${id}`);
        await this.load();
      }) }, t("club.token.revoke")));
  }

  /**
   * Show a new token once, with instructions.
   * @param {Event} event
   * @param {string} name
   * @param {{ rows: HTMLElement, label: HTMLInputElement, tokenBox: HTMLElement }} parts
   */
  async createToken(event, name, { rows, label, tokenBox }) {
    event.preventDefault();
    await this.run(async () => {
      const { token } = await api("POST", `/api/club/bots/${name}/tokens`, { label: label.value.trim() });
      label.value = "";
      const tokens = await api("GET", `/api/club/bots/${name}/tokens`);
      rows.replaceChildren(...tokens.map((/** @type {Token} */ one) => this.renderToken(name, one)));
      const text = h("input", { id: `token-value-${name}`, class: "club-token-value", readOnly: true, value: token, "aria-label": t("club.token") });
      const copy = h("button", { id: `token-copy-${name}`, onclick: () => copyFrom(text) }, t("club.token.copy"));
      tokenBox.replaceChildren(
        h("p", {}, t("club.token.once")), h("div", { class: "club-token-row" }, text, copy),
        h("p", { class: "muted" }, t("club.token.use")), h("code", {}, `AWELLO_TOKEN=… awello bot champion@level=6 --server ${location.origin}`));
    });
  }
}

/** Copy a field, or select it if the clipboard is not available. @param {HTMLInputElement} field */
async function copyFrom(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    announce(t("export.copied"));
    if (field.nextElementSibling) field.nextElementSibling.textContent = t("export.copied");
  } catch {
    document.execCommand("copy");
  }
}
