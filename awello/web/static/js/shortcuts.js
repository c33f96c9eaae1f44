import { eventElement } from "./dom.js";
import { settings } from "./settings.js";

/**
 * All keyboard shortcuts; the help dialog lists them.
 * @type {{ keys: string[], label: string, labelKey?: string, command: Command }[]}
 */
export const SHORTCUTS = [
  { keys: ["ArrowLeft", "k"], label: "← k", command: "goBack" },
  { keys: ["ArrowRight", "j"], label: "→ j", command: "goForward" },
  { keys: ["ArrowUp", "Home"], label: "↑ Home", command: "goToStart" },
  { keys: ["ArrowDown", "End"], label: "↓ End", command: "goToEnd" },
  { keys: [" "], label: "Space", labelKey: "key.space", command: "playBestMove" },
  { keys: ["u"], label: "u", command: "undo" },
  { keys: ["y"], label: "y", command: "redo" },
  { keys: ["n"], label: "n", command: "startNewGame" },
  { keys: ["s"], label: "s", command: "swapSides" },
  { keys: ["p"], label: "p", command: "togglePause" },
  { keys: ["f"], label: "f", command: "flipBoard" },
  { keys: ["l"], label: "l", command: "toggleEngine" },
  { keys: ["z"], label: "z", command: "toggleHints" },
  { keys: ["a"], label: "a", command: "toggleArrows" },
  { keys: ["e"], label: "e", command: "openExplorer" },
  { keys: ["r"], label: "r", command: "reviewGame" },
  { keys: ["b"], label: "b", command: "goToBlunder" },
  { keys: ["m"], label: "m", command: "goToMistake" },
  { keys: ["i"], label: "i", command: "goToInaccuracy" },
  { keys: ["g"], label: "g", command: "focusBoard" },
  { keys: ["t"], label: "t", command: "focusMoveInput" },
  { keys: ["x"], label: "x", command: "clearMarks" },
  { keys: ["?"], label: "?", command: "openHelp" },
];

/** Listen to shortcuts, except while typing and for browser shortcuts. @param {Record<Command, () => unknown>} actions */
export function listenToShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    if (!settings.keys || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || isTyping(eventElement(event), event.key)) return;
    const shortcut = SHORTCUTS.find(({ keys }) => keys.includes(event.key));
    if (!shortcut) return;
    event.preventDefault();
    actions[shortcut.command]();
  });
}

/** @param {Element} target @param {string} key */
function isTyping(target, key) {
  if (target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [role=slider]")) return true;
  if (target.closest("[role=tablist], [type=radio]") && key.startsWith("Arrow")) return true;
  return key === " " && Boolean(target.closest("button, a, summary, input"));
}
