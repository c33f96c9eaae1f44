/** A contest: progress, standings, cross table and games. */
import { h } from "./dom.js";
import { currentLanguage, formatSigned, pluralKey, t, withColon } from "./i18n.js";

const PAGE_SIZE = 50;
const ANNOUNCE_INTERVAL_MS = 10000;

/** The name of a contest: its game and bots. @param {Contest} given */
export const contestName = ({ game, players }) => withColon(t(`game.${game}`), players.join(", "));

/** A number in the current language. @param {number} value @param {number} [most] */
const formatNumber = (value, most = 0) => value.toLocaleString(currentLanguage(), { minimumFractionDigits: most, maximumFractionDigits: most });

/** A box that scrolls horizontally, also with the keyboard. @param {string} label @param {Child[]} children */
function buildScrollBox(label, ...children) {
  return h("div", { class: "lab-scroll", tabindex: 0, role: "region", "aria-label": label }, children);
}

/** The view of a contest; `onCommand` is called with "stop" or "resume", `onReplay` with the game to show. */
export class ContestView {
  /** @param {(command: string) => void} onCommand @param {(game: any) => void} onReplay */
  constructor(onCommand, onReplay) {
    this.onReplay = onReplay;
    this.shown = PAGE_SIZE;
    /** @type {Contest | null} */
    this.contest = null;
    this.drawn = ""; // the standings shown, as JSON
    this.announced = "";
    this.announcedAt = 0;
    this.title = h("h3", { class: "contest-title", tabindex: -1 });
    this.state = h("span", { class: "contest-state" });
    this.progress = h("progress", { class: "contest-progress" });
    this.note = h("span", { class: "lab-muted" });
    this.announcement = h("p", { class: "visually-hidden", role: "status" });
    this.stop = h("button", { onclick: () => onCommand("stop") }, t("contest.stop"));
    this.resume = h("button", { class: "primary", onclick: () => onCommand("resume") }, t("contest.resume"));
    this.error = h("p", { class: "lab-error", role: "alert", hidden: true });
    this.standings = buildScrollBox(t("contest.standings"));
    this.crossTable = buildScrollBox(t("contest.cross-table"));
    this.forfeits = h("ul", { class: "contest-forfeits" });
    this.games = h("ol", { class: "contest-games" });
    this.gamesTitle = h("h4", { class: "contest-subtitle" });
    this.more = h("button", { onclick: () => this.#showMore() }, t("contest.more"));
    this.element = this.#build();
  }

  #build() {
    return h(
      "section", { class: "lab-card" },
      h("div", { class: "lab-row contest-head" }, this.title, this.state),
      this.progress,
      h("div", { class: "lab-row" }, this.note, this.stop, this.resume),
      this.announcement, this.error, this.standings, this.forfeits, this.crossTable, this.gamesTitle, this.games, this.more,
    );
  }

  /** Show the current state. @param {Contest} contest */
  update(contest) {
    this.contest = contest;
    this.title.textContent = contestName(contest);
    this.state.textContent = t(`contest.state.${contest.state}`);
    this.state.dataset.state = contest.state;
    this.#showProgress(contest);
    this.showError(contest.message && t("contest.failed", { message: contest.message }));
    const changed = JSON.stringify(contest.standings);
    if (changed !== this.drawn) this.#showTables(contest);
    this.drawn = changed;
    this.#showGames(contest.games);
  }

  /** Show an error, or hide it. */
  showError(message = "") {
    if (this.error.textContent !== message) this.error.textContent = message;
    this.error.hidden = !message;
  }

  /** @param {Contest} given */
  #showProgress({ state, rounds_played: played, rounds_total: total, seconds_left: left }) {
    const running = state === "running";
    const rounds = t("contest.progress", { played, total });
    this.progress.max = total;
    this.progress.value = played;
    this.progress.ariaLabel = rounds;
    const ready = running && !played ? t("contest.preparing") : "";
    this.note.textContent = [rounds, ready || (left === null ? "" : formatTimeLeft(left))].filter(Boolean).join(", ");
    const focused = [this.stop, this.resume].find((button) => button === document.activeElement);
    this.stop.hidden = !running;
    this.resume.hidden = running || state === "finished";
    if (focused?.hidden) this.title.focus();
    this.#announce(running ? rounds : `${t(`contest.state.${state}`)}, ${rounds}`, !running);
  }

  /** Announce progress to screen readers, at intervals unless `now` is set. @param {string} text @param {boolean} now */
  #announce(text, now) {
    if (text === this.announced || (!now && Date.now() < this.announcedAt + ANNOUNCE_INTERVAL_MS)) return;
    this.announcement.textContent = this.announced = text;
    this.announcedAt = Date.now();
  }

  /** @param {Contest} contest */
  #showTables(contest) {
    this.standings.replaceChildren(renderStandings(contest));
    this.crossTable.hidden = contest.players.length < 3;
    this.crossTable.replaceChildren(renderCrossTable(contest));
    this.forfeits.replaceChildren(...renderForfeits(contest));
    this.forfeits.hidden = !this.forfeits.childElementCount;
  }

  /** @param {ContestGame[]} games */
  #showGames(games) {
    this.gamesTitle.textContent = t("contest.games", { games: games.length });
    this.gamesTitle.hidden = !games.length;
    const listed = Number(/** @type {HTMLLIElement | null} */ (this.games.firstElementChild)?.value ?? 0);
    for (const game of games.slice(Math.max(listed, games.length - this.shown))) this.games.prepend(this.#renderGame(game));
    while (this.games.childElementCount > this.shown) this.games.lastElementChild?.remove();
    this.more.hidden = games.length <= this.shown;
  }

  #showMore() {
    const games = this.contest?.games ?? [];
    const from = this.shown;
    this.shown += PAGE_SIZE;
    const older = games.toReversed().slice(from, this.shown);
    this.games.append(...older.map((game) => this.#renderGame(game)));
    this.more.hidden = games.length <= this.shown;
    this.games.children[from].querySelector("button")?.focus();
  }

  /** @param {ContestGame} game */
  #renderGame(game) {
    const { number, round, first, second, score } = game;
    const label = t("contest.replay", { number, round, first, second, one: score[0], other: score[1] });
    /** @param {string} name @param {number} index */
    const side = (name, index) => h("span", { class: score[index] > score[1 - index] ? "contest-side is-winner" : "contest-side" }, name);
    const lost = game.forfeits.find(Boolean);
    const result = h("span", { class: "contest-score" }, `${score[0]}–${score[1]}`);
    const forfeit = lost && h("span", { class: "contest-game-forfeit", title: t("contest.forfeit.detail", { message: lost[1] }) }, `⚑ ${t(`contest.forfeit.${lost[0]}`)}`);
    const show = () => this.onReplay({ variant: this.contest?.game, moves: game.moves });
    const button = h("button", { class: "contest-game", "aria-label": label, onclick: show },
      h("span", { class: "lab-muted" }, String(number)), side(first, 0), result, side(second, 1), forfeit);
    return h("li", { value: number }, button);
  }
}

/** @param {number} seconds */
function formatTimeLeft(seconds) {
  return seconds < 90 ? t("contest.seconds-left", { seconds: Math.ceil(seconds) }) : t("contest.minutes-left", { minutes: Math.round(seconds / 60) });
}

/** @param {string} caption @param {string[]} columns @param {Child[]} rows */
function renderTable(caption, columns, rows) {
  const head = columns.map((name) => h("th", { scope: "col" }, name));
  return h("table", { class: "contest-table" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
}

/** @param {string} name @param {Child[]} cells */
const renderRow = (name, cells) => h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", {}, cell)));

/** @param {Contest} given */
function renderStandings({ standings }) {
  const columns = ["bot", "points", "outcomes", "mean", "elo", "move-time", "forfeits"].map((name) => t(`contest.column.${name}`));
  const rows = standings.map((bot, index) => {
    const { wins, draws, losses } = bot.rounds;
    const forfeits = Object.values(bot.forfeits).reduce((sum, count) => sum + count, 0);
    const elo = bot.games ? `${formatSigned(bot.elo)} ± ${formatNumber(bot.elo_margin)}` : "–";
    const known = bot.games ? [formatNumber(bot.mean_score, 1), elo, formatNumber(bot.mean_ms, bot.mean_ms < 10 ? 1 : 0)] : ["–", "–", "–"];
    return renderRow(`${index + 1}. ${bot.bot}`, [formatNumber(bot.points), `${wins}–${draws}–${losses}`, ...known, formatNumber(forfeits)]);
  });
  return renderTable(t("contest.standings"), columns, rows);
}

/** @param {Contest} given */
function renderCrossTable({ standings, pairings }) {
  const results = new Map();
  for (const { first, second, wins, draws, losses } of pairings) {
    results.set(`${first} ${second}`, `${wins}–${draws}–${losses}`);
    results.set(`${second} ${first}`, `${losses}–${draws}–${wins}`);
  }
  const bots = standings.map(({ bot }) => bot);
  const columns = [t("contest.column.bot"), ...bots.map((_, index) => String(index + 1))];
  const rows = bots.map((one, index) => renderRow(`${index + 1}. ${one}`, bots.map((other) => results.get(`${one} ${other}`) ?? "·")));
  return renderTable(t("contest.cross-table"), columns, rows);
}

/** @param {Contest} given */
function renderForfeits({ standings }) {
  return standings.flatMap(({ bot, forfeits, messages }) =>
    Object.entries(forfeits).map(([reason, count]) => {
      const games = t(`games.count.${pluralKey(count)}`, { games: formatNumber(count) });
      return h("li", {}, t("contest.forfeited", { bot, games, reason: t(`contest.forfeit.${reason}`), message: messages[reason] }));
    }));
}
