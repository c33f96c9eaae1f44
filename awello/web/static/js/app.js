/** Entry point: connects panels, actions, shortcuts, buttons and boards, and restores the game of the address. */
import { actions, goToNode, playMove, refuseMove, toggleMark } from "./actions.js";
import { AnalysisTab } from "./analysis-tab.js";
import { saveGame } from "./archive-save.js";
import { BOARD_AREA_TOPICS, drawBoardArea } from "./board-area.js";
import { byId, listen, translate } from "./dom.js";
import { variantOptions } from "./game-text.js";
import { loadRules } from "./game.js";
import { endGame, isPlayingInClub, reloadPosition } from "./gameplay.js";
import { GamesTab } from "./games-tab.js";
import { setLanguage } from "./i18n.js";
import { listenForPastedGames } from "./import-dialog.js";
import { LabTab } from "./lab-tab.js";
import { handleAddressChange, openLink, preferredVariant, startGame, updateAddress } from "./navigation.js";
import { setServerOffline, showError } from "./notices.js";
import { PlayTab } from "./play-tab.js";
import { PositionTab } from "./position-tab.js";
import { api } from "./server.js";
import { analyst, engineConnection, reviewer } from "./services.js";
import { settings } from "./settings.js";
import { applySettings, SettingsTab } from "./settings-tab.js";
import { listenToShortcuts } from "./shortcuts.js";
import { notifyChange, setState, state, subscribe } from "./store.js";
import { addPanel, listenToTabs, rebuildPanels, showTab } from "./tabs.js";

const PANELS = { play: PlayTab, analysis: AnalysisTab, games: GamesTab, position: PositionTab, lab: LabTab, settings: SettingsTab };

/** @type {Record<string, Command>} */
const BUTTONS = {
  "to-first": "goToStart", "to-back": "goBack", "to-forward": "goForward", "to-last": "goToEnd", undo: "undo", redo: "redo",
  flip: "flipBoard", engine: "toggleEngine", hints: "toggleHints", "new-game": "startNewGame", "help-button": "openHelp",
};

async function start() {
  await setLanguage(settings.language);
  applySettings();
  translate(document);
  listenToServices();
  listenToPage();
  await loadRules().catch(showError);
  setState({ clubReady: findClub() });
  const first = openFirstGame();
  fillGamePicker();
  subscribeAll();
  showTab("play");
  await first;
  const players = await api("GET", "/api/players").catch(() => []);
  setState({ availablePlayers: new Set(players.map((/** @type {{ name: string }} */ player) => player.name)) });
}

/** Load the club's part of the page if this server has a club. */
async function findClub() {
  const { club } = await api("GET", "/api/health").catch(() => ({ club: false }));
  if (!club) return;
  const { Club } = await import("./club.js");
  setState({ club: new Club() });
  await state.club?.connect();
}

/** Open the game of the address, or a new one. */
async function openFirstGame() {
  if (location.hash && (await openLink(location.hash))) return;
  await startGame(preferredVariant());
}

/** Subscribe to state changes; listeners run in this order. */
function subscribeAll() {
  subscribe(["settings"], applySettings);
  subscribe(["game", "settings", "club"], analyse);
  subscribe(BOARD_AREA_TOPICS, drawBoardArea);
  for (const [name, Panel] of Object.entries(PANELS)) addPanel(name, Panel);
  subscribe(["game", "club", "archive"], updateAddress);
  subscribe(["game", "settings", "archive"], () => saveGame(state.game));
  subscribe(["language"], changeLanguage);
}

function analyse() {
  const { game } = state;
  if (!game?.current.position) return;
  if (isPlayingInClub()) analyst.stop();
  else analyst.analyse(game, game.current);
}

function listenToServices() {
  analyst.addEventListener("change", () => notifyChange("analysis"));
  reviewer.addEventListener("change", () => notifyChange("review"));
  engineConnection.addEventListener("offline", () => setServerOffline(true));
  engineConnection.addEventListener("online", () => {
    reloadPosition();
    setServerOffline(false);
    if (state.game?.saved?.error) state.game.saved = null;
    notifyChange("archive");
  });
}

function listenToPage() {
  listenToShortcuts(actions);
  listenToTabs();
  listenForPastedGames();
  for (const [id, action] of Object.entries(BUTTONS)) byId(id).addEventListener("click", () => actions[action]());
  byId("game-picker").addEventListener("change", () => startGame(byId("game-picker").value));
  window.addEventListener("hashchange", handleAddressChange);
  listen(byId("graph"), "jump", ({ ply }) => goToNode(state.game.line[ply]));
  for (const id of ["clock-top", "clock-bottom"]) listen(byId(id), "flag", ({ side }) => state.game.clubGame || endGame(side, "time"));
  listenToBoard(byId("board-box"));
}

/** Events of both boards bubble up to their box. @param {HTMLElement} box */
function listenToBoard(box) {
  listen(box, "play", ({ move }) => playMove(move));
  listen(box, "refused", refuseMove);
  listen(box, "mark", toggleMark);
  listen(box, "edit", ({ cell, button }) => {
    state.editor?.change(cell, button);
    notifyChange("editor");
  });
}

function changeLanguage() {
  translate(document);
  fillGamePicker();
  rebuildPanels();
  notifyChange("game");
  byId("setting-language").focus();
}

function fillGamePicker() {
  byId("game-picker").replaceChildren(...variantOptions().map(([name, label]) => new Option(label, name)));
}

start();
