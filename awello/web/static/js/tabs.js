/** The tabs beside the board and their panels. */
import { byId, eventElement, h, translate } from "./dom.js";
import { setState, state, subscribe } from "./store.js";

/** @type {Record<string, { Panel: PanelClass, panel: any, unsubscribe: () => void }>} */
const tabs = {};

/** Create the panel of a tab; it can take over state from the previous panel. @param {string} name @param {PanelClass} Panel */
export function addPanel(name, Panel) {
  tabs[name]?.unsubscribe();
  const panel = new Panel(byId(`panel-${name}`), tabs[name]?.panel);
  const update = () => state.game?.current.position && panel.update();
  tabs[name] = { Panel, panel, unsubscribe: subscribe(Panel.topics, update) };
  update();
}

/** Add a tab after the first one. @param {string} name @param {PanelClass} Panel */
export function addTab(name, Panel) {
  const title = h("button", { id: `tab-${name}`, role: "tab", tabIndex: -1, "aria-controls": `panel-${name}`, "aria-selected": "false", "data-t": `tab.${name}` });
  byId("tab-play").after(title);
  byId("panel-play").after(h("div", { id: `panel-${name}`, role: "tabpanel", class: "panel", hidden: true, "aria-labelledby": `tab-${name}` }));
  translate(document);
  addPanel(name, Panel);
}

/** Rebuild all panels after a change of language. */
export function rebuildPanels() {
  for (const [name, { Panel }] of Object.entries(tabs)) addPanel(name, Panel);
}

/** The panel of a tab. @param {string} name */
export const getPanel = (name) => tabs[name].panel;

/** Show a tab, and one of its views. @param {string} name @param {string} [view] */
export function showTab(name, view) {
  for (const other of Object.keys(tabs)) {
    const chosen = other === name;
    byId(`tab-${other}`).ariaSelected = String(chosen);
    byId(`tab-${other}`).tabIndex = chosen ? 0 : -1;
    byId(`panel-${other}`).hidden = !chosen;
  }
  setState({ tab: name });
  if (view) getPanel(name).show(view);
}

/** Switch tabs by click and arrow keys. */
export function listenToTabs() {
  const list = /** @type {HTMLElement} */ (document.querySelector("[role=tablist]"));
  const nameOf = (/** @type {Element} */ tab) => tab.id.replace("tab-", "");
  list.addEventListener("click", (event) => {
    const tab = eventElement(event).closest("[role=tab]");
    if (tab) showTab(nameOf(tab));
  });
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const names = [...list.children].filter((tab) => tab.checkVisibility()).map(nameOf);
    const next = names[(names.indexOf(state.tab) + step + names.length) % names.length];
    showTab(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
  });
}
