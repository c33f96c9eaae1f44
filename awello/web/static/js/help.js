/** The help dialog: rules and keyboard shortcuts. */
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { SHORTCUTS } from "./shortcuts.js";

/** Show the help for a family of games. @param {Family} family */
export function showHelp(family) {
  const sheet = /** @type {HTMLDialogElement} */ (document.getElementById("help"));
  const rows = SHORTCUTS.map(({ labels, command }) =>
    h("tr", {}, h("th", { scope: "row" }, ...labels.map((label) => h("kbd", {}, t(label)))), h("td", {}, t(`shortcut.${command}`))));
  sheet.replaceChildren(
    h("h2", { id: "help-title", tabIndex: -1, autofocus: true }, t("help.title")),
    h("h3", {}, t(`help.${family}.title`)), h("p", {}, t(`help.${family}.rules`)),
    h("h3", {}, t("help.shortcuts")), h("p", {}, t("help.board")),
    h("table", {}, h("caption", { class: "visually-hidden" }, t("help.shortcuts")), h("tbody", {}, ...rows)),
    h("form", { method: "dialog" }, h("button", { class: "primary" }, t("help.close"))),
  );
  sheet.showModal();
}
