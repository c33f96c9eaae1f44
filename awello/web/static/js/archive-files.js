/** Files with games: into the archive, and the listed games out of it. */
import { download, h, redraw, select } from "./dom.js";
import { SUFFIXES } from "./game-file.js";
import { problemWords } from "./notices.js";
import { api } from "./server.js";
import { changed } from "./store.js";
import { currentLanguage, t } from "./words.js";

const LARGEST = 1 << 24; // bytes that are sent at once
const SHOWN = 20; // reports
const ENDINGS = ".wtb,.jou,.trn,.ggf,.ogn,.gam,.txt,.xot,.gz";
/** @param {File} given */
const isNames = ({ name }) => /\.(jou|trn)$/i.test(name);
/** @param {File} given */
const isWthor = ({ name }) => /\.wtb(\.gz)?$/i.test(name);

export class ArchiveFiles {
  /** @param {import("./archive-list.js").ArchiveList} list @param {ArchiveFiles} [before] */
  constructor(list, before) {
    this.list = list;
    this.format = before?.format ?? "ggf";
    this.input = h("input", { type: "file", id: "archive-files", multiple: true, accept: ENDINGS, onchange: () => {
      this.importFiles([...(this.input.files ?? [])]);
      this.input.value = "";
    } });
    this.reports = h("div", { class: "files-reports", id: "files-reports", role: "status" });
    this.said = h("p", { class: "soft", id: "files-said", role: "status" });
    this.element = h("section", { class: "files" },
      h("p", { class: "soft" }, t("files.about")),
      h("div", { class: "buttons" }, h("label", { class: "button", htmlFor: "archive-files" }, t("files.choose")), this.input),
      this.reports, this.exportRow(), this.said);
  }

  // ---- in -----------------------------------------------------------------------------------------------------------
  /**
   * Send files, one after the other; the names of WTHOR's players and events go with each of its files.
   * @param {File[]} files
   */
  async importFiles(files) {
    const names = files.filter(isNames);
    const others = files.filter((file) => !isNames(file));
    const parcels = others.map((file) => (isWthor(file) ? [file, ...names] : [file]));
    for (const parcel of others.some(isWthor) ? parcels : [...parcels, ...names.map((file) => [file])]) {
      if (isWthor(parcel[0]) && !names.length) this.askForNames(parcel);
      else await this.send(parcel);
    }
  }

  /**
   * A file of WTHOR numbers its players; once it is in the archive, their names come too late.
   * @param {File[]} parcel
   */
  askForNames(parcel) {
    const anyway = h("button", { onclick: () => {
      line.remove();
      this.send(parcel);
    } }, t("files.anyway"));
    const line = this.say(t("files.nonames", { name: parcel[0].name }), anyway);
  }

  /** @param {File[]} parcel */
  async send(parcel) {
    const [{ name }] = parcel;
    const line = this.say(t("files.reading", { name }));
    try {
      const body = new Blob(parcel, { type: "application/octet-stream" });
      if (body.size > LARGEST) throw Object.assign(new Error(), { code: "largefile" });
      const query = new URLSearchParams(parcel.flatMap((file) => [["name", file.name], ["size", String(file.size)]]));
      const { files } = await api("POST", `/api/games/files?${query}`, body);
      redraw(line, ...reportParts(files[0]));
      changed("archive");
    } catch (error) {
      line.textContent = `${name}: ${problemWords(error)}`;
    }
  }

  /** A new line above the others. @param {Child[]} parts */
  say(...parts) {
    const line = h("div", { class: "files-report" }, ...parts);
    this.reports.prepend(line);
    while (this.reports.children.length > SHOWN) this.reports.lastChild?.remove();
    return line;
  }

  // ---- out ----------------------------------------------------------------------------------------------------------
  exportRow() {
    const change = (/** @type {HandledEvent} */ event) => (this.format = event.target.value);
    return h("div", { class: "buttons" },
      h("label", { htmlFor: "files-format" }, t("files.listed")),
      select({ id: "files-format", onchange: change }, Object.keys(SUFFIXES).map((name) => [name, t(`files.${name}`)]), this.format),
      h("button", { id: "files-out", onclick: () => this.exportGames() }, t("files.out")));
  }

  async exportGames() {
    this.said.textContent = "";
    try {
      const found = await api("GET", `/api/games/file?format=${this.format}&${this.list.wanted()}`);
      download(`awello${SUFFIXES[this.format]}`, found);
    } catch (error) {
      this.said.textContent = problemWords(error);
    }
  }
}

/** What became of a file, in a line, and what was damaged below it. @param {FileReport} report */
function reportParts({ name, format, games, new: fresh, repeated, unfinished, damaged, damage }) {
  if (format === "names") return [t("files.names", { name })];
  /** @param {number} number */
  const digits = (number) => number.toLocaleString(currentLanguage());
  const counts = Object.entries({ repeated, unfinished, damaged }).filter(([, count]) => count);
  const words = [
    t(games === 1 ? "explorer.one" : "explorer.many", { games: digits(games) }),
    t("files.new", { count: digits(fresh) }),
    ...counts.map(([key, count]) => t(`files.${key}`, { count: digits(count) })),
  ];
  const lines = damage.map((text) => h("li", {}, text));
  return [h("strong", {}, name), ` ${words.join(" · ")}`, lines.length ? h("ul", {}, ...lines) : null];
}
