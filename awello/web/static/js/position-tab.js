/** The position tab: import, position editor and export. */
import { finishEditing, setEditor } from "./actions.js";
import { download, h, replaceContent } from "./dom.js";
import { Editor, toolsFor } from "./editor.js";
import { exportGame, FILE_EXTENSIONS, supportsFormat } from "./game-export.js";
import { sideTurn } from "./game-text.js";
import { t } from "./i18n.js";
import { importFiles, importText } from "./import-dialog.js";
import { formatLink } from "./link.js";
import { announce, showError } from "./notices.js";
import { api } from "./server.js";
import { notifyChange, state } from "./store.js";

const PNG_SCALE = 2;

export class PositionTab {
  /** @type {Topic[]} */
  static topics = ["game", "editor"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.drawn = ""; // the editor shown, as a key
    this.text = h("textarea", { id: "import-text", rows: 4, spellcheck: false, placeholder: t("import.example") });
    this.file = h("input", { type: "file", id: "import-file", multiple: true, onchange: (event) => this.readFiles([...event.target.files]) });
    this.status = h("p", { class: "muted", role: "status" });
    this.edit = h("div", { class: "editor" });
    this.formats = Object.keys(FILE_EXTENSIONS).filter((format) => format !== "wthor") // of little use for a single game
      .map((format) => ({ format, button: this.buildExportButton(`export.${format}`, () => this.saveFile(format)) }));
    this.exportButtons = h("div", { class: "buttons" },
      this.buildExportButton("export.transcript", () => this.copy(this.formatTranscript())),
      this.buildExportButton("export.position", () => this.copy(state.game.current.position.position ?? "")),
      this.buildExportButton("export.link", () => this.copy(location.origin + location.pathname + formatLink(state.game))),
      ...this.formats.map(({ button }) => button),
      this.buildExportButton("export.svg", () => this.saveSvg()),
      this.buildExportButton("export.png", () => this.savePng()));
    box.replaceChildren(
      h("h2", {}, t("import.title")),
      h("label", { htmlFor: "import-text" }, t("import.about")), this.text,
      h("div", { class: "buttons" },
        h("button", { id: "import-submit", class: "primary", onclick: () => importText(this.text.value) }, t("import.submit")),
        h("label", { class: "button", htmlFor: "import-file" }, t("import.file")), this.file),
      h("h2", {}, t("editor.title")), this.edit,
      h("h2", {}, t("export.title")), this.exportButtons, this.status,
    );
  }

  /** @param {string} key @param {() => unknown} action */
  buildExportButton(key, action) {
    return h("button", { id: key.replace(".", "-"), onclick: async () => {
      try {
        await action();
      } catch (error) {
        showError(error);
      }
    } }, t(key));
  }

  /** @param {File[]} files */
  async readFiles(files) {
    if (!files.length) return;
    await importFiles(files);
    this.file.value = "";
  }

  /** The moves of the line as a transcript. */
  formatTranscript() {
    return state.game.line.slice(1).map((node) => (node.move === "pass" ? "" : node.move)).join("");
  }

  /** @param {string} text */
  async copy(text) {
    this.status.textContent = text;
    try {
      await navigator.clipboard.writeText(text);
      announce(t("export.copied"));
    } catch {
      announce(t("export.shown"));
    }
  }

  fetchPicture() {
    return api("POST", "/api/picture", state.game.toRequest());
  }

  /** Download the whole line in a format. @param {string} format */
  async saveFile(format) {
    download(`awello${FILE_EXTENSIONS[format]}`, await exportGame(state.game, format));
  }

  async saveSvg() {
    download("awello.svg", await this.fetchPicture(), "image/svg+xml");
  }

  async savePng() {
    const picture = new Image();
    const address = URL.createObjectURL(new Blob([await this.fetchPicture()], { type: "image/svg+xml" }));
    picture.src = address;
    await picture.decode();
    const canvas = h("canvas", { width: PNG_SCALE * picture.naturalWidth, height: PNG_SCALE * picture.naturalHeight });
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    download("awello.png", await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? ""))), "image/png");
  }

  // ---- the editor ---------------------------------------------------------------------------------------------------
  update() {
    const { editor, game } = state;
    for (const { format, button } of this.formats) button.hidden = !supportsFormat(format, game);
    const drawn = editor ? [editor.format(), editor.tool].join() : `closed ${game.family}`;
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    replaceContent(this.edit, ...(editor ? this.renderEditor(editor, game) : [this.renderOpenButton()]));
  }

  renderOpenButton() {
    return h("button", { id: "editor-open", onclick: () => {
      const { game } = state;
      setEditor(new Editor(game.variant, game.current.position));
    } }, t("editor.open"));
  }

  /** @param {Editor} editor @param {Game} game */
  renderEditor(editor, game) {
    /** @param {() => void} change */
    const act = (change) => () => {
      change();
      notifyChange("editor");
    };
    const othello = game.family === "othello";
    return [
      h("p", { class: "muted" }, t(othello ? "editor.othello" : "editor.awale", { seeds: othello ? "" : editor.inHand })),
      this.renderRadioGroup("tool", toolsFor(editor.board), editor.tool, (tool) => t(`editor.tool.${tool}`), (tool) => (editor.tool = tool)),
      this.renderRadioGroup("side", [0, 1], editor.side, (side) => sideTurn(game.family, side), (side) => (editor.side = side)),
      h("div", { class: "buttons" },
        h("button", { id: "editor-clear", onclick: act(() => editor.clear()) }, t("editor.clear")),
        h("button", { id: "editor-reset", onclick: act(() => editor.reset()) }, t("editor.reset")),
        h("button", { id: "editor-done", class: "primary", onclick: () => finishEditing() }, t("editor.done")),
        h("button", { id: "editor-cancel", onclick: () => setEditor(null) }, t("editor.cancel"))),
    ];
  }

  /**
   * @param {string} name
   * @param {any[]} values
   * @param {any} chosen
   * @param {(value: any) => string} label
   * @param {(value: any) => void} choose
   */
  renderRadioGroup(name, values, chosen, label, choose) {
    return h("fieldset", { class: "radio-group" }, h("legend", { class: "visually-hidden" }, t(`editor.${name}.legend`)), ...values.map((value) =>
      h("label", {}, h("input", { type: "radio", id: `editor-${name}-${value}`, name: `editor-${name}`, checked: value === chosen, onchange: () => {
        choose(value);
        notifyChange("editor");
      } }), label(value))));
  }
}
