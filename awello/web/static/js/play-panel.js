/** The panel to choose opponents, to see the moves and to find earlier games. */
import "./move-list.js";
import { PERSON } from "./game.js";
import { h } from "./dom.js";
import { levelsOf, programsFor } from "./levels.js";
import { valuesOf } from "./screen.js";
import { recentGames } from "./settings.js";
import { currentLanguage, t } from "./words.js";

const CLOCKS = ["", "60+0", "180+2", "300+0", "600+5", "1800+0"];
const OTHER = "other";

export class PlayPanel {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.build();
  }

  build() {
    const { app } = this;
    this.seats = [0, 1].map((side) => this.seat(side));
    this.clock = h("select", { id: "clock-picker", onchange: () => app.actions.setClock(this.clock.value) });
    this.move = h("input", { id: "typed-move", autocomplete: "off", maxLength: 5, spellcheck: false, placeholder: t("play.type.example") });
    this.list = document.createElement("move-list");
    this.list.addEventListener("jump", (event) => app.jump(event.detail.id));
    this.list.addEventListener("promote", (event) => app.promote(event.detail.id));
    this.list.addEventListener("delete", (event) => app.remove(event.detail.id));
    this.recent = h("ul", { class: "recent" });
    this.pauseButton = h("button", { id: "pause", onclick: () => app.actions.pause() });
    this.terms = h("div", {},
      h("div", { class: "seats" }, ...this.seats.map((seat) => seat.row), this.labelled("play.clock", this.clock)),
      h("div", { class: "buttons" },
        h("button", { id: "change-sides", onclick: () => app.actions.changeSides() }, t("control.sides")),
        this.pauseButton,
        h("button", { id: "resign", onclick: () => app.actions.resign() }, t("control.resign"))));
    this.box.replaceChildren(
      this.terms,
      h("form", { class: "typed", onsubmit: (event) => this.typed(event) },
        h("label", { htmlFor: "typed-move" }, t("play.type")), this.move, h("button", {}, t("play.type.go"))),
      this.list,
      h("details", { class: "more", ontoggle: () => this.fillRecent() }, h("summary", {}, t("play.recent")), this.recent),
    );
  }

  labelled(key, control) {
    return h("div", { class: "row" }, h("label", { htmlFor: control.id }, t(key)), control);
  }

  seat(side) {
    const picker = h("select", { id: `seat-${side}` });
    const spec = h("input", { class: "spec", autocomplete: "off", spellcheck: false, maxLength: 120, hidden: true });
    picker.addEventListener("change", () => {
      spec.hidden = picker.value !== OTHER;
      if (picker.value === OTHER) spec.focus();
      else this.app.actions.setSeat(side, picker.value);
    });
    spec.addEventListener("change", () => this.app.actions.setSeat(side, spec.value.trim() || PERSON));
    const label = h("label", { htmlFor: picker.id });
    const row = h("div", { class: "row" }, label, picker, spec);
    return { row, picker, spec, label };
  }

  typed(event) {
    event.preventDefault();
    if (this.app.typeMove(this.move.value.trim())) this.move.value = "";
  }

  update() {
    const { game, paused } = this.app.table;
    if (this.filled !== game.game + currentLanguage()) this.fill(game);
    this.terms.hidden = game.live; // the club knows them
    this.seats.forEach(({ picker, spec }, side) => showSeat(picker, spec, game.seats[side]));
    this.showClock(game.clock ? `${game.clock.seconds}+${game.clock.increment}` : "");
    this.pauseButton.hidden = game.seats.includes(PERSON) && !paused;
    this.pauseButton.textContent = t(paused ? "control.resume" : "control.pause");
    document.getElementById("resign").disabled = game.at.over || game.at.children.length > 0 || !game.seats.includes(PERSON);
    this.list.config = { tree: treeOf(game.root), at: game.at.id, family: game.family };
  }

  fill({ game, family }) {
    this.filled = game + currentLanguage();
    const levels = levelsOf(family).map((spec, place) => h("option", { value: spec }, t(`level.${place + 1}`)));
    const programs = programsFor(game, this.app.players).map((spec) => h("option", { value: spec }, spec));
    this.seats.forEach(({ picker, spec, label }, side) => {
      label.textContent = t(`side.${family}.${side}`);
      spec.ariaLabel = t("play.spec", { side: t(`side.${family}.${side}`) });
      picker.replaceChildren(
        h("option", { value: PERSON }, t("player.person")),
        h("optgroup", { label: t("play.levels") }, ...levels.map((option) => option.cloneNode(true))),
        h("optgroup", { label: t("play.programs") }, ...programs.map((option) => option.cloneNode(true))),
        h("option", { value: OTHER }, t("play.other")),
      );
    });
    this.clock.replaceChildren(...CLOCKS.map((text) => h("option", { value: text }, clockWords(text))));
  }

  showClock(text) {
    if (!CLOCKS.includes(text)) this.clock.append(h("option", { value: text }, clockWords(text)));
    this.clock.value = text;
  }

  fillRecent() {
    const when = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "short", timeStyle: "short" });
    const games = recentGames();
    this.recent.replaceChildren(
      ...games.map((entry) => h("li", {}, h("a", { href: entry.link }, entry.label), " ", h("small", {}, when.format(entry.when)))),
      ...(games.length ? [] : [h("li", {}, t("play.recent.none"))]),
    );
  }
}

/** Show a seat's spec in its list, or as text if the list does not have it. */
function showSeat(picker, spec, seat) {
  if (document.activeElement === spec || (picker.value === OTHER && document.activeElement === picker)) return;
  const listed = [...picker.options].some((option) => option.value === seat);
  picker.value = listed ? seat : OTHER;
  spec.hidden = listed;
  if (!listed) spec.value = seat;
}

function clockWords(text) {
  if (!text) return t("play.clock.none");
  const [seconds, increment] = text.split("+").map(Number);
  return t(increment ? "play.clock.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** The tree as the list of moves wants it. */
export function treeOf(root) {
  const describe = (node) => ({
    id: node.id, move: node.move, side: node.parent?.view?.side ?? 0, ...valuesOf(node),
    best: node.judgement?.best ?? null, seconds: node.seconds, children: [],
  });
  const top = describe(root);
  const waiting = [[root, top]];
  while (waiting.length) {
    const [node, shown] = waiting.pop();
    for (const child of node.children) {
      const below = describe(child);
      shown.children.push(below);
      waiting.push([child, below]);
    }
  }
  return top;
}
