/** The panel of the archive: what was played in this position, all its games, and files with games. */
import { ArchiveFiles } from "./archive-files.js";
import { ArchiveList } from "./archive-list.js";
import { Explorer } from "./explorer.js";
import { h } from "./dom.js";
import { t } from "./words.js";

export class GamesTab {
  constructor(app, box) {
    this.box = box;
    this.explorer = new Explorer(app);
    this.list = new ArchiveList(app);
    this.files = new ArchiveFiles(app, this.list);
    this.arrange();
  }

  /** Build everything anew, such as after a change of language. */
  build() {
    this.explorer.build();
    this.list.build();
    this.files.build();
    this.arrange();
  }

  arrange() {
    this.box.replaceChildren(
      h("h2", {}, t("explorer.title")), this.explorer.element,
      h("h2", {}, t("archive.title")), this.list.element,
      h("h2", {}, t("files.title")), this.files.element,
    );
  }

  /** The archive has changed, or is there again. */
  forget() {
    this.explorer.forget();
    this.list.forget();
  }

  update() {
    if (this.box.hidden) return;
    this.explorer.update();
    this.list.update();
  }
}
