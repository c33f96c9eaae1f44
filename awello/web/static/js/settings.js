/** What a person has chosen, kept in this browser. */
import { notifyChange } from "./store.js";

const SETTINGS_KEY = "awello.settings";
const RECENT_KEY = "awello.recent";
const MAX_RECENT_GAMES = 12;

const DEFAULTS = {
  language: (navigator.language || "en").slice(0, 2) === "fr" ? "fr" : "en",
  mode: "system", // or light, dark
  board: "green",
  size: 640, // the largest width of a board, in pixels
  speed: 160, // milliseconds a seed
  sounds: false,
  chat: false, // with those we play in the club
  archive: true, // finished games are kept there
  name: "", // of the person, in games that are kept
  hints: true, // values on the squares while the engine is on
  arrows: true,
  keys: true, // single letters do something
  engine: false,
  seconds: 10, // that an analysis takes
  game: "othello", // that was played last
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
    // a browser without storage forgets, and works
  }
}

/** @type {typeof DEFAULTS} */
export const settings = { ...DEFAULTS, ...read(SETTINGS_KEY, {}) };

/**
 * Change a setting and keep it.
 * @param {keyof typeof settings} name
 * @param {unknown} value
 */
export function saveSetting(name, value) {
  Object.assign(settings, { [name]: value });
  write(SETTINGS_KEY, { ...read(SETTINGS_KEY, {}), [name]: value }); // another tab may have chosen something else
  notifyChange("settings");
}

/** The games last played here, the newest first: [{ link, label, when, ... what the page remembers of a game }]. */
export const loadRecentGames = () => /** @type {RecentGame[]} */ (read(RECENT_KEY, []));

/**
 * Remember a game under its key, in place of what was remembered of it before.
 * @param {GameSnapshot} memory
 * @param {string} label
 */
export function saveRecentGame(memory, label) {
  const others = loadRecentGames().filter((entry) => entry.key !== memory.key && entry.link !== memory.link);
  write(RECENT_KEY, [{ ...memory, label, when: Date.now() }, ...others].slice(0, MAX_RECENT_GAMES));
}
