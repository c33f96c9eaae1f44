import { elementOf } from "./dom.js";
import { settings } from "./settings.js";

/**
 * Every key and what it does; the help sheet shows the same list.
 * @type {{ keys: string[], shown: string, word?: string, does: Command }[]}
 */
export const KEYS = [
  { keys: ["ArrowLeft", "k"], shown: "← k", does: "back" },
  { keys: ["ArrowRight", "j"], shown: "→ j", does: "forward" },
  { keys: ["ArrowUp", "Home"], shown: "↑ Home", does: "first" },
  { keys: ["ArrowDown", "End"], shown: "↓ End", does: "last" },
  { keys: [" "], shown: "Space", word: "key.space", does: "best" },
  { keys: ["u"], shown: "u", does: "undo" },
  { keys: ["y"], shown: "y", does: "redo" },
  { keys: ["n"], shown: "n", does: "newGame" },
  { keys: ["s"], shown: "s", does: "changeSides" },
  { keys: ["p"], shown: "p", does: "pause" },
  { keys: ["f"], shown: "f", does: "flip" },
  { keys: ["l"], shown: "l", does: "engine" },
  { keys: ["z"], shown: "z", does: "hints" },
  { keys: ["a"], shown: "a", does: "arrows" },
  { keys: ["e"], shown: "e", does: "explore" },
  { keys: ["r"], shown: "r", does: "review" },
  { keys: ["b"], shown: "b", does: "blunder" },
  { keys: ["m"], shown: "m", does: "mistake" },
  { keys: ["i"], shown: "i", does: "inaccuracy" },
  { keys: ["g"], shown: "g", does: "focusBoard" },
  { keys: ["t"], shown: "t", does: "typeMove" },
  { keys: ["x"], shown: "x", does: "clearMarks" },
  { keys: ["?"], shown: "?", does: "help" },
];

/** Listen to the keys of the page; typing into a field and browser shortcuts are left alone. @param {Record<Command, () => unknown>} actions */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (!settings.keys || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || isTyping(elementOf(event), event.key)) return;
    const found = KEYS.find(({ keys }) => keys.includes(event.key));
    if (!found) return;
    event.preventDefault();
    actions[found.does]();
  });
}

/** @param {Element} target @param {string} key */
function isTyping(target, key) {
  if (target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [role=slider]")) return true;
  if (target.closest("[role=tablist], [type=radio]") && key.startsWith("Arrow")) return true;
  return key === " " && Boolean(target.closest("button, a, summary, input"));
}
