/** The lobby: open offers, a form to offer a game, challenges, live games and players online. */
import { renderChallenge } from "./club-bar.js";
import { clubSideName, formatRating, formatTerms } from "./club-text.js";
import { buildFormRow, buildSelect, h, replaceContent } from "./dom.js";
import { variantOptions } from "./game-text.js";
import { currentLanguage, t, withColon } from "./i18n.js";
import { preferredVariant } from "./navigation.js";

/** @type {Record<string, number>} */
const TIME_PRESETS = { blitz: 300, standard: 1800 }; // seconds
const MAX_ROWS = 30; // live games and players

export class ClubLobby {
  /** @param {Club} club @param {ClubTab} tab */
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    this.challengeList = h("div", { class: "club-challenges" });
    this.seeks = h("ul", { id: "club-seeks", class: "club-rows" });
    this.games = h("ul", { id: "club-games", class: "club-rows" });
    this.online = h("div", { id: "club-online", class: "club-names" });
    /** @type {[string, string][]} */
    const times = Object.entries(TIME_PRESETS).map(([name, seconds]) => [name, t(`club.time.${name}`, { minutes: seconds / 60 })]);
    this.variant = buildSelect({ id: "club-variant", onchange: () => this.updateSideOptions() }, variantOptions(), preferredVariant());
    this.time = buildSelect({ id: "club-time", onchange: () => this.toggleMinutes() }, [...times, ["other", t("club.time.other")]]);
    this.minutes = h("input", { id: "club-minutes", type: "number", min: 0.1, max: 240, step: "any", value: 10, inputMode: "decimal" });
    this.increment = h("input", { id: "club-increment", type: "number", min: 0, max: 60, step: "any", value: 0, inputMode: "decimal" });
    this.rated = h("input", { id: "club-rated", type: "checkbox", checked: true });
    this.side = h("select", { id: "club-side" });
    this.name = h("input", { id: "club-opponent", list: "club-online-names", autocomplete: "off", autocapitalize: "off", spellcheck: false, maxLength: 20, placeholder: t("club.opponent.anyone") });
    this.onlineOptions = h("datalist", { id: "club-online-names" });
    this.minutesRow = this.buildFormRow("minutes", this.minutes);
    this.minutesRow.hidden = true;
    this.error = h("p", { id: "club-offer-error", class: "error", role: "alert" });
    this.form = h("details", { class: "disclosure club-form", id: "club-offer" }, h("summary", {}, t("club.offer")),
      h("form", { onsubmit: (event) => this.submit(event) },
        this.buildFormRow("opponent", this.name), this.onlineOptions, this.buildFormRow("variant", this.variant), this.buildFormRow("time", this.time), this.minutesRow,
        this.buildFormRow("increment", this.increment), this.buildFormRow("side", this.side), this.buildFormRow("rated", this.rated), this.error,
        h("div", { class: "buttons" }, h("button", { id: "club-offer-submit", class: "primary" }, t("club.offer.submit")))));
    this.heading = h("h2", {}, t("club.online"));
    this.element = h("section", { "aria-label": t("club.view.lobby") },
      this.challengeList, h("h2", {}, t("club.seeks")), this.seeks, this.form,
      h("h2", {}, t("club.games")), this.games, this.heading, this.online);
    this.drawn = "";
    this.updateSideOptions();
  }

  // ---- the form -----------------------------------------------------------------------------------------------------
  toggleMinutes() {
    this.minutesRow.hidden = this.time.value in TIME_PRESETS;
  }

  /** @param {string} name @param {HTMLElement} control */
  buildFormRow(name, control) {
    return buildFormRow(t(`club.form.${name}`), control);
  }

  updateSideOptions() {
    const { value } = this.side;
    const sides = [["", t("club.side.random")], ...[0, 1].map((side) => [String(side), clubSideName(this.variant.value, side)])];
    this.side.replaceChildren(...sides.map(([side, text]) => h("option", { value: side, selected: side === value }, text)));
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    const seconds = TIME_PRESETS[this.time.value] ?? 60 * Number(this.minutes.value);
    /** @type {Record<string, unknown>} */
    const terms = { variant: this.variant.value, seconds, increment: Number(this.increment.value), rated: this.rated.checked };
    if (this.side.value) terms.side = Number(this.side.value);
    this.error.textContent = await this.club.offer(this.name.value.trim(), terms);
    if (!this.error.textContent) this.name.value = "";
  }

  /** Open the form to challenge a player. @param {string} name */
  prepareChallenge(name) {
    this.form.open = true;
    this.name.value = name;
    this.variant.focus();
  }

  // ---- the lists ----------------------------------------------------------------------------------------------------
  update() {
    const { club } = this;
    const { lobby } = club;
    const drawn = JSON.stringify([lobby, club.name, [...club.blocked], [...club.challenges.keys()], [...club.sent], currentLanguage()]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    this.form.hidden = !club.name;
    replaceContent(this.challengeList, ...[...club.challenges.values()].map((offer) => renderChallenge(club, offer, "lobby")));
    const sent = [...club.sent].map(([number, { name, variant }]) => this.renderOwnOffer(number, `${t("club.challenge.sent", { name })} · ${t(`game.${variant}`)}`));
    const seeks = lobby.seeks.filter(({ from }) => !club.blocked.has(from)).map((offer) => (offer.from === club.name ? this.renderOwnOffer(offer.number, `${t("club.seek.own")} · ${formatTerms(offer)}`) : this.renderSeek(offer)));
    replaceContent(this.seeks, ...sent, ...seeks, sent.length + seeks.length ? null : h("li", { class: "muted" }, t("club.seeks.none")));
    const games = lobby.games.slice(-MAX_ROWS).reverse().map((game) => this.renderGame(game));
    replaceContent(this.games, ...games, games.length ? null : h("li", { class: "muted" }, t("club.games.none")));
    this.heading.textContent = `${t("club.online")} (${lobby.online_count})`;
    replaceContent(this.online, ...lobby.online.slice(0, MAX_ROWS).map((name) => this.renderPlayer(name)));
    this.onlineOptions.replaceChildren(...lobby.online.filter((name) => name !== club.name).map((value) => h("option", { value })));
  }

  /** @param {Offer} offer */
  renderSeek(offer) {
    const { club } = this;
    const side = offer.side === null ? "" : ` · ${t("club.side.yours", { side: clubSideName(offer.variant, 1 - offer.side) })}`;
    const botMark = offer.bot ? ` · ${t("club.bot")}` : "";
    const label = withColon(t("club.accept"), `${offer.from} ${formatRating(offer)} · ${formatTerms(offer)}${side}${botMark}`);
    return h("li", {}, h("button", { id: `club-seek-${offer.number}`, class: "club-row", disabled: !club.name, "aria-label": label, title: club.name ? t("club.accept") : t("club.seek.login"), onclick: () => club.accept(offer.number) },
      h("span", {}, h("strong", {}, offer.from), " ", h("span", { class: "club-number" }, formatRating(offer))), h("span", { class: "club-action" }, club.name ? t("club.accept") : ""), h("small", {}, formatTerms(offer) + side + botMark)));
  }

  /** @param {number} number @param {string} text */
  renderOwnOffer(number, text) {
    return h("li", { class: "club-list-item" }, h("span", {}, text), h("button", { id: `club-withdraw-${number}`, onclick: () => this.club.decline(number) }, t("club.withdraw")));
  }

  /** @param {LobbyGame} given */
  renderGame({ game, variant, players }) {
    const own = players.includes(this.club.name ?? "");
    return h("li", {}, h("button", { id: `club-watch-${game}`, class: "club-row", onclick: () => this.club.show(game) },
      h("strong", {}, players.join(" – ")), h("span", { class: "club-action" }, t(own ? "club.play" : "club.watch")), h("small", {}, t(`game.${variant}`))));
  }

  /** @param {string} name */
  renderPlayer(name) {
    return h("button", { id: `club-online-${name}`, class: "club-chip", onclick: () => this.tab.showPlayer(name) }, name);
  }
}
