/** The user's settings and recent games, stored in this browser. */
import { notifyChange } from "./store.js";

const SETTINGS_KEY = "awello.settings";
const RECENT_KEY = "awello.recent";
const MAX_RECENT_GAMES = 12;

const DEFAULTS = {
  language: (navigator.language || "en").slice(0, 2) === "fr" ? "fr" : "en",
  theme: "system", // or light, dark
  boardColours: "green",
  boardSize: 640, // maximum width of a board, in pixels
  sowingDelayMs: 160, // per seed
  sounds: false,
  chat: false, // with opponents in the club
  saveGames: true, // save finished games in the archive
  name: "", // the user's name in saved games
  hints: true, // values on the squares while the engine is on
  engineMark: true, // mark the engine’s move on the board
  shortcuts: true, // keyboard shortcuts
  engine: false,
  analysisSeconds: 10, // per position
  variant: "othello", // last played
};

/** @param {string} key @param {any} other */
function read(key, other) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? other;
  } catch {
    return other;
  }
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // without storage, settings last until the page is closed
  }
}

/** @type {typeof DEFAULTS} */
export const settings = { ...DEFAULTS, ...read(SETTINGS_KEY, {}) };

/**
 * Change and store a setting.
 * @param {keyof typeof settings} name
 * @param {unknown} value
 */
export function saveSetting(name, value) {
  Object.assign(settings, { [name]: value });
  write(SETTINGS_KEY, { ...read(SETTINGS_KEY, {}), [name]: value }); // another tab may have changed other settings
  notifyChange("settings");
}

/** The recent games, newest first. */
export const loadRecentGames = () => /** @type {RecentGame[]} */ (read(RECENT_KEY, []));

/**
 * Store a recent game, replacing its earlier snapshot.
 * @param {GameSnapshot} snapshot
 * @param {string} label
 */
export function saveRecentGame(snapshot, label) {
  const others = loadRecentGames().filter((entry) => entry.key !== snapshot.key && entry.link !== snapshot.link);
  write(RECENT_KEY, [{ ...snapshot, label, when: Date.now() }, ...others].slice(0, MAX_RECENT_GAMES));
}
