/** Chat with the opponent: off by default; messages are kept only while the page is open. */
import { formatClubError } from "./club-text.js";
import { byId, h } from "./dom.js";
import { t, withColon } from "./i18n.js";
import { announce, showNotice } from "./notices.js";
import { saveSetting, settings } from "./settings.js";
import { notifyChange, state } from "./store.js";

const MAX_MESSAGE_CHARS = 200; // as on the server
const MAX_MESSAGES = 100; // shown per game

/** The messages of the user's games. */
export class ClubChat {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    /** @type {Map<number, ChatMessage[]>} */
    this.messages = new Map(); // game number → messages
  }

  /** Turn the delivery of messages on or off on the server. */
  sendSetting() {
    if (this.club.name && this.club.connection.online) this.club.connection.request("set_chat", { enabled: settings.chat }).catch(() => {});
  }

  /** @param {boolean} on */
  setEnabled(on) {
    saveSetting("chat", on);
    this.sendSetting();
    notifyChange("club");
  }

  /** @param {number} number @param {string} text */
  async send(number, text) {
    await this.club.connection.request("chat", { game: number, text });
    this.addMessage(number, { by: this.club.name ?? "", text });
  }

  /** @param {{ game: number } & ChatMessage} given */
  handleMessage({ game, by, text }) {
    this.addMessage(game, { by, text });
    if (this.isLogVisible(game) || by === this.club.name) return; // the visible log announces new messages itself
    announce(withColon(by, text));
    showNotice(withColon(by, text), false);
  }

  /** @param {number} number @param {ChatMessage} message */
  addMessage(number, message) {
    this.messages.set(number, [...(this.messages.get(number) ?? []), message].slice(-MAX_MESSAGES));
  }

  /** @param {number} number */
  isLogVisible(number) {
    const box = byId("chat-log");
    if (state.game?.clubGame?.number !== number || !box?.checkVisibility()) return false;
    const { top, bottom } = box.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }
}

/** The chat beside the board: checkbox, log and input. */
export class ChatBox {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.number = 0; // of the game
    /** @type {ChatMessage[]} */
    this.shown = []; // messages in the log
    this.on = h("input", { id: "chat-on", type: "checkbox", onchange: (event) => club.chat.setEnabled(event.target.checked) });
    this.label = h("label", { htmlFor: "chat-on" });
    this.log = h("div", { id: "chat-log", class: "chat-log", role: "log", tabIndex: 0, "aria-label": t("club.chat.log") });
    this.text = h("input", { id: "chat-text", autocomplete: "off", maxLength: MAX_MESSAGE_CHARS, enterKeyHint: "send", "aria-describedby": "chat-error" });
    this.error = h("p", { id: "chat-error", class: "error", role: "alert" });
    this.conversation = h("div", {},
      this.log,
      h("form", { class: "inline-form", onsubmit: (event) => this.submit(event) }, h("label", { htmlFor: "chat-text" }, t("club.chat.text")), this.text, h("button", { id: "chat-send" }, t("club.chat.send"))),
      this.error);
    this.element = h("div", { class: "chat", id: "chat" }, h("div", { class: "chat-switch" }, this.on, this.label), this.conversation);
  }

  /** @param {ClubGame} game */
  update(game) {
    const { club } = this;
    this.element.hidden = game.ownSide === null || !club.seenGames.has(game.number);
    if (this.element.hidden) return;
    const { name } = game.state.players[1 - (game.ownSide ?? 0)];
    this.label.textContent = t("club.chat", { name });
    this.on.checked = settings.chat;
    this.conversation.hidden = !settings.chat;
    if (this.number !== game.number) this.reset(game.number, name);
    this.showLines(club.chat.messages.get(game.number) ?? []);
  }

  /** Start with an empty log for another game. @param {number} number @param {string} name */
  reset(number, name) {
    this.number = number;
    this.shown = [];
    this.error.textContent = "";
    this.log.replaceChildren(h("p", { class: "muted" }, t("club.chat.about", { name })));
  }

  /** Add new messages, always as plain text. @param {ChatMessage[]} lines */
  showLines(lines) {
    const newLines = lines.filter((line) => !this.shown.includes(line));
    if (!newLines.length) return;
    if (!this.shown.length) this.log.replaceChildren();
    this.shown = lines;
    this.log.append(...newLines.map(({ by, text }) => h("p", {}, h("strong", {}, by), " ", h("bdi", {}, text))));
    while (this.log.children.length > lines.length) this.log.firstChild?.remove();
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (!text) return;
    this.error.textContent = "";
    try {
      await this.club.chat.send(this.number, text);
      if (this.text.value.trim() === text) this.text.value = "";
      notifyChange("club");
    } catch (error) {
      this.error.textContent = formatClubError(error);
    }
  }
}
