/** The panel of the archive: what was played in this position, and all its games. */
import { ArchiveList } from "./archive-list.js";
import { Explorer } from "./explorer.js";
import { h } from "./dom.js";
import { t } from "./words.js";

export class GamesTab {
  constructor(app, box) {
    this.box = box;
    this.explorer = new Explorer(app);
    this.list = new ArchiveList(app);
    this.arrange();
  }

  /** Build everything anew, such as after a change of language. */
  build() {
    this.explorer.build();
    this.list.build();
    this.arrange();
  }

  arrange() {
    this.box.replaceChildren(
      h("h2", {}, t("explorer.title")), this.explorer.element,
      h("h2", {}, t("archive.title")), this.list.element,
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
