/** Everything that a key or a button does. */
import { PERSON } from "./game.js";
import { showHelp } from "./help.js";
import { parseClock } from "./link.js";
import { hideNotice, note } from "./notices.js";
import { MARKS } from "./reviewer.js";
import { set, settings } from "./settings.js";
import { t } from "./words.js";

const byId = (id) => document.getElementById(id);

/** What can be done while we play in the club, where nobody is helped; and what cannot be done to a game there. */
const IN_PLAY = ["back", "forward", "first", "last", "flip", "focusBoard", "typeMove", "clearMarks", "help"];
const NOT_THERE = ["changeSides", "pause", "resign", "setSeat"];

/** The actions by name; none does anything before there is a game. */
export function actionsOf(app) {
  const { table, reviewer, screen } = app;
  const toggle = (name) => {
    set(name, !settings[name]);
    app.draw();
  };
  const nextMark = (mark) => {
    const found = reviewer.next(mark, table.game.at.ply);
    if (found) app.step(found);
    else note(t("review.nomore"), false);
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
    explore: () => app.showTab("games"),
    chooseKeeping: () => {
      app.showTab("settings");
      byId("setting-archive").focus();
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
  const allowed = (name) => {
    if (app.helpless && !IN_PLAY.includes(name)) note(t("club.alone"), false);
    return app.helpless ? IN_PLAY.includes(name) : !(table.game.live && NOT_THERE.includes(name));
  };
  const whenReady = ([name, action]) => [name, (...values) => table.game && allowed(name) && action(...values)];
  return Object.fromEntries(Object.entries(actions).map(whenReady));
}

function setSeat(app, side, spec) {
  const { table } = app;
  table.game.chosen = true;
  table.game.names = null;
  table.game.seats = table.game.seats.map((seat, place) => (place === side ? spec : seat));
  table.paused = false;
  hideNotice();
  app.step(table.game.at);
}

function changeSides(app) {
  const { table, screen } = app;
  table.game.seats = [...table.game.seats].reverse();
  table.game.names = null;
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

/** Hear the buttons of the page, its graph, its clocks and its tabs. */
export function listenToButtons(app) {
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
    byId(id).addEventListener("flag", (event) => app.table.game.club || app.table.lose(event.detail.side, "time"));
  }
  listenToTabs(app);
}

function listenToTabs(app) {
  const list = document.querySelector("[role=tablist]");
  const nameOf = (tab) => tab.id.replace("tab-", "");
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) app.showTab(nameOf(tab));
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = [...list.children].filter((tab) => tab.checkVisibility()).map(nameOf);
    const next = names[(names.indexOf(app.tab) + step + names.length) % names.length];
    app.showTab(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
  });
}
