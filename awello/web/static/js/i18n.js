/** Translations: every text of the page comes from here. */

/** The languages of the page, by code. @type {Record<string, string>} */
export const LANGUAGES = { en: "English", fr: "Français" };

/** The locales of dates. @type {Record<string, string>} */
const DATE_LOCALES = { en: "en-GB", fr: "fr-FR" };

const VARIANT_PARAMS = ["variant", "found", "chosen"]; // parameters of errors that are variants

let language = "en";

/** The texts of the current language, by key. @type {Record<string, string>} */
let texts = {};

/** The current language, such as "fr". */
export const currentLanguage = () => language;

/** Load the texts of a language and use them; unknown languages fall back to English. @param {string} name */
export async function setLanguage(name) {
  const chosen = name in LANGUAGES ? name : "en";
  texts = (await import(`./translations/${chosen}.js`)).default;
  language = chosen;
}

/**
 * The text of a key with its {values} filled in; a missing key is shown as it is.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 */
export function t(key, values = {}) {
  const text = texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/**
 * The text of an error in the current language, with its parameters filled in; null if the key is unknown, or if the
 * text needs a parameter that is missing. A key with the ending `.short` has a text that needs fewer parameters.
 * @param {string} key
 * @param {ErrorInfo} error
 */
export function translateError(key, { message, params }) {
  const values = { ...formatParams(params ?? {}), message };
  for (const each of [key, `${key}.short`]) {
    const names = texts[each]?.match(/(?<=\{)\w+(?=\})/g) ?? [];
    if (each in texts && names.every((name) => name in values)) return t(each, values);
  }
  return null;
}

/** The parameters of an error as text: variants by their names, lists with commas. @param {Record<string, unknown>} params */
function formatParams(params) {
  const format = (/** @type {[string, unknown]} */ [name, value]) => (VARIANT_PARAMS.includes(name) ? t(`game.${value}`) : Array.isArray(value) ? value.join(", ") : value);
  return Object.fromEntries(Object.entries(params).map((entry) => [entry[0], format(entry)]));
}

/** A label and a text with a colon between them. @param {string} label @param {string} text */
export const withColon = (label, text) => t("text.colon", { label, text });

/** The ending of a key for a count: "one" or "other". @param {number} count */
export const pluralKey = (count) => (new Intl.PluralRules(language).select(count) === "one" ? "one" : "other");

/**
 * A date in local time; by default, short and with the time of day.
 * @param {number | string | Date} when
 * @param {Intl.DateTimeFormatOptions} [options]
 */
export const formatDate = (when, options = { dateStyle: "short", timeStyle: "short" }) => new Intl.DateTimeFormat(DATE_LOCALES[language], options).format(new Date(when));

/**
 * A signed number such as +3, −2.5 or 0, with a typographic minus.
 * @param {number} value
 * @param {number} [digits]
 */
export function formatSigned(value, digits = 0) {
  const rounded = Number(value.toFixed(digits));
  const text = Math.abs(rounded).toLocaleString(language, { minimumFractionDigits: 0, maximumFractionDigits: digits });
  return (rounded > 0 ? "+" : rounded < 0 ? "−" : "") + text;
}
