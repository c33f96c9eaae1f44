/** A tournament: its terms, the user's pairing, the standings and the pairings of each round. */
import { formatSystem, formatTournamentTerms } from "./club-text.js";
import { h } from "./dom.js";
import { currentLanguage, pluralKey, t, withColon } from "./i18n.js";

/** @type {("points" | "buchholz" | "sonneborn_berger" | "wins")[]} */
const COLUMNS = ["points", "buchholz", "sonneborn_berger", "wins"];

/** @param {number} value */
const formatNumber = (value) => value.toLocaleString(currentLanguage(), { maximumFractionDigits: 2 });
/** @param {number} value */
const formatPoints = (value) => (value === 0.5 ? "½" : formatNumber(value));

/**
 * All elements of a tournament; `view` provides the buttons and the club's state.
 * @param {Tournament} details
 * @param {ClubTournaments} view
 */
export function renderTournament(details, view) {
  const { name, tournament: number, state, entrants } = details;
  return [
    h("h2", { id: "tournament-name" }, name),
    h("p", { class: "muted" }, `${formatTournamentTerms(details)} · ${formatSystem(details)} · ${t(`club.entrants.${pluralKey(entrants)}`, { count: entrants })}`),
    h("p", { id: "tournament-state" }, h("strong", {}, ...(state === "ended" ? [t("club.tournament.ended"), " · "] : []), ...view.renderState(details))),
    ...renderOwnStatus(details, view),
    ...(state === "open" || state === "cancelled" ? renderEntrants(details, view) : [renderStandings(details, view), h("p", { class: "muted" }, t("club.standings.about"))]),
    ...renderRounds(details, view),
    h("p", {}, h("a", { id: "tournament-link", href: `#club/tournament/${number}` }, t("club.tournament.link"))),
  ];
}

/** The user's pairing, or the buttons to enter. @param {Tournament} details @param {ClubTournaments} view */
function renderOwnStatus(details, view) {
  const { state, round, pairings, grace } = details;
  const { name } = view.club;
  const mine = state === "playing" && name ? pairings.find((pairing) => pairing.round === round && (pairing.first === name || pairing.second === name)) : null;
  if (mine) return [h("div", { id: "tournament-own-pairing", class: "club-own-pairing" }, ...renderOwnPairing(mine, view))];
  if (state !== "open") return [];
  const text = name ? (view.entered.has(details.tournament) ? t("club.tournament.entered.about", { minutes: formatNumber(grace / 60) }) : "") : t("club.tournaments.login");
  return [text && h("p", { class: "muted" }, text), h("div", { class: "buttons" }, name ? view.renderEntryButton(details) : view.renderLoginButton())].filter(Boolean);
}

/** @param {Pairing} given @param {ClubTournaments} more */
function renderOwnPairing({ round, first, second, game, points: gained }, { club }) {
  if (second === null) return [h("strong", {}, t("club.round.bye", { round }))];
  const text = h("strong", {}, t("club.round.against", { round, name: first === club.name ? second : first }));
  if (gained) return [text];
  return [text, game ? h("button", { id: "tournament-play", class: "primary", onclick: () => club.show(game) }, t("club.play")) : h("span", { class: "muted" }, t("club.pairing.waiting"))];
}

/**
 * A button with a player's name, which opens the profile; its id keeps the focus on it after an update.
 * @param {string} id
 * @param {string} name
 * @param {ClubTournaments} view
 */
const renderName = (id, name, view) => h("button", { id: `${id}-${name}`, class: "plain club-name", onclick: () => view.tab.showPlayer(name) }, name);

/** The players who have entered, before the start. @param {Tournament} given @param {ClubTournaments} view */
function renderEntrants({ standings: rows }, view) {
  if (!rows.length) return [];
  return [h("h2", {}, t("club.tournament.entrants")), h("div", { id: "tournament-entrants", class: "club-names" }, ...rows.map(({ name }) => h("button", { id: `entrant-${name}`, class: "club-chip", onclick: () => view.tab.showPlayer(name) }, name)))];
}

/** @param {Tournament} given @param {ClubTournaments} view */
function renderStandings({ standings: rows }, view) {
  /** @param {string} name */
  const head = (name) => h("th", { scope: "col" }, h("abbr", { title: t(`club.standings.${name}.long`) }, t(`club.standings.${name}`)));
  /** @param {TournamentRow} each */
  const row = (each) => h("tr", { class: each.name === view.club.name ? "is-current" : "" },
    h("td", {}, String(each.rank)),
    h("th", { scope: "row" }, renderName("standing", each.name, view), each.bot ? h("small", {}, t("club.bot")) : null),
    ...COLUMNS.map((column) => h("td", {}, formatNumber(each[column]))));
  return h("table", { class: "summary club-table club-standings", id: "tournament-standings" },
    h("caption", { class: "visually-hidden" }, t("club.standings")),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("club.leaderboard.rank")), h("th", { scope: "col" }, t("club.leaderboard.player")), ...COLUMNS.map(head))),
    h("tbody", {}, ...rows.map(row)));
}

/**
 * The pairings, latest round first; only that round is open unless the user has opened or closed others.
 * @param {Tournament} given
 * @param {ClubTournaments} view
 */
function renderRounds({ pairings, round: last }, view) {
  const numbers = [...new Set(pairings.map(({ round }) => round))].reverse();
  return numbers.map((round) => {
    const rows = pairings.filter((pairing) => pairing.round === round).map((pairing) => renderPairing(pairing, view));
    /** @type {HTMLDetailsElement} */
    const box = h("details", { id: `round-${round}`, class: "disclosure club-round", open: view.roundToggles.get(round) ?? round === last },
      h("summary", { id: `round-title-${round}`, onclick: () => view.roundToggles.set(round, !box.open) }, t("club.round", { round })), h("ol", { class: "club-rows" }, ...rows));
    return box;
  });
}

/** @param {Pairing} pairing @param {ClubTournaments} view */
function renderPairing(pairing, view) {
  const { round, board, second, game, points: gained } = pairing;
  const names = [pairing.first, ...(pairing.second ? [pairing.second] : [])];
  const label = gained ? "club.open" : names.includes(view.club.name ?? "") ? "club.play" : "club.watch";
  return h("li", { class: "club-pairing" },
    h("span", { class: "club-board", title: t("club.board", { board }) }, String(board)),
    h("span", { class: "club-pairing-players" }, renderName(`pairing-${round}`, names[0], view), ...(second ? [h("span", {}, " – "), renderName(`pairing-${round}`, second, view)] : [])),
    h("span", { class: "club-number" }, formatPairingResult(pairing)),
    game ? h("button", { id: `pairing-game-${game}`, "aria-label": withColon(t(label), names.join(" – ")), onclick: () => view.club.show(game) }, t(label)) : null);
}

/** The result of a pairing, such as "1 – 0". @param {Pairing} given */
function formatPairingResult({ second, game, points: gained, forfeit }) {
  if (second === null) return t("club.bye");
  if (!gained) return game ? "" : t("club.pairing.waiting"); // the button shows that it is in progress
  const result = gained.map(formatPoints).join(" – ");
  return forfeit ? `${result} · ${t("club.forfeit")}` : result;
}
