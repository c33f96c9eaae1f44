/** The page: state, what can be done with it, and who is told when it changes. */
import { actionsOf, listenToButtons } from "./actions.js";
import { Analyst } from "./analyst.js";
import { AnalysisPanel } from "./analysis-panel.js";
import { listenForGames } from "./bring-in.js";
import { h, translate } from "./dom.js";
import { GAMES, Game, loadGames, PERSON } from "./game.js";
import { GamesTab } from "./games-tab.js";
import { keepGame } from "./keeper.js";
import { listenToKeys } from "./keys.js";
import { LabTab } from "./lab-tab.js";
import { friendly } from "./levels.js";
import { formatLink, parseLink } from "./link.js";
import { complain, hideNotice, note, noteOffline, say } from "./notices.js";
import { PlayPanel } from "./play-panel.js";
import { PositionPanel } from "./position-panel.js";
import { Reviewer } from "./reviewer.js";
import { playerName, resultWords, Screen } from "./screen.js";
import { api, Connection } from "./server.js";
import { recentGames, rememberGame, set, settings } from "./settings.js";
import { applySettings, SettingsPanel } from "./settings-panel.js";
import { play as playSound } from "./sounds.js";
import { loadGame, Table } from "./table.js";
import { signed, t } from "./words.js";

const TABS = { play: PlayPanel, analysis: AnalysisPanel, games: GamesTab, position: PositionPanel, lab: LabTab, settings: SettingsPanel };
const byId = (id) => document.getElementById(id);

class App {
  constructor() {
    this.players = new Set();
    this.editor = null;
    this.live = new Connection("/api/live", { resumes: true });
    this.table = new Table(this.live);
    this.analyst = new Analyst(this.live);
    this.reviewer = new Reviewer(this.live, this.analyst);
    this.screen = new Screen(this);
    this.actions = actionsOf(this);
    this.panels = {};
    this.tab = "play";
    this.club = null; // where there is one
  }

  async start() {
    applySettings();
    translate(document);
    this.listen();
    await loadGames().catch(complain);
    this.found = this.findClub();
    const first = this.begin();
    this.fillGames();
    for (const [name, Panel] of Object.entries(TABS)) this.panels[name] = new Panel(this, byId(`panel-${name}`));
    this.showTab("play");
    await first;
    const players = await api("GET", "/api/players").catch(() => []);
    this.players = new Set(players.map((player) => player.name));
    this.panels.play.filled = null;
    this.draw();
  }

  /** The club of this server, whose part of the page is asked for only where there is one. */
  async findClub() {
    const { club } = await api("GET", "/api/health").catch(() => ({ club: false }));
    if (!club) return;
    const { Club } = await import("./club.js");
    this.club = new Club(this);
    await this.club.enter();
  }

  /** Another tab, behind the first. */
  addTab(name, Panel) {
    const title = h("button", { id: `tab-${name}`, role: "tab", tabIndex: -1, "aria-controls": `panel-${name}`, "aria-selected": "false", "data-t": `tab.${name}` });
    const panel = h("div", { id: `panel-${name}`, role: "tabpanel", class: "panel", hidden: true, "aria-labelledby": `tab-${name}` });
    byId("tab-play").after(title);
    byId("panel-play").after(panel);
    translate(title.parentElement);
    TABS[name] = Panel;
    this.panels[name] = new Panel(this, panel);
  }

  /** The game of the address, else a new one. */
  async begin() {
    if (location.hash && (await this.open(location.hash))) return;
    await this.newGame(Object.hasOwn(GAMES, settings.game) ? settings.game : "othello");
  }

  listen() {
    this.table.addEventListener("change", () => this.draw());
    this.table.addEventListener("move", (event) => this.moved(event.detail));
    this.table.addEventListener("end", () => this.ended());
    this.table.addEventListener("problem", (event) => complain(event.detail.error));
    this.analyst.addEventListener("change", () => this.draw());
    this.reviewer.addEventListener("change", () => this.draw());
    this.live.addEventListener("offline", () => noteOffline(true));
    this.live.addEventListener("online", () => {
      this.table.goOn();
      noteOffline(false);
      if (this.table.game?.kept?.problem) this.table.game.kept = null;
      this.archiveChanged();
    });
    listenToKeys(this.actions);
    listenToButtons(this);
    window.addEventListener("hashchange", () => this.followAddress());
    listenForGames(this);
  }

  /** Hear what a board tells. */
  hearBoard(board) {
    board.addEventListener("play", (event) => this.playMove(event.detail.move));
    board.addEventListener("refused", (event) => this.refuse(event.detail));
    board.addEventListener("edit", (event) => {
      this.editor?.change(event.detail.cell, event.detail.button);
      this.draw();
    });
    board.addEventListener("mark", (event) => this.mark(event.detail));
  }

  // ---- games --------------------------------------------------------------------------------------------------------
  /** Begin a game against a friendly program, or with the players who sit there. */
  async newGame(name, choices = {}) {
    const before = this.table.game;
    const same = before?.chosen && before.family === GAMES[name].family;
    const seats = same ? before.seats : [PERSON, friendly(GAMES[name].family)];
    if (await this.use(new Game({ game: name, seats, chosen: true, clock: before?.clock ?? null, ...choices }))) set("game", name);
  }

  /** Put a game on the table in place of the one before; false if the server does not understand it, or another is wanted. */
  async use(game, { key = String(Date.now()), back = false } = {}) {
    this.coming = game;
    try {
      await loadGame(game);
    } catch (error) {
      complain(error);
      return false;
    }
    if (this.coming !== game) return false;
    if (!back && this.link && this.link !== linkOf(game)) history.pushState(null, "", location.href);
    this.key = key;
    this.editor = null;
    this.reviewer.forget();
    Object.assign(this.screen, { marks: [], preview: null, shownNode: null });
    this.screen.turned = game.club ? game.club.mine === 1 : game.seats[0] !== PERSON && game.seats[1] === PERSON;
    this.table.set(game);
    return true;
  }

  /** Open the link in the address; false if it holds no game. */
  async open(hash) {
    if (hash.startsWith("#club")) await this.found;
    if (hash.startsWith("#club") && this.club) return this.club.open(hash);
    const kept = history.state?.link === hash ? history.state : recentGames().find(({ link }) => link === hash);
    const game = parseLink(hash);
    if (!game) {
      complain({ code: "link" });
      return false;
    }
    if (kept) restore(game, kept);
    return this.use(game, { key: kept?.key, back: true });
  }

  /** The address was changed by hand, or by going back and forth in the browser. */
  async followAddress() {
    if (location.hash !== this.link && !(await this.open(location.hash))) this.draw();
  }

  /** Whether we play in the club on this board, and nobody may help us. */
  get helpless() {
    return Boolean(this.table.game?.club?.playing);
  }

  /** Whether the board takes moves now. */
  get playable() {
    const { game, thinking } = this.table;
    if (game.live) return !this.editor && game.club.mayMove(game.at);
    if (this.editor || game.at.over || thinking || this.reviewer.trial?.tried) return false;
    return !game.programToMove || game.at.children.length > 0 || this.table.paused || this.table.waiting;
  }

  async playMove(move) {
    this.screen.preview = null;
    if (!this.playable) return complain({ code: "wait" });
    if (this.reviewer.trial) return this.tryMove(move);
    hideNotice();
    if (this.table.game.live) return this.table.game.club.play(move);
    this.table.waiting = false;
    await this.table.play(move);
  }

  async playLine(moves) {
    const { game } = this.table;
    if (!this.playable) return complain({ code: "wait" });
    for (const move of moves) if (this.table.game === game) await this.table.play(move);
  }

  /** Play a move that was typed; whether it was one. */
  typeMove(text) {
    const { moves } = this.table.game.at.view;
    const found = Object.keys(moves).find((move) => move.toLowerCase() === text.toLowerCase());
    if (found && this.playable) {
      this.playMove(found);
      return true;
    }
    complain({ message: t(found ? "problem.wait" : "problem.move", { move: text, moves: Object.keys(moves).join(" ") || "–" }) });
    return false;
  }

  refuse({ move, reason }) {
    playSound("wrong");
    say(t(`refused.${reason}`, { move }));
    note(t(`refused.${reason}`, { move }));
  }

  moved({ node }) {
    const { game } = this.table;
    const effect = node.parent.view.moves[node.move];
    const side = t(`side.${game.family}.${node.parent.view.side}`);
    const gain = effect.flips?.length ?? effect.captured.reduce((sum, [, seeds]) => sum + seeds, 0);
    const kind = node.move === "pass" ? "pass" : game.family;
    say(t(`spoken.${kind}`, { side, move: node.move, gain }));
    playSound(game.family === "othello" ? "disc" : gain ? "capture" : "seed");
  }

  ended() {
    say(resultWords(this.table.game));
    playSound("end");
  }

  jump(id) {
    const node = this.table.game.find(id);
    if (node) this.step(node);
  }

  async step(node) {
    this.screen.preview = null;
    this.screen.board.finish?.();
    this.reviewer.trial = null;
    this.table.waiting = Boolean(this.editor);
    await this.table.go(node);
  }

  promote(id) {
    this.table.game.promote(this.table.game.find(id));
    this.draw();
  }

  /** Delete a variation; a program is not to play it again at once. */
  remove(id) {
    const { game } = this.table;
    game.remove(game.find(id));
    if (!game.seats.includes(PERSON)) this.table.paused = true;
    this.step(game.programToMove && game.seats.includes(PERSON) ? game.beforeLastTurn() : game.at);
  }

  // ---- trying a mistake again -------------------------------------------------------------------------------------
  async tryAgain(node) {
    await this.step(node.parent);
    this.table.waiting = true;
    this.reviewer.tryAgain(node);
    this.showTab("analysis");
    this.screen.board.querySelector("[tabindex='0']")?.focus();
  }

  async tryMove(move) {
    const { trial } = this.reviewer;
    if (this.table.game.at !== trial.node.parent || !(move in trial.node.parent.view.moves)) return;
    const judged = this.reviewer.judge(this.table.game, move);
    await this.table.play(move);
    await judged.catch((error) => complain(error));
  }

  async showAnswer(node) {
    this.reviewer.giveUp();
    await this.table.go(node.parent);
    await this.playLine(node.judgement.line.slice(0, 1));
  }

  leaveTrial() {
    this.step(this.reviewer.trial.node);
  }

  stopReview() {
    this.reviewer.stop?.();
    this.reviewer.stop = null;
    this.draw();
  }

  setEditor(editor) {
    this.editor = editor;
    this.table.waiting = Boolean(editor);
    this.table.arrive(false);
  }

  async finishEditing() {
    const { game } = this.table;
    await this.use(new Game({ game: game.game, start: this.editor.format(), seats: [PERSON, PERSON] }));
  }

  // ---- showing ----------------------------------------------------------------------------------------------------
  draw() {
    const { game } = this.table;
    if (!game?.at.view) return;
    if (this.helpless) this.analyst.rest();
    else this.analyst.show(game, game.at);
    this.screen.draw();
    byId("game-picker").value = game.game;
    for (const panel of Object.values(this.panels)) panel.update();
    if (game.at.view.provisional) return;
    this.keep();
    keepGame(game).then((asked) => asked && this.archiveChanged());
  }

  /** The archive has changed, or can be asked again. */
  archiveChanged() {
    this.panels.games?.forget();
    this.draw();
  }

  /** Keep the game in the address, and with its times in the history, so that a reload loses nothing. */
  keep() {
    const { game } = this.table;
    document.title = `${game.club?.mayMove(game.at) ? t("club.turn", { side: t(`side.${game.family}.${game.side}`) }) : t(`game.${game.game}`)} – Awello`;
    const link = linkOf(game);
    const { begun, kept, names } = game;
    if (link === this.link && history.state?.link === link && history.state.kept?.number === kept?.number) return;
    this.link = link;
    const memory = { link, key: this.key, times: timesOf(game), begun, kept: kept?.number ? kept : null, names };
    history.replaceState(memory, "", link);
    if (game.root.children.length && !link.startsWith("#club")) rememberGame(memory, this.label(game));
  }

  label(game) {
    const players = game.seats.map((seat, side) => game.names?.[side] ?? playerName(seat, game.family)).join(" – ");
    const state = game.line.at(-1).over ? "" : ` · ${t("play.recent.moves", { moves: game.line.length - 1 })}`;
    return `${t(`game.${game.game}`)}: ${players}${state}`;
  }

  valueWords(worth, depth) {
    const { family } = this.table.game;
    const side = t(`side.${family}.${worth.value < 0 ? 1 : 0}`);
    const words = worth.value === 0 ? t("value.even") : `${side} ${signed(Math.abs(worth.value), worth.exact ? 0 : 1)}`;
    return worth.exact ? t("value.exact", { words }) : t("value.depth", { words, depth });
  }

  showPreview(preview) {
    this.screen.preview = preview;
    this.screen.draw();
  }

  mark({ from, to }) {
    const { marks } = this.screen;
    const others = marks.filter((mark) => mark.from !== from || mark.to !== to);
    this.screen.marks = others.length < marks.length ? others : [...marks, { from, to, by: "user" }];
    this.draw();
  }

  /** Choose a tab, and what it shows, if it shows different things. */
  showTab(name, view) {
    this.tab = name;
    for (const other of Object.keys(TABS)) {
      const chosen = other === name;
      byId(`tab-${other}`).ariaSelected = String(chosen);
      byId(`tab-${other}`).tabIndex = chosen ? 0 : -1;
      byId(`panel-${other}`).hidden = !chosen;
    }
    if (view) this.panels[name]?.show(view);
    if (!this.table.game) return;
    this.panels[name]?.update();
    this.club?.bar.draw();
  }

  speakOtherLanguage() {
    translate(document);
    this.fillGames();
    for (const panel of Object.values(this.panels)) panel.build();
    this.panels.play.filled = null;
    for (const element of document.querySelectorAll("othello-board, awale-board, value-graph, game-clock, move-list, lab-panel, tree-panel")) element.refresh?.();
    this.draw();
    byId("setting-language").focus();
  }

  fillGames() {
    const picker = byId("game-picker");
    picker.replaceChildren(...Object.keys(GAMES).map((name) => new Option(t(`game.${name}`), name)));
  }
}

/** The address of a game. */
const linkOf = (game) => (game.club && !game.club.left(game) ? game.club.link : formatLink(game));

/** The times of each move of the main line, for a reload. */
const timesOf = (game) => game.line.map(({ move, seconds, left }) => ({ move, seconds, left }));

/** Give a game back what its link does not hold. */
function restore(game, { times = [], begun = null, kept = null, names = null }) {
  Object.assign(game, { begun, kept, names });
  let node = game.root;
  for (const { move, seconds, left } of times) {
    if (move !== null) node = node?.children.find((child) => child.move === move);
    if (!node) return;
    Object.assign(node, { seconds, left });
  }
}

export const app = new App();
app.start();
