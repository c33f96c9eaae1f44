/** The API reference, generated from the OpenAPI description of the server. */
import { byId, h } from "./dom.js";
import { api } from "./server.js";

const description = await api("GET", "/api/openapi.json");
const main = byId("reference");

/** Resolve a schema reference. @param {any} schema */
function resolve(schema) {
  return schema?.$ref ? description.components.schemas[schema.$ref.split("/").at(-1)] : schema;
}

/** The fields of a request, one per line. @param {any} operation */
function renderFields(operation) {
  const schema = resolve(operation.requestBody?.content["application/json"]?.schema);
  const fields = Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const type = field.type ?? field.anyOf?.map((/** @type {any} */ one) => one.type).join(" or ") ?? "";
    const fallback = "default" in field ? `, default: ${JSON.stringify(field.default)}` : "";
    return `${name}: ${type}${fallback}${field.description ? `  (${field.description})` : ""}`;
  });
  return fields.length ? h("pre", { tabIndex: 0 }, fields.join("\n")) : null;
}

main.append(h("p", { class: "about" }, description.info.description.trim()), h("p", {}, h("a", { href: "/api/openapi.json" }, "openapi.json")));
for (const [path, operations] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    main.append(h("section", {}, h("h2", {}, `${method.toUpperCase()} ${path}`), h("p", {}, h("b", {}, operation.summary ?? "")), h("p", {}, operation.description ?? ""), renderFields(operation)));
  }
}
