/** The page: state, what can be done with it, and who is told when it changes. */
import { Analyst } from "./analyst.js";
import { AnalysisPanel } from "./analysis-panel.js";
import { h, translate } from "./dom.js";
import { FAMILY, Game, PERSON } from "./game.js";
import { showHelp } from "./help.js";
import { listenToKeys } from "./keys.js";
import { LabTab } from "./lab-tab.js";
import { friendly } from "./levels.js";
import { formatLink, parseClock, parseLink } from "./link.js";
import { PlayPanel } from "./play-panel.js";
import { PositionPanel } from "./position-panel.js";
import { MARKS, Reviewer } from "./reviewer.js";
import { playerName, resultWords, Screen } from "./screen.js";
import { api, Live } from "./server.js";
import { rememberGame, set, settings } from "./settings.js";
import { applySettings, SettingsPanel } from "./settings-panel.js";
import { play as playSound } from "./sounds.js";
import { loadGame, Table } from "./table.js";
import { signed, t } from "./words.js";

const TABS = { play: PlayPanel, analysis: AnalysisPanel, position: PositionPanel, lab: LabTab, settings: SettingsPanel };
const LARGEST_FILE = 1 << 16;
const MOST_SAID = 4;
const byId = (id) => document.getElementById(id);

class App {
  constructor() {
    this.players = new Set();
    this.editor = null;
    this.live = new Live();
    this.table = new Table(this.live);
    this.analyst = new Analyst(this.live);
    this.reviewer = new Reviewer(this.live, this.analyst);
    this.screen = new Screen(this);
    this.actions = actionsOf(this);
    this.panels = {};
  }

  async start() {
    applySettings();
    translate(document);
    this.listen();
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

  /** The game of the address, else a new one. */
  async begin() {
    if (location.hash && (await this.open(location.hash))) return;
    await this.newGame(Object.hasOwn(FAMILY, settings.game) ? settings.game : "othello");
  }

  listen() {
    this.table.addEventListener("change", () => this.draw());
    this.table.addEventListener("move", (event) => this.moved(event.detail));
    this.table.addEventListener("end", () => this.ended());
    this.table.addEventListener("problem", (event) => this.complain(event.detail.error));
    this.analyst.addEventListener("change", () => this.draw());
    this.reviewer.addEventListener("change", () => this.draw());
    this.live.addEventListener("offline", () => this.noteOffline(true));
    this.live.addEventListener("online", () => this.noteOffline(false));
    listenToKeys(this.actions);
    listenToButtons(this);
    window.addEventListener("hashchange", () => this.followAddress());
    document.addEventListener("paste", (event) => this.pasted(event));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => this.dropped(event));
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
    const same = before && FAMILY[before.game] === FAMILY[name];
    const seats = same ? before.seats : [PERSON, friendly(FAMILY[name])];
    if (await this.use(new Game({ game: name, seats, clock: before?.clock ?? null, ...choices }))) set("game", name);
  }

  /** Put a game on the table in place of the one before; false if the server does not understand it, or another is wanted. */
  async use(game, { key = String(Date.now()), back = false } = {}) {
    this.coming = game;
    try {
      await loadGame(game);
    } catch (error) {
      this.complain(error);
      return false;
    }
    if (this.coming !== game) return false;
    if (!back && this.link && this.link !== formatLink(game)) history.pushState(null, "", location.href);
    this.key = key;
    this.editor = null;
    this.reviewer.forget();
    Object.assign(this.screen, { marks: [], preview: null, shownNode: null });
    this.screen.turned = game.seats[0] !== PERSON && game.seats[1] === PERSON;
    this.table.set(game);
    return true;
  }

  /** Open the link in the address; false if it holds no game. */
  async open(hash) {
    const kept = history.state?.link === hash ? history.state : null;
    const game = parseLink(hash);
    if (!game) {
      this.complain({ message: t("problem.link") });
      return false;
    }
    if (kept) restoreTimes(game, kept.times);
    return this.use(game, { key: kept?.key, back: true });
  }

  /** The address was changed by hand, or by going back and forth in the browser. */
  async followAddress() {
    if (location.hash !== this.link && !(await this.open(location.hash))) this.draw();
  }

  /** Whether the board takes moves now. */
  get playable() {
    const { game, thinking } = this.table;
    if (this.editor || game.at.over || thinking || this.reviewer.trial?.tried) return false;
    return !game.programToMove || game.at.children.length > 0 || this.table.paused || this.table.waiting;
  }

  async playMove(move) {
    this.screen.preview = null;
    if (!this.playable) return this.complain({ message: t("problem.wait") });
    if (this.reviewer.trial) return this.tryMove(move);
    this.hideNotice();
    this.table.waiting = false;
    await this.table.play(move);
  }

  async playLine(moves) {
    const { game } = this.table;
    if (!this.playable) return this.complain({ message: t("problem.wait") });
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
    this.complain({ message: t(found ? "problem.wait" : "problem.move", { move: text, moves: Object.keys(moves).join(" ") || "–" }) });
    return false;
  }

  refuse({ move, reason }) {
    playSound("wrong");
    this.say(t(`refused.${reason}`, { move }));
    this.note(t(`refused.${reason}`, { move }));
  }

  moved({ node }) {
    const { game } = this.table;
    const effect = node.parent.view.moves[node.move];
    const side = t(`side.${game.family}.${node.parent.view.side}`);
    const gain = effect.flips?.length ?? effect.captured.reduce((sum, [, seeds]) => sum + seeds, 0);
    const kind = node.move === "pass" ? "pass" : game.family;
    this.say(t(`spoken.${kind}`, { side, move: node.move, gain }));
    playSound(game.family === "othello" ? "disc" : gain ? "capture" : "seed");
  }

  ended() {
    this.say(resultWords(this.table.game));
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
    await judged.catch((error) => this.complain(error));
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

  // ---- bringing in ------------------------------------------------------------------------------------------------
  async importText(text) {
    const link = /#(\w+)(\?\S*)?$/.exec(text.trim());
    if (link && Object.hasOwn(FAMILY, link[1])) return this.importLink(link[0]);
    try {
      const found = await api("POST", "/api/read", { text });
      const game = new Game({ game: found.game, start: found.start });
      for (const move of found.moves) game.play(move);
      if (await this.use(game)) this.note(t(`import.${found.kind}`, { moves: found.moves.length }), false);
    } catch (error) {
      this.complain(error);
    }
  }

  async importLink(link) {
    const game = parseLink(link);
    if (game) await this.use(game);
    else this.complain({ message: t("problem.link") });
  }

  async importFile(file) {
    if (file.size > LARGEST_FILE) return this.complain({ message: t("problem.large") });
    return this.importText(await file.text());
  }

  pasted(event) {
    if (event.target.closest?.("input, textarea")) return;
    const text = event.clipboardData.getData("text/plain");
    if (text.trim()) this.importText(text);
  }

  dropped(event) {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text/plain");
    if (file) this.importFile(file);
    else if (text) this.importText(text);
  }

  async replay({ game: name, moves }) {
    const found = await api("POST", "/api/read", { text: moves, game: name }).catch((error) => this.complain(error));
    if (!found) return;
    const game = new Game({ game: name });
    for (const move of found.moves) game.play(move);
    game.at = game.root;
    await this.use(game);
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
    this.analyst.show(game, game.at);
    this.screen.draw();
    byId("game-picker").value = game.game;
    for (const panel of Object.values(this.panels)) panel.update();
    if (!game.at.view.provisional) this.keep();
  }

  /** Keep the game in the address, and with its times in the history, so that a reload loses nothing. */
  keep() {
    const { game } = this.table;
    document.title = `${t(`game.${game.game}`)} – Awello`;
    const link = formatLink(game);
    if (link === this.link && history.state?.link === link) return;
    this.link = link;
    history.replaceState({ link, key: this.key, times: timesOf(game) }, "", link);
    if (game.root.children.length) rememberGame(this.key, link, this.label(game));
  }

  label(game) {
    const players = game.seats.map((seat) => playerName(seat, game.family)).join(" – ");
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

  showTab(name) {
    for (const other of Object.keys(TABS)) {
      const chosen = other === name;
      byId(`tab-${other}`).ariaSelected = String(chosen);
      byId(`tab-${other}`).tabIndex = chosen ? 0 : -1;
      byId(`panel-${other}`).hidden = !chosen;
    }
    if (this.table.game) this.panels[name]?.update();
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
    picker.replaceChildren(...Object.keys(FAMILY).map((name) => new Option(t(`game.${name}`), name)));
  }

  /** Say something to those who do not see the page; what is said in haste is heard one after the other. */
  say(text) {
    const spoken = byId("spoken");
    spoken.append(h("p", {}, text));
    while (spoken.children.length > MOST_SAID) spoken.firstChild.remove();
  }

  note(text, bad = true) {
    const notice = byId("notice");
    notice.textContent = text;
    notice.classList.toggle("bad", bad);
    notice.hidden = false;
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => this.hideNotice(), bad ? 8000 : 4000);
  }

  hideNotice() {
    if (!this.offline) byId("notice").hidden = true;
  }

  complain(error) {
    const known = error.code === "offline" ? t("problem.offline") : null;
    this.note(known ?? error.message);
  }

  noteOffline(offline) {
    clearTimeout(this.offlineTimer);
    if (!offline) return this.online();
    this.offlineTimer = setTimeout(() => {
      this.note(t("problem.offline"));
      this.offline = true;
    }, 1500);
  }

  /** The server is there, perhaps again. */
  online() {
    this.table.goOn();
    if (!this.offline) return;
    this.offline = false;
    this.hideNotice();
  }
}

/** The times of each move of the main line, for a reload. */
const timesOf = (game) => game.line.map(({ move, seconds, left }) => ({ move, seconds, left }));

function restoreTimes(game, times = []) {
  let node = game.root;
  for (const { move, seconds, left } of times) {
    if (move !== null) node = node?.children.find((child) => child.move === move);
    if (!node) return;
    Object.assign(node, { seconds, left });
  }
}

/** Everything that a key or a button does. */
function actionsOf(app) {
  const { table, reviewer, screen } = app;
  const toggle = (name) => {
    set(name, !settings[name]);
    app.draw();
  };
  const nextMark = (mark) => {
    const found = reviewer.next(table.game, mark, table.game.at.ply);
    if (found) app.step(found);
    else app.note(t("review.nomore"), false);
  };
  const actions = {
    back: () => table.game.at.parent && app.step(table.game.at.parent),
    forward: () => table.game.at.children.length && app.step(table.game.at.children[0]),
    first: () => app.step(table.game.root),
    last: () => app.step(table.game.at.tip),
    undo: () => app.step(table.game.beforeLastTurn()),
    redo: () => app.step(afterTurn(table.game)),
    newGame: () => app.newGame(table.game.game),
    rematch: () => app.newGame(table.game.game, { seats: [...table.game.seats].reverse() }),
    changeSides: () => changeSides(app),
    pause: () => table.pause(!table.paused),
    resign: () => resign(app),
    flip: () => {
      screen.turned = !screen.turned;
      app.draw();
    },
    engine: () => toggle("engine"),
    hints: () => toggle("hints"),
    arrows: () => toggle("arrows"),
    best: () => playBest(app),
    review: () => {
      app.showTab("analysis");
      reviewer.begin(table.game);
    },
    blunder: () => nextMark(MARKS.blunder),
    mistake: () => nextMark(MARKS.mistake),
    inaccuracy: () => nextMark(MARKS.inaccuracy),
    focusBoard: () => screen.board.querySelector("[tabindex='0']")?.focus(),
    typeMove: () => {
      app.showTab("play");
      byId("typed-move").focus();
    },
    clearMarks: () => {
      screen.marks = [];
      app.draw();
    },
    help: () => showHelp(table.game.family),
    setSeat: (side, spec) => setSeat(app, side, spec),
    setClock: (text) => app.newGame(table.game.game, { clock: parseClock(text) }),
  };
  const whenReady = ([name, action]) => [name, (...values) => table.game && action(...values)];
  return Object.fromEntries(Object.entries(actions).map(whenReady));
}

function setSeat(app, side, spec) {
  const { table } = app;
  table.game.seats = table.game.seats.map((seat, place) => (place === side ? spec : seat));
  table.paused = false;
  app.hideNotice();
  app.step(table.game.at);
}

function changeSides(app) {
  const { table, screen } = app;
  table.game.seats = [...table.game.seats].reverse();
  const [first, second] = table.game.seats;
  screen.turned = first !== PERSON && second === PERSON;
  app.step(table.game.at);
}

function resign(app) {
  const { game } = app.table;
  const people = game.seats.map((seat) => seat === PERSON);
  const side = people[0] && people[1] ? game.side : people.indexOf(true);
  if (side >= 0 && !game.at.over && !game.at.children.length) app.table.lose(side, "resigned");
}

/** The next position at which a person has a choice, or the end. */
function afterTurn(game) {
  let node = game.at;
  while (node.children.length) {
    [node] = node.children;
    const mine = game.seats[node.view?.side ?? 0] === PERSON || !game.seats.includes(PERSON);
    if (mine && node.view && !("pass" in node.view.moves)) break;
  }
  return node;
}

function playBest(app) {
  const best = app.table.game.at.analysis?.line[0];
  if (best && settings.engine && app.playable && !app.reviewer.trial) app.playMove(best);
  else if (!settings.engine) app.actions.engine();
}

function listenToButtons(app) {
  const { actions } = app;
  const buttons = {
    "to-first": "first", "to-back": "back", "to-forward": "forward", "to-last": "last", undo: "undo", redo: "redo",
    flip: "flip", engine: "engine", hints: "hints", "new-game": "newGame", "help-button": "help",
  };
  for (const [id, action] of Object.entries(buttons)) byId(id).addEventListener("click", () => actions[action]());
  byId("game-picker").addEventListener("change", (event) => app.newGame(event.target.value));
  byId("graph").addEventListener("jump", (event) => {
    const node = app.table.game.line[event.detail.ply];
    if (node) app.step(node);
  });
  for (const id of ["clock-top", "clock-bottom"]) {
    byId(id).addEventListener("flag", (event) => app.table.lose(event.detail.side, "time"));
  }
  listenToTabs(app);
}

function listenToTabs(app) {
  const names = Object.keys(TABS);
  for (const name of names) byId(`tab-${name}`).addEventListener("click", () => app.showTab(name));
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const here = names.findIndex((name) => byId(`tab-${name}`).ariaSelected === "true");
    const next = names[(here + step + names.length) % names.length];
    app.showTab(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
  });
}

export const app = new App();
app.start();
