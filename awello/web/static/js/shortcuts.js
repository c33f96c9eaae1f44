import { eventElement } from "./dom.js";
import { settings } from "./settings.js";

/**
 * All keyboard shortcuts; the help dialog lists them. Labels are characters or translation keys.
 * @type {{ keys: string[], labels: string[], command: Command }[]}
 */
export const SHORTCUTS = [
  { keys: ["ArrowLeft", "k"], labels: ["←", "k"], command: "goBack" },
  { keys: ["ArrowRight", "j"], labels: ["→", "j"], command: "goForward" },
  { keys: ["ArrowUp", "Home"], labels: ["↑", "key.home"], command: "goToStart" },
  { keys: ["ArrowDown", "End"], labels: ["↓", "key.end"], command: "goToEnd" },
  { keys: [" "], labels: ["key.space"], command: "playBestMove" },
  { keys: ["u"], labels: ["u"], command: "undo" },
  { keys: ["y"], labels: ["y"], command: "redo" },
  { keys: ["n"], labels: ["n"], command: "startNewGame" },
  { keys: ["s"], labels: ["s"], command: "swapSides" },
  { keys: ["p"], labels: ["p"], command: "togglePause" },
  { keys: ["f"], labels: ["f"], command: "flipBoard" },
  { keys: ["l"], labels: ["l"], command: "toggleEngine" },
  { keys: ["z"], labels: ["z"], command: "toggleHints" },
  { keys: ["a"], labels: ["a"], command: "toggleEngineMark" },
  { keys: ["e"], labels: ["e"], command: "openExplorer" },
  { keys: ["r"], labels: ["r"], command: "reviewGame" },
  { keys: ["b"], labels: ["b"], command: "goToBlunder" },
  { keys: ["m"], labels: ["m"], command: "goToMistake" },
  { keys: ["i"], labels: ["i"], command: "goToInaccuracy" },
  { keys: ["g"], labels: ["g"], command: "focusBoard" },
  { keys: ["t"], labels: ["t"], command: "focusMoveInput" },
  { keys: ["x"], labels: ["x"], command: "clearMarks" },
  { keys: ["?"], labels: ["?"], command: "openHelp" },
];

/** Listen to shortcuts, except while typing and for browser shortcuts. @param {Record<Command, () => unknown>} actions */
export function listenToShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    if (!settings.shortcuts || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
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
