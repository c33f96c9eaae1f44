/** Import files into the archive, and export the games that match the filters. */
import { buildSelect, download, h, replaceContent } from "./dom.js";
import { FILE_EXTENSIONS } from "./game-export.js";
import { currentLanguage, pluralKey, t, withColon } from "./i18n.js";
import { formatError } from "./notices.js";
import { api } from "./server.js";
import { notifyChange } from "./store.js";

const MAX_UPLOAD_BYTES = 1 << 24; // largest upload
const MAX_REPORTS = 20;
const ACCEPTED_EXTENSIONS = ".wtb,.jou,.trn,.ggf,.ogn,.gam,.txt,.xot,.gz";
/** @param {File} given */
const isNamesFile = ({ name }) => /\.(jou|trn)$/i.test(name);
/** @param {File} given */
const isWthorFile = ({ name }) => /\.wtb(\.gz)?$/i.test(name);

export class ArchiveFiles {
  /** @param {import("./archive-list.js").ArchiveList} list @param {ArchiveFiles} [before] */
  constructor(list, before) {
    this.list = list;
    this.format = before?.format ?? "ggf";
    this.input = h("input", { type: "file", id: "archive-files", multiple: true, accept: ACCEPTED_EXTENSIONS, onchange: () => {
      this.importFiles([...(this.input.files ?? [])]);
      this.input.value = "";
    } });
    this.reports = h("div", { class: "files-reports", id: "files-reports", role: "status" });
    this.exportStatus = h("p", { class: "muted", id: "files-status", role: "status" });
    this.element = h("section", { class: "files" },
      h("p", { class: "muted" }, t("files.about")),
      h("div", { class: "buttons" }, h("label", { class: "button", htmlFor: "archive-files" }, t("files.choose")), this.input),
      this.reports, this.buildExportRow(), this.exportStatus);
  }

  // ---- import -------------------------------------------------------------------------------------------------------
  /**
   * Upload files one after the other, each WTHOR file together with the lists of players and events (.jou, .trn).
   * @param {File[]} files
   */
  async importFiles(files) {
    const names = files.filter(isNamesFile);
    const others = files.filter((file) => !isNamesFile(file));
    const batches = others.map((file) => (isWthorFile(file) ? [file, ...names] : [file]));
    for (const batch of others.some(isWthorFile) ? batches : [...batches, ...names.map((file) => [file])]) {
      if (isWthorFile(batch[0]) && !names.length) this.confirmWithoutNames(batch);
      else await this.upload(batch);
    }
  }

  /**
   * Ask before importing a WTHOR file without names: it stores numbers, and names cannot be added after the import.
   * @param {File[]} batch
   */
  confirmWithoutNames(batch) {
    const anyway = h("button", { onclick: () => {
      line.remove();
      this.upload(batch);
    } }, t("files.import-anyway"));
    const line = this.addReport(t("files.no-names", { name: batch[0].name }), anyway);
  }

  /** @param {File[]} batch */
  async upload(batch) {
    const [{ name }] = batch;
    const line = this.addReport(t("files.reading", { name }));
    try {
      const body = new Blob(batch, { type: "application/octet-stream" });
      if (body.size > MAX_UPLOAD_BYTES) throw Object.assign(new Error(), { code: "file_too_large" });
      const query = new URLSearchParams(batch.flatMap((file) => [["name", file.name], ["size", String(file.size)]]));
      const { files } = await api("POST", `/api/games/import?${query}`, body);
      replaceContent(line, ...renderReport(files[0]));
      notifyChange("archive");
    } catch (error) {
      const text = formatError(error);
      line.textContent = text.startsWith(name) ? text : withColon(name, text);
    }
  }

  /** Add a report above the others. @param {Child[]} parts */
  addReport(...parts) {
    const line = h("div", { class: "files-report" }, ...parts);
    this.reports.prepend(line);
    while (this.reports.children.length > MAX_REPORTS) this.reports.lastChild?.remove();
    return line;
  }

  // ---- export -------------------------------------------------------------------------------------------------------
  buildExportRow() {
    const change = (/** @type {HandledEvent} */ event) => (this.format = event.target.value);
    return h("div", { class: "buttons" },
      h("label", { htmlFor: "files-format" }, t("files.export.format")),
      buildSelect({ id: "files-format", onchange: change }, Object.keys(FILE_EXTENSIONS).map((name) => [name, t(`files.${name}`)]), this.format),
      h("button", { id: "files-export", onclick: () => this.exportGames() }, t("files.export")));
  }

  async exportGames() {
    this.exportStatus.textContent = "";
    try {
      const response = await api("GET", `/api/games/export?format=${this.format}&${this.list.formatQuery()}`);
      download(`awello${FILE_EXTENSIONS[this.format]}`, response);
    } catch (error) {
      this.exportStatus.textContent = formatError(error);
    }
  }
}

/** The result of an import in one line, with errors of damaged games below it. @param {FileReport} report */
function renderReport({ name, format, games, new: added, duplicates, unfinished, error_count: errorCount, errors }) {
  if (format === "names") return [t("files.names", { name })];
  /** @param {number} number */
  const formatNumber = (number) => number.toLocaleString(currentLanguage());
  const counts = Object.entries({ duplicates, unfinished, errors: errorCount }).filter(([, count]) => count);
  const parts = [
    t(`games.count.${pluralKey(games)}`, { games: formatNumber(games) }),
    t("files.new", { count: formatNumber(added) }),
    ...counts.map(([key, count]) => t(`files.${key}`, { count: formatNumber(count) })),
  ];
  const lines = errors.map((text) => h("li", {}, text));
  return [h("strong", {}, name), ` ${parts.join(" · ")}`, lines.length ? h("small", {}, t("files.details")) : null, lines.length ? h("ul", {}, ...lines) : null];
}
