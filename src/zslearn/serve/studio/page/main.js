// The page: makes the views, ties them to the studio, and starts.

import { TAB, listen, loadThumbnail } from "./server.js";
import { BalanceView } from "./balance.js";
import { CardPanel, LabelPanel } from "./card.js";
import { ChooseView } from "./method.js";
import { ClassList, ClassPanel, NewClass, suggestion } from "./classes.js";
import { COLOR_MODES, MapView } from "./map.js";
import { ConfusionView, PictureLoader, PicturesView } from "./samples.js";
import { DropZone, Preparing, exportSelection, openKeep } from "./frame.js";
import { Studio } from "./studio.js";
import { Tabs, byId, counted, fill, h, say, setUnit, whole } from "./dom.js";

const VIEWS = [
  ["map", "Map"],
  ["pictures", "Pictures"],
  ["confusion", "Mistakes"],
  ["balance", "Balance"],
  ["choose", "Method"],
];
const SCOPES = [
  ["new", "new classes"],
  ["test", "test pictures"],
  ["all", "all pictures"],
];

const WAIT = 300; // milliseconds between two questions whether the pictures are ready
const PATIENCE = 2000; // the same, while the program does not answer

const studio = new Studio();
studio.on("state", () => {
  if (setUnit(studio.state.data?.unit)) relabel(); // before any view speaks of samples
});
// Browsers open six connections to a server; edits and events need some of them.
const loader = new PictureLoader(loadThumbnail, { atOnce: 3, kept: 2000 });

function announce(text) {
  byId("announcements").textContent = text;
}

/** A line above the board, with a button that takes it away. */
function tell(element, text) {
  element.hidden = false;
  const close = () => (element.hidden = true);
  fill(
    element,
    h("span", {}, text),
    h("button", { type: "button", class: "quiet", "aria-label": "Close the message", onclick: close }, "×"),
  );
}

function fail(error) {
  tell(byId("message"), error.message);
  if (!error.status && error.status !== 0) throw error;
}

let noticed = "";

/** What is odd about the data is said once. */
function showNotice() {
  const { notice } = studio.state;
  if (!notice || notice === noticed) return;
  noticed = notice;
  tell(byId("notice"), notice);
}

const details = Object.fromEntries(
  ["card", "class", "new", "label", "help"].map((name) => [name, h("div", { class: `detail ${name}`, hidden: true })]),
);
const closeDetails = h(
  "button",
  { type: "button", class: "quiet close", "aria-label": "Close the details", onclick: () => close() },
  "×",
);
fill(byId("details"), closeDetails, ...Object.values(details));

const preparing = new Preparing({ element: byId("preparing"), board: byId("board") });
const views = {};
const tabs = new Tabs({
  list: byId("tabs"),
  stage: byId("views"),
  names: VIEWS,
  shown: (id) => views[id]?.refresh(),
});
const parts = (name) => ({ studio, loader, announce, fail, element: tabs.panels.get(name) });
const openPictures = () => tabs.open("pictures");
views.map = new MapView(parts("map"));
views.pictures = new PicturesView(parts("pictures"));
views.confusion = new ConfusionView({ ...parts("confusion"), open: openPictures });
views.balance = new BalanceView(parts("balance"));
views.choose = new ChooseView({ ...parts("choose"), open: openPictures });

const panel = (name) => ({ studio, loader, announce, fail, element: details[name] });
const classPanel = new ClassPanel(panel("class"));
const cardPanel = new CardPanel(panel("card"));
const newClass = new NewClass(panel("new"));
const labelPanel = new LabelPanel(panel("label"));
const dropZone = new DropZone({ studio, announce, fail, busy: (text) => showStatus(text && `${text} …`, "busy") });
const labelNext = h("button", { type: "button", onclick: () => work("label", () => labelPanel.open()) }, "Label these next");
new ClassList({
  studio,
  element: byId("classes"),
  actions: [dropZone.button, labelNext],
  describe: (name) => describe(name),
});

let detailed = ""; // what the details show
let working = ""; // the form that is open: "new" or "label"

function describe(name) {
  const first = suggestion(studio);
  const known = first && first.name === name ? first : null;
  work("new", () => newClass.open(name ? { name, text: known?.text ?? "" } : {}));
}

function work(name, open) {
  studio.look({ focus: null, sample: null, dropped: null });
  working = name;
  showDetails();
  open();
}

function close() {
  const back = working === "label" && shownDetail() !== "label";
  if (!back) working = "";
  studio.look({ focus: null, sample: null, dropped: null });
}

function shownDetail() {
  const { sample, dropped, focus } = studio.view;
  return sample !== null || dropped !== null ? "card" : focus !== null ? "class" : working || "help";
}

function showDetails() {
  const shown = shownDetail();
  if (shown !== working && working === "new") working = "";
  for (const [name, element] of Object.entries(details)) element.hidden = name !== shown;
  const opened = shown !== "help" && !document.body.classList.contains("with-details");
  document.body.classList.toggle("with-details", shown !== "help");
  // On a phone the details are a sheet below the map: bring the map into sight.
  if (opened && matchMedia("(max-width: 720px)").matches) window.scrollTo({ top: 0 });
  closeDetails.hidden = shown === "help";
  const { sample, dropped, focus } = studio.view;
  const about = `${shown} ${sample} ${dropped} ${focus}`;
  if (about !== detailed) byId("details").scrollTop = 0;
  detailed = about;
  if (shown === "card") cardPanel.open(studio.view);
  else cardPanel.close();
  if (shown === "class") classPanel.open(studio.view.focus);
  else if (shown !== "card") classPanel.close();
}

/** Texts are not called pictures. */
function relabel() {
  tabs.tabs.get("pictures").textContent = say("Pictures");
  views.pictures.scroller.setAttribute("aria-label", say("Pictures"));
}

function showHelp() {
  const texts = studio.state?.data?.unit === "text";
  const near = texts ? "rest on a point to read it" : studio.state?.data?.pictures ? "near enough, the points are pictures" : "rest on a point to see its name";
  fill(
    details.help,
    h("h2", {}, "How to look"),
    h(
      "ul",
      { class: "hints" },
      h("li", {}, say("Click a picture to see why it got its answer.")),
      studio.state?.data.drop ? h("li", {}, say(`${studio.state.data.unit === "text" ? "Paste" : "Drop"} a picture of your own on the page to see it named.`)) : null,
      h("li", {}, "Click a class to change its description and watch the answers."),
      h("li", {}, `Drag to move the map, turn the wheel to zoom; ${near}.`),
      h("li", {}, "Draw a lasso (or hold Shift and drag) to look at a part."),
    ),
  );
}

function showIntro() {
  const { data, ready } = studio.state;
  const own = [...studio.classes.values()].some((c) => c.added || c.examples?.length);
  const intro = byId("intro");
  intro.hidden = !ready || own || !studio.classes.size;
  if (intro.hidden) return;
  const first = suggestion(studio);
  const fresh = [...studio.classes.values()].filter((c) => !c.seen && c.count).length;
  const open = studio.waiting.length;
  const waiting = open && open < fresh ? `; ${whole(open)} of them ${open === 1 ? "waits" : "wait"} for a description` : "";
  const shown = data.pictures || data.unit === "text" ? say("These pictures show") : "These points are samples of";
  byId("intro-text").textContent = fresh
    ? `${shown} ${fresh === 1 ? "a class" : `${whole(fresh)} classes`} the model never trained on${waiting}. Describe ${fresh === 1 ? "it" : "one"} in words, and watch its ${say("pictures")} being recognized.`
    : "Describe a class that is not in the list, and watch which samples it takes.";
  fill(
    byId("intro-actions"),
    h("button", { type: "button", class: "primary", id: "describe", onclick: () => describe(first?.name) }, "Describe a new class"),
    first?.text
      ? h(
          "button",
          { type: "button", class: "suggestion", onclick: () => describe(first.name) },
          h("span", { class: "muted" }, "for example "),
          `“${first.text}”`,
        )
      : null,
  );
}

function showTop() {
  const { state } = studio;
  const method = state.methods?.find((m) => m.id === state.method)?.name;
  byId("about").textContent = [
    state.data.name ?? "opening …",
    state.ready ? counted(state.data.n, "picture") : null,
    method,
  ].filter(Boolean).join(" · ");
  if (state.data.name) document.title = `${state.data.name} – zslearn studio`;
  byId("keep").disabled = !state.ready;
  for (const [id, text] of [["undo", "Undo"], ["redo", "Redo"]]) {
    const button = byId(id);
    button.disabled = !state[id];
    button.title = state[id] ? `${text}: ${state[id]}` : `Nothing to ${id}`;
  }
}

function select(label, options, value, onchange) {
  const control = h("select", { "aria-label": label, onchange: () => onchange(control.value) }, options.map(([id, text]) => h("option", { value: id }, text)));
  control.value = value;
  return h("label", {}, h("span", {}, `${label} `), control);
}

function showSelection() {
  const { selection, scope, color } = studio.view;
  const bar = byId("selection");
  bar.hidden = !studio.state?.ready || tabs.current === "balance";
  fill(
    bar,
    select("Show", SCOPES.map(([value, text]) => [value, say(text)]), scope, (value) => studio.look({ scope: value, selection: null })),
    tabs.current === "map" ? select("Color by", COLOR_MODES, color, (value) => studio.look({ color: value })) : null,
    selection
      ? h(
          "span",
          { class: "chip" },
          h("b", {}, `${whole(selection.length)} selected`),
          h("button", { type: "button", class: "link", onclick: () => exportSelection(studio).catch(fail) }, "Export CSV"),
          h("button", { type: "button", class: "link", onclick: () => studio.look({ selection: null }) }, "Clear"),
        )
      : null,
  );
}

async function undo(what) {
  try {
    await studio[what]();
    announce(what === "undo" ? "Undone" : "Done again");
  } catch (error) {
    fail(error);
  }
}

function keys(event) {
  const typing = event.target.matches?.("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea");
  if (!(event.ctrlKey || event.metaKey) || typing) return;
  const key = event.key.toLowerCase();
  const what = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
  if (!what) return;
  event.preventDefault();
  if (studio.state?.[what]) undo(what);
}

let connected = true;

function showStatus(text, kind = "") {
  byId("connection").textContent = text;
  byId("connection").className = `state ${kind}`;
}

function connection(open) {
  const again = open && !connected;
  connected = open;
  showStatus(open ? "" : "Reconnecting …");
  if (again) byId("message").hidden = true;
  return again;
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Load, and ask again while the program prepares the pictures or is started again. */
async function untilReady() {
  for (;;) {
    try {
      await studio.load();
      connection(true);
      if (studio.state.ready) return;
      await pause(WAIT);
    } catch (error) {
      if (error.status !== 0) throw error;
      connection(false);
      await pause(PATIENCE);
    }
  }
}

let opening = null;

async function reload() {
  try {
    if (!opening) await studio.load();
    if (opening || !studio.state.ready) await (opening ??= untilReady().finally(() => (opening = null)));
  } catch (error) {
    fail(error);
  }
}

async function start() {
  byId("undo").addEventListener("click", () => undo("undo"));
  byId("redo").addEventListener("click", () => undo("redo"));
  byId("keep").addEventListener("click", () => openKeep(byId("keep-dialog"), studio));
  document.addEventListener("keydown", keys);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && studio.view.selection) studio.look({ selection: null });
  });
  studio.on("state", () => {
    showTop();
    showIntro();
    showNotice();
    showHelp();
    labelNext.hidden = !studio.state.learns || !studio.state.data.truth;
    preparing.show(studio.state.progress);
  });
  studio.on("view", showDetails);
  studio.on("view state", showSelection);
  byId("tabs").addEventListener("click", showSelection);
  byId("tabs").addEventListener("keydown", () => setTimeout(showSelection));
  showHelp();
  showDetails();
  tabs.open("map");
  try {
    await untilReady();
    const fresh = [...studio.classes.values()].some((c) => !c.seen && c.count);
    studio.look({ scope: fresh ? "new" : "all" });
  } catch (error) {
    fail(error);
  }
  listen({
    connected: (open) => connection(open) && reload(),
    changed: ({ revision, by }) => by !== TAB && revision !== studio.revision && reload(),
    progress: ({ text, done, total }) => studio.state?.ready && showStatus(done < total ? `${text} …` : "", "busy"),
  });
  document.documentElement.dataset.ready = "true";
}

start();
