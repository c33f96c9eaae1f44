/** The archive tab: explorer, list of games, and files. */
import { ArchiveFiles } from "./archive-files.js";
import { ArchiveList } from "./archive-list.js";
import { h } from "./dom.js";
import { Explorer } from "./explorer.js";
import { t } from "./i18n.js";
import { subscribe } from "./store.js";

export class GamesTab {
  /** @type {Topic[]} */
  static topics = ["game", "tab", "archive"];

  leave = () => {};

  /** @param {HTMLElement} box @param {GamesTab} [before] */
  constructor(box, before) {
    before?.leave();
    this.box = box;
    this.explorer = new Explorer();
    this.list = new ArchiveList(before?.list);
    this.files = new ArchiveFiles(this.list, before?.files);
    this.leave = subscribe(["archive"], () => this.invalidate());
    this.box.replaceChildren(
      h("h2", {}, t("explorer.title")), this.explorer.element,
      h("h2", {}, t("archive.title")), this.list.element,
      h("h2", {}, t("files.title")), this.files.element,
    );
  }

  invalidate() {
    this.explorer.invalidate();
    this.list.invalidate();
  }

  update() {
    if (this.box.hidden) return;
    this.explorer.update();
    this.list.update();
  }
}
