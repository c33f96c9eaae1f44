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
    this.title = h("h3", { class: "lab-title", tabindex: -1 });
    this.state = h("span", { class: "lab-state" });
    this.progress = h("progress", { class: "lab-progress" });
    this.note = h("span", { class: "lab-muted" });
    this.announcement = h("p", { class: "visually-hidden", role: "status" });
    this.stop = h("button", { onclick: () => onCommand("stop") }, t("lab.stop"));
    this.resume = h("button", { class: "primary", onclick: () => onCommand("resume") }, t("lab.resume"));
    this.error = h("p", { class: "lab-error", role: "alert", hidden: true });
    this.standings = buildScrollBox(t("lab.standings"));
    this.cross = buildScrollBox(t("lab.cross"));
    this.forfeits = h("ul", { class: "lab-forfeits" });
    this.games = h("ol", { class: "lab-games" });
    this.gamesTitle = h("h4", { class: "lab-subtitle" });
    this.more = h("button", { onclick: () => this.#showMore() }, t("lab.more"));
    this.element = this.#build();
  }

  #build() {
    return h(
      "section", { class: "lab-card lab-contest" },
      h("div", { class: "lab-row lab-head" }, this.title, this.state),
      this.progress,
      h("div", { class: "lab-row" }, this.note, this.stop, this.resume),
      this.announcement, this.error, this.standings, this.forfeits, this.cross, this.gamesTitle, this.games, this.more,
    );
  }

  /** Show the current state. @param {Contest} contest */
  update(contest) {
    this.contest = contest;
    this.title.textContent = contestName(contest);
    this.state.textContent = t(`lab.state.${contest.state}`);
    this.state.dataset.state = contest.state;
    this.#showProgress(contest);
    this.showError(contest.message && t("lab.failed", { message: contest.message }));
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
    const rounds = t("lab.progress", { played, total });
    this.progress.max = total;
    this.progress.value = played;
    this.progress.ariaLabel = rounds;
    const ready = running && !played ? t("lab.ready") : "";
    this.note.textContent = [rounds, ready || (left === null ? "" : formatTimeLeft(left))].filter(Boolean).join(", ");
    const focused = [this.stop, this.resume].find((button) => button === document.activeElement);
    this.stop.hidden = !running;
    this.resume.hidden = running || state === "finished";
    if (focused?.hidden) this.title.focus();
    this.#announce(running ? rounds : `${t(`lab.state.${state}`)}, ${rounds}`, !running);
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
    this.cross.hidden = contest.players.length < 3;
    this.cross.replaceChildren(renderCrossTable(contest));
    this.forfeits.replaceChildren(...renderForfeits(contest));
    this.forfeits.hidden = !this.forfeits.childElementCount;
  }

  /** @param {ContestGame[]} games */
  #showGames(games) {
    this.gamesTitle.textContent = t("lab.games", { games: games.length });
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
    const label = t("lab.replay", { number, round, first, second, one: score[0], other: score[1] });
    /** @param {string} name @param {number} index */
    const side = (name, index) => h("span", { class: score[index] > score[1 - index] ? "lab-side is-winner" : "lab-side" }, name);
    const lost = game.forfeits.find(Boolean);
    const result = h("span", { class: "lab-score" }, `${score[0]}–${score[1]}`);
    const flag = lost && h("span", { class: "lab-flag", title: t("lab.forfeit.detail", { message: lost[1] }) }, `⚑ ${t(`lab.forfeit.${lost[0]}`)}`);
    const show = () => this.onReplay({ variant: this.contest?.game, moves: game.moves });
    const button = h("button", { class: "lab-game", "aria-label": label, onclick: show },
      h("span", { class: "lab-muted" }, String(number)), side(first, 0), result, side(second, 1), flag);
    return h("li", { value: number }, button);
  }
}

/** @param {number} seconds */
function formatTimeLeft(seconds) {
  return seconds < 90 ? t("lab.seconds_left", { seconds: Math.ceil(seconds) }) : t("lab.minutes_left", { minutes: Math.round(seconds / 60) });
}

/** @param {string} caption @param {string[]} columns @param {Child[]} rows */
function renderTable(caption, columns, rows) {
  const head = columns.map((name) => h("th", { scope: "col" }, name));
  return h("table", { class: "lab-table" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
}

/** @param {string} name @param {Child[]} cells */
const renderRow = (name, cells) => h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", {}, cell)));

/** @param {Contest} given */
function renderStandings({ standings }) {
  const columns = ["bot_column", "points", "outcomes", "mean", "elo", "ms", "forfeits"].map((key) => t(`lab.${key}`));
  const rows = standings.map((bot, index) => {
    const { wins, draws, losses } = bot.rounds;
    const forfeits = Object.values(bot.forfeits).reduce((sum, count) => sum + count, 0);
    const elo = bot.games ? `${formatSigned(bot.elo)} ± ${formatNumber(bot.elo_margin)}` : "–";
    const known = bot.games ? [formatNumber(bot.mean_score, 1), elo, formatNumber(bot.mean_ms, bot.mean_ms < 10 ? 1 : 0)] : ["–", "–", "–"];
    return renderRow(`${index + 1}. ${bot.bot}`, [formatNumber(bot.points), `${wins}–${draws}–${losses}`, ...known, formatNumber(forfeits)]);
  });
  return renderTable(t("lab.standings"), columns, rows);
}

/** @param {Contest} given */
function renderCrossTable({ standings, pairings }) {
  const results = new Map();
  for (const { first, second, wins, draws, losses } of pairings) {
    results.set(`${first} ${second}`, `${wins}–${draws}–${losses}`);
    results.set(`${second} ${first}`, `${losses}–${draws}–${wins}`);
  }
  const bots = standings.map(({ bot }) => bot);
  const columns = [t("lab.bot_column"), ...bots.map((_, index) => String(index + 1))];
  const rows = bots.map((one, index) => renderRow(`${index + 1}. ${one}`, bots.map((other) => results.get(`${one} ${other}`) ?? "·")));
  return renderTable(t("lab.cross"), columns, rows);
}

/** @param {Contest} given */
function renderForfeits({ standings }) {
  return standings.flatMap(({ bot, forfeits, messages }) =>
    Object.entries(forfeits).map(([reason, count]) => {
      const games = t(`explorer.games.${pluralKey(count)}`, { games: formatNumber(count) });
      return h("li", {}, t("lab.forfeited", { bot, games, reason: t(`lab.forfeit.${reason}`), message: messages[reason] }));
    }));
}
