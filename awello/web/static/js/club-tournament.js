/** A tournament opened: what it is, what is ours in it, the standings, and who plays whom in each round. */
import { systemWords, tournamentWords } from "./club-words.js";
import { h } from "./dom.js";
import { currentLanguage, t } from "./words.js";

/** @type {("points" | "buchholz" | "berger" | "wins")[]} */
const COLUMNS = ["points", "buchholz", "berger", "wins"];

/** @param {number} value */
const figure = (value) => value.toLocaleString(currentLanguage(), { maximumFractionDigits: 2 });
/** @param {number} value */
const points = (value) => (value === 0.5 ? "½" : figure(value));

/**
 * All that is shown of a tournament; the view has the buttons and knows who we are.
 * @param {Tournament} whole
 * @param {ClubTournaments} view
 */
export function wholeTournament(whole, view) {
  const { name, tournament: number, state, entrants } = whole;
  return [
    h("h2", { id: "tournament-name" }, name),
    h("p", { class: "soft" }, `${tournamentWords(whole)} · ${systemWords(whole)} · ${t(entrants === 1 ? "club.entrants.one" : "club.entrants", { count: entrants })}`),
    h("p", { id: "tournament-state" }, h("strong", {}, ...(state === "ended" ? [t("club.ended"), " · "] : []), ...view.stateParts(whole))),
    ...own(whole, view),
    ...(state === "open" || state === "cancelled" ? entered(whole, view) : [standings(whole, view), h("p", { class: "soft" }, t("club.standings.about"))]),
    ...rounds(whole, view),
    h("p", {}, h("a", { id: "tournament-link", href: `#club/tournament/${number}` }, t("club.tournament.link"))),
  ];
}

/** What we can do in it, and what we have to do. @param {Tournament} whole @param {ClubTournaments} view */
function own(whole, view) {
  const { state, round, pairings, grace } = whole;
  const { name } = view.club;
  const mine = state === "playing" && name ? pairings.find((pairing) => pairing.round === round && (pairing.first === name || pairing.second === name)) : null;
  if (mine) return [h("div", { id: "tournament-mine", class: "club-own" }, ...ownPairing(mine, view))];
  if (state !== "open") return [];
  const words = name ? (view.entered.has(whole.tournament) ? t("club.tournament.stay", { minutes: figure(grace / 60) }) : "") : t("club.tournaments.login");
  return [words && h("p", { class: "soft" }, words), h("div", { class: "buttons" }, name ? view.enterButton(whole) : view.loginButton())].filter(Boolean);
}

/** @param {Pairing} given @param {ClubTournaments} more */
function ownPairing({ round, first, second, game, points: gained }, { club }) {
  if (second === null) return [h("strong", {}, t("club.round.bye", { round }))];
  const words = h("strong", {}, t("club.round.against", { round, name: first === club.name ? second : first }));
  if (gained) return [words];
  return [words, game ? h("button", { id: "tournament-play", class: "primary", onclick: () => club.show(game) }, t("club.play")) : h("span", { class: "soft" }, t("club.pairing.waiting"))];
}

/**
 * A name that leads to the profile; the id keeps the focus there when something changes.
 * @param {string} id
 * @param {string} name
 * @param {ClubTournaments} view
 */
const nameButton = (id, name, view) => h("button", { id: `${id}-${name}`, class: "plain club-name", onclick: () => view.tab.showPlayer(name) }, name);

/** Who has entered, where nothing was played. @param {Tournament} given @param {ClubTournaments} view */
function entered({ standings: rows }, view) {
  if (!rows.length) return [];
  return [h("h2", {}, t("club.entered")), h("div", { id: "tournament-entered", class: "club-members" }, ...rows.map(({ name }) => h("button", { id: `entered-${name}`, class: "club-chip", onclick: () => view.tab.showPlayer(name) }, name)))];
}

/** @param {Tournament} given @param {ClubTournaments} view */
function standings({ standings: rows }, view) {
  /** @param {string} name */
  const head = (name) => h("th", { scope: "col" }, h("abbr", { title: t(`club.standings.${name}.long`) }, t(`club.standings.${name}`)));
  /** @param {TournamentRow} each */
  const row = (each) => h("tr", { class: each.name === view.club.name ? "here" : "" },
    h("td", {}, String(each.rank)),
    h("th", { scope: "row" }, nameButton("standing", each.name, view), each.bot ? h("small", {}, t("club.program")) : null),
    ...COLUMNS.map((column) => h("td", {}, figure(each[column]))));
  return h("table", { class: "summary club-table club-standings", id: "tournament-standings" },
    h("caption", { class: "unseen" }, t("club.standings")),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("club.ladder.place")), h("th", { scope: "col" }, t("club.ladder.player")), ...COLUMNS.map(head))),
    h("tbody", {}, ...rows.map(row)));
}

/**
 * The pairings, the last round first; it is the one that is open unless somebody chose otherwise.
 * @param {Tournament} given
 * @param {ClubTournaments} view
 */
function rounds({ pairings, round: last }, view) {
  const numbers = [...new Set(pairings.map(({ round }) => round))].reverse();
  return numbers.map((round) => {
    const rows = pairings.filter((pairing) => pairing.round === round).map((pairing) => pairingRow(pairing, view));
    /** @type {HTMLDetailsElement} */
    const box = h("details", { id: `round-${round}`, class: "more club-round", open: view.unfolded.get(round) ?? round === last },
      h("summary", { id: `round-title-${round}`, onclick: () => view.unfolded.set(round, !box.open) }, t("club.round", { round })), h("ol", { class: "club-rows" }, ...rows));
    return box;
  });
}

/** @param {Pairing} pairing @param {ClubTournaments} view */
function pairingRow(pairing, view) {
  const { round, board, second, game, points: gained } = pairing;
  const names = [pairing.first, ...(pairing.second ? [pairing.second] : [])];
  const does = gained ? "club.open" : names.includes(view.club.name ?? "") ? "club.play" : "club.watch";
  return h("li", { class: "club-pairing" },
    h("span", { class: "club-board", title: t("club.board", { board }) }, String(board)),
    h("span", { class: "club-pair" }, nameButton(`pairing-${round}`, names[0], view), ...(second ? [h("span", {}, " – "), nameButton(`pairing-${round}`, second, view)] : [])),
    h("span", { class: "club-rating" }, resultWords(pairing)),
    game ? h("button", { id: `pairing-game-${game}`, "aria-label": `${t(does)}: ${names.join(" – ")}`, onclick: () => view.club.show(game) }, t(does)) : null);
}

/** What came of a pairing, such as "1 – 0". @param {Pairing} given */
function resultWords({ second, game, points: gained, forfeit }) {
  if (second === null) return t("club.bye");
  if (!gained) return game ? "" : t("club.pairing.waiting"); // the button says that it is played
  const result = gained.map(points).join(" – ");
  return forfeit ? `${result} · ${t("club.forfeit")}` : result;
}
