/** The panel of the laboratory: contests of programs, and the tree of a search. */
import "./lab-panel.js";
import "./tree-panel.js";
import { h } from "./dom.js";
import { levelsOf, PROGRAMS } from "./levels.js";
import { api } from "./server.js";
import { t } from "./words.js";

export class LabTab {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.build();
  }

  build() {
    this.contest = document.createElement("lab-panel");
    this.tree = document.createElement("tree-panel");
    this.contest.addEventListener("replay", (event) => this.app.replay(event.detail));
    this.game = null;
    this.at = null;
    this.box.replaceChildren(
      h("h2", {}, t("lab.title")), this.contest,
      h("h2", {}, t("tree.title")), this.tree,
    );
  }

  update() {
    const { game } = this.app.table;
    if (this.box.hidden) return;
    if (this.game !== game.game) {
      this.game = game.game;
      const players = [...Object.values(PROGRAMS), ...levelsOf(game.family).slice(3)];
      this.contest.config = { game: game.game, players, api, contest: null };
    }
    if (this.at !== game.at) {
      this.at = game.at;
      this.tree.config = { line: game.question(), api };
    }
  }
}
