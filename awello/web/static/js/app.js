/** The page is wired up: panels get their tabs, actions hear keys, buttons and boards, the state is kept. */
import { actions, playMove, refuseMove, step, toggleMark } from "./actions.js";
import { AnalysisPanel } from "./analysis-panel.js";
import { saveGame } from "./archive-save.js";
import { byId, listen, translate } from "./dom.js";
import { loadGames } from "./game.js";
import { gameChoices } from "./game-words.js";
import { GamesTab } from "./games-tab.js";
import { listenForGames } from "./import-dialog.js";
import { listenToKeys } from "./keys.js";
import { LabTab } from "./lab-tab.js";
import { complain, noteOffline } from "./notices.js";
import { followAddress, keepAddress, newGame, openLink, usualGame } from "./open-game.js";
import { PlayPanel } from "./play-panel.js";
import { PositionPanel } from "./position-panel.js";
import { drawScreen, SHOWS } from "./screen.js";
import { api } from "./server.js";
import { analyst, live, reviewer } from "./services.js";
import { applySettings, SettingsPanel } from "./settings-panel.js";
import { changed, set, state, subscribe } from "./store.js";
import { inRatedGame, loadAgain, lose } from "./table.js";
import { addPanel, listenToTabs, rebuildPanels, showTab } from "./tabs.js";

const PANELS = { play: PlayPanel, analysis: AnalysisPanel, games: GamesTab, position: PositionPanel, lab: LabTab, settings: SettingsPanel };

/** @type {Record<string, Command>} */
const BUTTONS = {
  "to-first": "first", "to-back": "back", "to-forward": "forward", "to-last": "last", undo: "undo", redo: "redo",
  flip: "flip", engine: "engine", hints: "hints", "new-game": "newGame", "help-button": "help",
};

async function start() {
  applySettings();
  translate(document);
  listenToServices();
  listenToPage();
  await loadGames().catch(complain);
  set({ clubReady: findClub() });
  const first = begin();
  fillGames();
  subscribeAll();
  showTab("play");
  await first;
  const players = await api("GET", "/api/players").catch(() => []);
  set({ players: new Set(players.map((/** @type {{ name: string }} */ player) => player.name)) });
}

/** Look for a club on this server; its part of the page is loaded only if there is one. */
async function findClub() {
  const { club } = await api("GET", "/api/health").catch(() => ({ club: false }));
  if (!club) return;
  const { Club } = await import("./club.js");
  set({ club: new Club() });
  await state.club?.enter();
}

/** Open the game of the address, or else a new one. */
async function begin() {
  if (location.hash && (await openLink(location.hash))) return;
  await newGame(usualGame());
}

/** Who is called when the state changes, in this order. */
function subscribeAll() {
  subscribe(["settings"], applySettings);
  subscribe(["game", "settings", "club"], analyse);
  subscribe(SHOWS, drawScreen);
  for (const [name, Panel] of Object.entries(PANELS)) addPanel(name, Panel);
  subscribe(["game", "club", "archive"], keepAddress);
  subscribe(["game", "settings", "archive"], () => saveGame(state.game));
  subscribe(["language"], changeLanguage);
}

function analyse() {
  const { game } = state;
  if (!game?.at.view) return;
  if (inRatedGame()) analyst.rest();
  else analyst.show(game, game.at);
}

function listenToServices() {
  analyst.addEventListener("change", () => changed("analysis"));
  reviewer.addEventListener("change", () => changed("review"));
  live.addEventListener("offline", () => noteOffline(true));
  live.addEventListener("online", () => {
    loadAgain();
    noteOffline(false);
    if (state.game?.kept?.problem) state.game.kept = null;
    changed("archive");
  });
}

function listenToPage() {
  listenToKeys(actions);
  listenToTabs();
  listenForGames();
  for (const [id, action] of Object.entries(BUTTONS)) byId(id).addEventListener("click", () => actions[action]());
  byId("game-picker").addEventListener("change", () => newGame(byId("game-picker").value));
  window.addEventListener("hashchange", followAddress);
  listen(byId("graph"), "jump", ({ ply }) => step(state.game.line[ply]));
  for (const id of ["clock-top", "clock-bottom"]) listen(byId(id), "flag", ({ side }) => state.game.club || lose(side, "time"));
  listenToBoard(byId("board-box"));
}

/** The events of either board bubble up to its box. @param {HTMLElement} box */
function listenToBoard(box) {
  listen(box, "play", ({ move }) => playMove(move));
  listen(box, "refused", refuseMove);
  listen(box, "mark", toggleMark);
  listen(box, "edit", ({ cell, button }) => {
    state.editor?.change(cell, button);
    changed("editor");
  });
}

function changeLanguage() {
  translate(document);
  fillGames();
  rebuildPanels();
  changed("game");
  byId("setting-language").focus();
}

function fillGames() {
  byId("game-picker").replaceChildren(...gameChoices().map(([name, words]) => new Option(words, name)));
}

start();
