/** The panel of what the page looks and sounds like. */
import { h } from "./dom.js";
import { set, settings } from "./settings.js";
import { setSounds } from "./sounds.js";
import { LANGUAGES, setLanguage, t } from "./words.js";

const MODES = ["system", "light", "dark"];
const BOARDS = ["green", "blue", "wood", "grey", "contrast"];
const SPEEDS = [0, 80, 160, 320, 600];
const SIZES = { min: 280, max: 960, step: 20 };

/** Make the page look as the settings say. */
export function applySettings() {
  const root = document.documentElement;
  setLanguage(settings.language);
  root.lang = settings.language;
  root.dataset.mode = settings.mode;
  root.dataset.board = settings.board;
  root.style.setProperty("--board-size", `${settings.size}px`);
  setSounds(settings.sounds);
}

export class SettingsPanel {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.build();
  }

  build() {
    this.box.replaceChildren(
      this.select("language", Object.keys(LANGUAGES), (name) => LANGUAGES[name]["language.name"]),
      this.select("mode", MODES, (name) => t(`settings.mode.${name}`)),
      this.select("board", BOARDS, (name) => t(`settings.board.${name}`)),
      this.row("size", h("input", { type: "range", id: "setting-size", ...SIZES, value: settings.size, oninput: (event) => this.change("size", Number(event.target.value)) })),
      this.select("speed", SPEEDS, (value) => t(`settings.speed.${value}`), Number),
      this.check("sounds"), this.check("arrows"), this.check("keys"), this.check("archive"),
      this.row("name", h("input", { id: "setting-name", maxLength: 60, autocomplete: "nickname", spellcheck: false, placeholder: t("settings.name.none"), value: settings.name, onchange: (event) => this.change("name", event.target.value.trim()) })),
      h("p", { class: "soft" }, h("a", { href: "/api" }, t("settings.api"))),
    );
  }

  row(name, control) {
    return h("div", { class: "row" }, h("label", { htmlFor: control.id }, t(`settings.${name}`)), control);
  }

  select(name, values, words, read = String) {
    const options = values.map((value) => h("option", { value, selected: value === settings[name] }, words(value)));
    const control = h("select", { id: `setting-${name}`, onchange: () => this.change(name, read(control.value)) }, ...options);
    return this.row(name, control);
  }

  check(name) {
    const control = h("input", { type: "checkbox", id: `setting-${name}`, checked: settings[name], onchange: () => this.change(name, control.checked) });
    return this.row(name, control);
  }

  change(name, value) {
    set(name, value);
    applySettings();
    if (name === "language") this.app.speakOtherLanguage();
    else this.app.draw();
  }

  update() {}
}
