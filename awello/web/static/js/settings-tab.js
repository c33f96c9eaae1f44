/** The settings tab. */
import { buildFormRow, buildSelect, h } from "./dom.js";
import { LANGUAGES, setLanguage, t } from "./i18n.js";
import { saveSetting, settings } from "./settings.js";
import { enableSounds } from "./sounds.js";
import { notifyChange } from "./store.js";

const THEMES = ["system", "light", "dark"];
const BOARD_COLOURS = ["green", "blue", "wood", "grey", "contrast"];
const SOWING_DELAYS_MS = [0, 80, 160, 320, 600];
const BOARD_SIZES = { min: 280, max: 960, step: 20 };

/** Apply the settings to the page. */
export function applySettings() {
  const root = document.documentElement;
  root.lang = settings.language;
  root.dataset.theme = settings.theme;
  root.dataset.boardColours = settings.boardColours;
  root.style.setProperty("--board-size", `${settings.boardSize}px`);
  enableSounds(settings.sounds);
}

export class SettingsTab {
  /** @type {Topic[]} */
  static topics = [];

  /** @param {HTMLElement} box */
  constructor(box) {
    box.replaceChildren(
      this.buildSelect("language", Object.keys(LANGUAGES), (name) => LANGUAGES[name]),
      this.buildSelect("theme", THEMES, (name) => t(`settings.theme.${name}`)),
      this.buildSelect("boardColours", BOARD_COLOURS, (name) => t(`settings.boardColours.${name}`)),
      this.buildFormRow("boardSize", h("input", { type: "range", id: "setting-boardSize", ...BOARD_SIZES, value: settings.boardSize, oninput: (event) => this.changeSetting("boardSize", Number(event.target.value)) })),
      this.buildSelect("sowingDelayMs", SOWING_DELAYS_MS, (value) => t(`settings.sowingDelayMs.${value}`), Number),
      this.buildCheckbox("sounds"), this.buildCheckbox("engineMark"), this.buildCheckbox("shortcuts"), this.buildCheckbox("saveGames"),
      this.buildFormRow("name", h("input", { id: "setting-name", maxLength: 60, autocomplete: "nickname", spellcheck: false, placeholder: t("settings.name.none"), value: settings.name, onchange: (event) => this.changeSetting("name", event.target.value.trim()) })),
      h("p", { class: "muted" }, h("a", { href: "/api" }, t("settings.api"))),
    );
  }

  /** @param {SettingName} name @param {HTMLElement} control */
  buildFormRow(name, control) {
    return buildFormRow(t(`settings.${name}`), control);
  }

  /**
   * @param {SettingName} name
   * @param {(string | number)[]} values
   * @param {(value: any) => string} label
   * @param {(value: string) => unknown} [read]
   */
  buildSelect(name, values, label, read = String) {
    const change = (/** @type {HandledEvent} */ event) => this.changeSetting(name, read(event.target.value));
    const control = buildSelect({ id: `setting-${name}`, onchange: change }, values.map((value) => [value, label(value)]), settings[name]);
    return this.buildFormRow(name, control);
  }

  /** @param {SettingName} name */
  buildCheckbox(name) {
    const change = (/** @type {HandledEvent} */ event) => this.changeSetting(name, event.target.checked);
    return this.buildFormRow(name, h("input", { type: "checkbox", id: `setting-${name}`, checked: settings[name], onchange: change }));
  }

  /** @param {SettingName} name @param {unknown} value */
  async changeSetting(name, value) {
    if (name === "language") await setLanguage(String(value));
    saveSetting(name, value);
    if (name === "language") notifyChange("language");
  }

  update() {}
}
