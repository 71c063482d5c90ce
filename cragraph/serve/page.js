const $ = id => document.getElementById(id);
const messages = [], options = {};
let running = null, preset = null;  // the collections that whoever started the server chose

// Server-sent events of a POST, which EventSource cannot send.
async function* events(url, init) {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(await why(answer));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const parts = (held + value).split("\n\n");
    held = parts.pop();
    for (const part of parts) {
      const [, kind, data] = part.match(/^event: (\w+)\ndata: (.*)$/s);
      if (kind === "error") throw failure(JSON.parse(data));
      yield [kind, JSON.parse(data)];
    }
  }
}
async function why(answer) {
  const said = await answer.json().catch(() => ({}));
  return said.error ?? (said.detail ? JSON.stringify(said.detail) : `The server answered ${answer.status}.`);
}
// If the store is empty, the page names its own tab instead of a command.
const failure = ({error, missing}) => new Error(missing ? "There are no documents yet: add files under Documents." : error);
const count = (number, noun = "chunk") => `${number} ${noun}${number === 1 ? "" : "s"}`;
const show = (node, on) => { node.hidden = !on; };
const problem = text => { $("problem").textContent = text; show($("problem"), text); };

// -- tabs: one part of the page at a time, each where it was left ------------------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")], places = {};
let opened = "asking";
function open(name) {
  places[opened] = scrollY; opened = name;
  for (const tab of tabs) {
    const panel = tab.getAttribute("aria-controls"), on = panel === name;
    tab.setAttribute("aria-selected", on); tab.tabIndex = on ? 0 : -1; show($(panel), on);
  }
  scrollTo(0, places[name] ?? 0);
}
for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], seen = tabs.filter(one => !one.hidden);
    if (step) { const next = seen.at((seen.indexOf(tab) + step) % seen.length); next.click(); next.focus(); }
  });
}
document.querySelector(".skip").addEventListener("click", () => open("asking"));

// -- asking ------------------------------------------------------------------------------------------------------------

const json = (method, body) => ({method, headers: {"content-type": "application/json"}, body: JSON.stringify(body)});

async function run(url, body, question) {
  if (running) return;
  running = new AbortController();
  open("asking"); show($("start"), false); problem(""); $("steps").replaceChildren("starting …"); $("draft").textContent = ""; $("said").textContent = "";
  $("ask").querySelector("[type=submit]").disabled = true; show($("stop"), true); show($("ask"), true);
  try {
    for await (const [kind, data] of events(url, {...json("POST", body), signal: running.signal})) {
      if (kind === "waiting") {
        $("steps").replaceChildren(`${count(data.before + 1, "question")} before yours …`);
      } else if (kind === "begin") {
        const step = document.createElement("li");
        step.className = "on"; step.textContent = data.node; step.dataset.since = Date.now();
        if (!$("steps").firstElementChild) $("steps").replaceChildren();
        $("steps").append(step);
      } else if (kind === "node") {
        const step = $("steps").lastElementChild;
        step.className = ""; step.textContent = `${data.node}: ${data.text}`;
        show($("draft"), false); $("draft").textContent = "";
      } else if (kind === "token") {
        $("draft").classList.toggle("unchecked", data.node !== "finalize");
        $("draft").textContent += data.text; show($("draft"), true);
      } else {
        document.querySelector(".waits")?.remove();
        $("talk").insertAdjacentHTML("beforeend", data.html);  // made and escaped by the server
        $("steps").replaceChildren(); show($("fresh"), true);
        $("talk").lastElementChild.scrollIntoView({block: "start"});
        show($("ask"), kind !== "review");
        if (kind === "review") review(data, question); else {
          messages.push({role: "user", content: question}, {role: "assistant", content: data.response.answer,
            citations: data.response.citations, asked: data.response.asked});
          const said = data.response.decision;
          $("said").textContent = `${said ? said.outcome : "not verified"}: ${data.response.answer} ${said?.why ?? ""}`;
          $("question").value = "";
          entries(0);
        }
        break;
      }
    }
  } catch (error) {
    problem(error.name === "AbortError" ? "Stopped." : error.message);
    $("steps").replaceChildren();
    show($("ask"), true);
  }
  running = null; show($("stop"), false); show($("draft"), false);
  $("ask").querySelector("[type=submit]").disabled = false;
  (document.querySelector(".review textarea") ?? $("question")).focus({preventScroll: true});
}
setInterval(() => {
  const on = document.querySelector(".on");
  if (on) on.dataset.took = `${Math.floor((Date.now() - on.dataset.since) / 1000)} s`;
}, 1000);
// A run that waits: what a person chooses goes on with it.
function review({response, run: name}, question) {
  const form = $("review").content.cloneNode(true).firstElementChild;
  form.answer.value = response.answer;
  form.querySelector(".problem").textContent = response.error ?? "";
  form.addEventListener("submit", event => {
    event.preventDefault();
    const decision = {choice: event.submitter.value};
    if (decision.choice === "edit") decision.answer = form.answer.value;
    if (decision.choice === "search") decision.queries = form.queries.value.split("\n").filter(line => line.trim());
    run("/ask/resume", {run: name, decision}, question);
  });
  $("talk").lastElementChild.classList.add("waits");
  $("talk").lastElementChild.querySelector(".left").append(form);
}
$("ask").addEventListener("submit", event => {
  event.preventDefault();
  const question = $("question").value.trim();
  if (question) run("/ask/stream", {question, messages, options}, question);
});
addEventListener("keydown", event => { if (event.key === "Escape") running?.abort(); });
$("question").addEventListener("keydown", event => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); $("ask").requestSubmit(); }
});
$("stop").addEventListener("click", () => running?.abort());
$("fresh").addEventListener("click", () => {
  messages.length = 0; $("talk").replaceChildren(); show($("fresh"), false); show($("start"), true); $("question").focus();
});

// -- small parts: a button, a line to fill in, a button that asks once more -------------------------------------------

function node(tag, about = {}, ...children) {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...children);
  return made;
}
function button(text, label, act, className = "") {
  const made = node("button", {type: "button", textContent: text, className});
  made.setAttribute("aria-label", label);
  made.addEventListener("click", () => act(made));
  return made;
}
// Pressed once it asks, pressed again it acts; Escape, or leaving it, takes the question back.
function twice(made, sure, act) {
  const text = made.textContent, label = made.getAttribute("aria-label") ?? text;
  const say = (words, name) => { made.textContent = words; made.setAttribute("aria-label", name); };
  const calm = () => { say(text, label); made.classList.remove("sure"); };
  made.addEventListener("click", () => {
    if (made.classList.contains("sure")) { calm(); act(); } else { say(sure, `${label}: ${sure}`); made.classList.add("sure"); }
  });
  made.addEventListener("blur", calm);
  made.addEventListener("keydown", event => { if (event.key === "Escape") { calm(); event.stopPropagation(); } });
  return made;
}
// A line below a row, for one value; Enter takes it, Escape leaves it, and the button that opened it has the focus again.
function fill(opener, {label, value = "", list = "", needed = true, act}) {
  const row = opener.closest("li");
  row.querySelector("form")?.remove();
  const input = node("input", {value, required: needed, maxLength: 2000, autocomplete: "off"});
  if (list) input.setAttribute("list", list);
  const close = () => { form.remove(); opener.focus(); };
  const form = node("form", {className: "fill"}, node("label", {}, label, input),
    node("div", {className: "row"}, node("button", {type: "submit", textContent: "Save"}), button("Cancel", "Cancel", close)));
  form.addEventListener("submit", event => { event.preventDefault(); act(input.value.trim()); });
  form.addEventListener("keydown", event => { if (event.key === "Escape") { close(); event.stopPropagation(); } });
  row.append(form);
  input.focus(); input.select();
}
// One request; what goes wrong is shown, and then nothing is returned. What a person did and what went well takes the
// last problem away; a list that is only read again does not, as it may come after a problem of its own time.
async function sent(url, init) {
  const answer = await fetch(url, init);
  if (!answer.ok) return problem(await why(answer));
  if (init) problem("");
  return answer.json();
}
const at = (path, name) => `${path}/${encodeURIComponent(name)}`;
// What is forgotten takes its button along: the next of its kind has the focus then.
async function without(holder, again, fallback, act) {
  const buttons = [...holder.querySelectorAll("button")], place = buttons.indexOf(document.activeElement);
  await act();
  await again();
  const left = [...holder.querySelectorAll("button")];
  (left[Math.min(Math.max(place, 0), left.length - 1)] ?? fallback).focus();
}

// A page of a long list, with buttons to the ones before and after.
const SIZE = 20;
function pages(number, more, go) {
  const to = (text, step) => button(text, text, () => go(number + step));
  return number || more ? [node("li", {className: "pages"}, ...number ? [to("Previous page", -1)] : [], ...more ? [to("Next page", 1)] : [],
    node("span", {className: "note", textContent: `Page ${number + 1}`}))] : [];
}
const forget = (label, sure, act) => twice(button("Forget", label, () => {}, "forget"), sure, act);

// -- documents and collections ------------------------------------------------------------------------------------------

let docs = [], names = [], page = 0;
async function list() {
  const told = [await sent("/documents"), await sent("/collections")];
  if (!told[0] || !told[1]) return;
  [docs, names] = told;
  docs.sort((one, other) => one.name.localeCompare(other.name, [], {numeric: true}));
  among(names.map(one => one.name));
  $("held").textContent = docs.length
    ? `${count(docs.length, "document")}${names.length > 1 ? ` in ${names.length} collections` : ""}.`
    : "There are no documents yet: add files under Documents.";
  listPage();
}
function listPage(number = page) {
  const words = $("named").value.trim().toLowerCase();
  const found = names.flatMap(({name}) => docs.filter(doc => doc.collection === name && doc.name.toLowerCase().includes(words)));
  page = Math.max(0, Math.min(number, Math.ceil(found.length / SIZE) - 1));
  const shown = found.slice(page * SIZE, (page + 1) * SIZE), rows = [];
  for (const {name, documents} of names) {
    const its = shown.filter(doc => doc.collection === name);
    if (names.length > 1 && its.length) rows.push(group(name, documents));
    rows.push(...its.map(row));
  }
  $("docs").replaceChildren(...rows, ...pages(page, found.length > (page + 1) * SIZE, listPage));
  $("none").textContent = found.length ? "" : docs.length ? "No document has this name." : "There are no documents yet.";
}
$("named").addEventListener("input", () => listPage(0));
async function listed() {
  await list();
  $("docs").querySelector("button")?.focus();
}
function row(doc) {
  const name = node("span", {className: "name", textContent: `${doc.name} · ${count(doc.chunks)}`, title: doc.source});
  if (doc.left_out) name.append(node("small", {className: "note", textContent: ` (${doc.left_out})`}));
  const move = button("Move", `Move ${doc.name} to another collection`, opener => fill(opener, {
    label: `Move ${doc.name} to the collection `, list: "names",
    act: async to => { if (await sent("/documents/move", json("POST", {source: doc.source, to}))) await listed(); },
  }));
  const gone = forget(`Forget ${doc.name}`, "Forget it?", () => without($("docs"), list, $("files"), () =>
    sent(`/documents?source=${encodeURIComponent(doc.source)}&collection=${encodeURIComponent(doc.collection)}`, {method: "DELETE"})));
  return node("li", {}, name, node("div", {className: "acts"}, move, gone));
}
function group(name, documents) {
  const rename = button("Rename", `Rename the collection ${name}`, opener => fill(opener, {
    label: `New name of ${name} `, value: name,
    act: async to => { if (await sent(at("/collections", name), json("PATCH", {name: to}))) await listed(); },
  }));
  const gone = forget(`Forget the collection ${name}`, `Forget all ${documents}?`,
    () => without($("docs"), list, $("files"), () => sent(at("/collections", name), {method: "DELETE"})));
  return node("li", {className: "group"}, node("h3", {className: "name", textContent: name}), node("div", {className: "acts"}, rename, gone));
}
// Which collections are asked; where none would be left, all are chosen again, so that what is shown is what is asked.
function among(names) {
  const shown = [...$("among").querySelectorAll("input")];
  const off = new Set(shown.length ? shown.filter(input => !input.checked).map(input => input.value)
    : preset && names.filter(name => !preset.includes(name)));
  const legend = $("among").querySelector("legend");
  $("among").replaceChildren(legend, ...names.map(name => {
    const input = node("input", {type: "checkbox", value: name, checked: !off.has(name)});
    input.addEventListener("change", chosen);
    return node("label", {}, input, ` ${name}`);
  }));
  $("names").replaceChildren(...names.map(name => new Option(name)));
  show($("among"), names.length > 1);
  chosen();
}
function chosen() {
  const all = [...$("among").querySelectorAll("input")];
  if (all.every(input => !input.checked)) for (const input of all) input.checked = true;
  const on = all.filter(input => input.checked).map(input => input.value);
  if (on.length && (preset || on.length < all.length)) options.collection = on; else delete options.collection;
}

// -- history ------------------------------------------------------------------------------------------------------------

let past = 0;  // the page of the history
async function entries(number = past) {
  const words = $("find").value.trim();
  const told = await sent(`/history?limit=${SIZE + 1}&skip=${number * SIZE}&words=${encodeURIComponent(words)}`);
  if (!told) return;
  if (!told.entries.length && number) return entries(number - 1);
  past = number;
  show($("tab-history"), told.kept || told.entries.length);
  $("entries").replaceChildren(...told.entries.slice(0, SIZE).map(entry), ...pages(past, told.entries.length > SIZE, entries));
  $("nothing").textContent = told.entries.length ? "" : words ? "No question or answer has these words." : "Nothing was asked yet.";
  show($("clear"), told.entries.length && !words);
}
function entry(about) {
  const again = button(about.question, `Ask again: ${about.question}`, () => { $("question").value = about.question; $("ask").requestSubmit(); });
  again.className = "again";
  const decided = [about.outcome || "not verified", about.confidence?.toFixed(2) ?? ""].join(" ").trim();
  const said = node("p", {className: "note"}, node("b", {className: `decided ${about.outcome}`, textContent: decided}),
    ` · ${new Date(about.time).toLocaleString([], {dateStyle: "medium", timeStyle: "short"})} · ${about.answer}`);
  const keep = about.kept
    ? button("Stop keeping", `Stop keeping as a test: ${about.question}`, () => without($("entries"), entries, $("find"), () => sent(`/history/${about.number}/kept`, {method: "DELETE"})))
    : button("Keep as a test", `Keep as a test: ${about.question}`, opener => fill(opener, {
      label: "Text that the answer must contain (empty: the same answer as now) ", needed: false,
      act: async expect => { if (await sent(`/history/${about.number}/kept`, json("PUT", {expect: expect || null}))) { await entries(); $("find").focus(); } },
    }));
  const gone = forget(`Forget this entry: ${about.question}`, "Forget it?", () =>
    without($("entries"), entries, $("find"), () => sent(`/history/${about.number}`, {method: "DELETE"})));
  const kept = about.kept ? [node("p", {className: "note", textContent: about.expect ? `Kept as a test: “${about.expect}”` : "Kept as a test"})] : [];
  return node("li", {}, again, said, ...kept, node("div", {className: "acts"}, keep, gone));
}
$("find").addEventListener("input", () => { clearTimeout($("find").later); $("find").later = setTimeout(() => entries(0), 250); });
twice($("clear"), "Forget every entry?", () => without($("entries"), entries, $("find"), () => sent("/history", {method: "DELETE"})));

async function ingest(files) {
  open("documents"); $("ingesting").replaceChildren();
  for (const file of files) {
    const body = new FormData(), row = document.createElement("li");
    body.append("file", file);
    $("ingesting").append(row);
    row.textContent = `${file.name}: reading`;
    try {
      const into = $("into").value.trim();
      for await (const [kind, data] of events(`/documents${into ? `?collection=${encodeURIComponent(into)}` : ""}`, {method: "POST", body})) {
        const bad = [...(data.failed ?? []), ...(data.skipped ?? [])][0];
        row.textContent = kind === "progress" ? `${file.name}: ${count(data.chunks)}`
          : bad ? `${file.name}: ${bad.reason}` : `${file.name}: ready, ${count(data.chunks)}${
            data.same_name.length ? "; the store has another document of this name: forget that one if this replaces it" : ""}`;
      }
    } catch (error) { row.textContent = `${file.name}: ${error.message}`; }
    await list();
  }
}
$("files").addEventListener("change", event => ingest([...event.target.files]));
for (const kind of ["dragover", "dragleave", "drop"]) addEventListener(kind, event => {
  event.preventDefault();
  $("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop") ingest([...event.dataTransfer.files]);
});

// The options of a run, from their schema; only the options that were changed are sent.
async function form() {
  const {properties} = await (await fetch("/options")).json();
  preset = properties.collection?.default;
  for (const [name, about] of Object.entries(properties)) {
    const kind = about.type ?? about.anyOf?.map(one => one.type).find(type => type && type !== "null");
    const choices = about.enum ?? about.anyOf?.find(one => one.enum)?.enum ?? (kind === "boolean" ? ["yes", "no"] : null);
    if (name === "collection" || name === "where" || name === "sources") continue;  // chosen elsewhere, or not here
    if (!choices && !["number", "integer"].includes(kind)) continue;
    const input = node(choices ? "select" : "input", {id: `option-${name}`, title: name});
    const usual = {true: "yes", false: "no"}[about.default] ?? about.default;
    if (choices) for (const choice of ["", ...choices]) input.append(new Option(choice || `default${usual == null ? "" : `: ${usual}`}`, choice));
    else Object.assign(input, {type: "number", step: "any", placeholder: usual ?? "default"});
    input.setAttribute("aria-describedby", `about-${name}`);
    const row = node("div", {}, node("label", {htmlFor: input.id, textContent: about.title, title: name}), input,
      node("p", {id: `about-${name}`, className: "note", textContent: (about.description ?? "").replaceAll("`", "")}));
    input.addEventListener("change", () => {
      if (input.value === "") delete options[name];
      else options[name] = kind === "boolean" ? input.value === "yes" : choices ? input.value : Number(input.value);  // ".5" is no JSON
      row.className = name in options ? "set" : "";
    });
    $("options").append(row);
  }
}
open("asking"); form().finally(list); entries(); $("question").focus();
