/** Words between us and the other player: off until we turn them on, and gone when the page is. */
import { clubProblem } from "./club-words.js";
import { byId, h } from "./dom.js";
import { note, say } from "./notices.js";
import { saveSetting, settings } from "./settings.js";
import { changed, state } from "./store.js";
import { t } from "./words.js";

const LONGEST = 200; // characters of a line, as the club has it
const KEPT = 100; // lines of a game that are shown

/** What is said in our games, as long as the page is open. */
export class ClubChat {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    /** @type {Map<number, ChatLine[]>} */
    this.said = new Map(); // number of a game → [{ by, text }]
  }

  /** Tell the club whether we listen; nobody does until then. */
  tell() {
    if (this.club.name && this.club.channel.online) this.club.channel.ask("chat", { subscribe: settings.chat }).catch(() => {});
  }

  /** @param {boolean} on */
  turn(on) {
    saveSetting("chat", on);
    this.tell();
    changed("club");
  }

  /** @param {number} number @param {string} text */
  async send(number, text) {
    await this.club.channel.ask("say", { game: number, text });
    this.add(number, { by: this.club.name ?? "", text });
  }

  /** @param {{ game: number } & ChatLine} given */
  hear({ game, by, text }) {
    this.add(game, { by, text });
    if (this.inSight(game) || by === this.club.name) return; // the log speaks for itself
    say(`${by}: ${text}`);
    note(`${by}: ${text}`, false);
  }

  /** @param {number} number @param {ChatLine} line */
  add(number, line) {
    this.said.set(number, [...(this.said.get(number) ?? []), line].slice(-KEPT));
  }

  /** @param {number} number */
  inSight(number) {
    const box = byId("chat-log");
    if (state.game?.club?.number !== number || !box?.checkVisibility()) return false;
    const { top, bottom } = box.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }
}

/** Beside the board: the switch, what was said, and a line to write. */
export class ChatBox {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.number = 0; // of the game
    this.name = ""; // of the other player
    /** @type {ChatLine[]} */
    this.shown = []; // the lines in the log
    this.on = h("input", { id: "chat-on", type: "checkbox", onchange: (event) => club.chat.turn(event.target.checked) });
    this.label = h("label", { htmlFor: "chat-on" });
    this.log = h("div", { id: "chat-log", class: "chat-log", role: "log", tabIndex: 0, "aria-label": t("club.chat.log") });
    this.text = h("input", { id: "chat-text", autocomplete: "off", maxLength: LONGEST, enterKeyHint: "send", "aria-describedby": "chat-problem" });
    this.problem = h("p", { id: "chat-problem", class: "bad", role: "alert" });
    this.room = h("div", {},
      this.log,
      h("form", { class: "typed", onsubmit: (event) => this.submit(event) }, h("label", { htmlFor: "chat-text" }, t("club.chat.text")), this.text, h("button", { id: "chat-send" }, t("club.chat.send"))),
      this.problem);
    this.element = h("div", { class: "chat", id: "chat" }, h("div", { class: "chat-switch" }, this.on, this.label), this.room);
  }

  /** @param {ClubGame} game */
  update(game) {
    const { club } = this;
    this.element.hidden = game.mine === null || !club.seen.has(game.number);
    if (this.element.hidden) return;
    const { name } = game.state.players[1 - (game.mine ?? 0)];
    this.label.textContent = t("club.chat", { name });
    this.on.checked = settings.chat;
    this.room.hidden = !settings.chat;
    if (this.number !== game.number) this.forget(game.number, name);
    this.showLines(club.chat.said.get(game.number) ?? []);
  }

  /** Another game: an empty log, and what there is to know. @param {number} number @param {string} name */
  forget(number, name) {
    this.number = number;
    this.name = name;
    this.shown = [];
    this.problem.textContent = "";
    this.log.replaceChildren(h("p", { class: "soft" }, t("club.chat.about", { name })));
  }

  /** Add what is new; the text is text, whatever is in it. @param {ChatLine[]} lines */
  showLines(lines) {
    const fresh = lines.filter((line) => !this.shown.includes(line));
    if (!fresh.length) return;
    if (!this.shown.length) this.log.replaceChildren();
    this.shown = lines;
    this.log.append(...fresh.map(({ by, text }) => h("p", {}, h("strong", {}, by), " ", h("bdi", {}, text))));
    while (this.log.children.length > lines.length) this.log.firstChild?.remove();
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (!text) return;
    this.problem.textContent = "";
    try {
      await this.club.chat.send(this.number, text);
      if (this.text.value.trim() === text) this.text.value = "";
      changed("club");
    } catch (error) {
      this.problem.textContent = clubProblem(error);
    }
  }
}
