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
// Where nothing is in the store, what the page can do about it; else what the server says.
function failure({error, missing}) {
  return new Error(missing ? "Nothing is in yet: drop files under Documents, or choose some there." : error);
}
const count = chunks => `${chunks} chunk${chunks === 1 ? "" : "s"}`;
const show = (node, on) => { node.hidden = !on; };
const problem = text => { $("problem").textContent = text; show($("problem"), text); };
const json = (method, body) => ({method, headers: {"content-type": "application/json"}, body: JSON.stringify(body)});

async function run(url, body, question) {
  if (running) return;
  running = new AbortController();
  problem(""); $("steps").replaceChildren("starting …"); $("draft").textContent = ""; $("said").textContent = "";
  $("ask").querySelector("[type=submit]").disabled = true; show($("stop"), true); show($("ask"), true);
  try {
    for await (const [kind, data] of events(url, {...json("POST", body), signal: running.signal})) {
      if (kind === "waiting") {
        $("steps").replaceChildren(`${data.before + 1} before yours …`);
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
          entries();
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
  messages.length = 0; $("talk").replaceChildren(); show($("fresh"), false); $("question").focus();
});

// -- small parts: a button, a line to fill in, a button that asks once more -------------------------------------------

function node(tag, about = {}, ...children) {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...children);
  return made;
}
function button(text, label, act) {
  const made = node("button", {type: "button", textContent: text});
  made.setAttribute("aria-label", label);
  made.addEventListener("click", () => act(made));
  return made;
}
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

// -- documents and collections ------------------------------------------------------------------------------------------

async function list() {
  const [docs, names] = [await sent("/documents"), await sent("/collections")];
  if (!docs || !names) return;
  among(names.map(one => one.name));
  const rows = [];
  for (const {name, documents} of names) {
    if (names.length > 1) rows.push(group(name, documents));
    rows.push(...docs.filter(doc => doc.collection === name).map(row));
  }
  $("docs").replaceChildren(...rows);
}
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
  const forget = button("Forget", `Forget ${doc.name}`, () => without($("docs"), list, $("files"), () =>
    sent(`/documents?source=${encodeURIComponent(doc.source)}&collection=${encodeURIComponent(doc.collection)}`, {method: "DELETE"})));
  return node("li", {}, name, node("div", {className: "acts"}, move, forget));
}
function group(name, documents) {
  const rename = button("Rename", `Rename the collection ${name}`, opener => fill(opener, {
    label: `New name of ${name} `, value: name,
    act: async to => { if (await sent(at("/collections", name), json("PATCH", {name: to}))) await listed(); },
  }));
  const forget = twice(button("Forget", `Forget the collection ${name}`, () => {}), `Forget all ${documents}?`,
    () => without($("docs"), list, $("files"), () => sent(at("/collections", name), {method: "DELETE"})));
  return node("li", {className: "group"}, node("h3", {className: "name", textContent: name}), node("div", {className: "acts"}, rename, forget));
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

async function entries() {
  const words = $("find").value.trim();
  const told = await sent(`/history?limit=50&words=${encodeURIComponent(words)}`);
  if (!told) return;
  show($("history"), told.kept || told.entries.length);
  $("entries").replaceChildren(...told.entries.map(entry));
  $("nothing").textContent = told.entries.length ? "" : words ? "Nothing has these words." : "Nothing was asked yet.";
  show($("clear"), told.entries.length && !words);
}
function entry(about) {
  const again = button(about.question, `Ask again: ${about.question}`, () => { $("question").value = about.question; $("ask").requestSubmit(); });
  again.className = "again";
  const decided = [about.outcome || "not verified", about.confidence?.toFixed(2) ?? ""].join(" ").trim();
  const said = node("p", {className: "note"}, node("b", {className: `decided ${about.outcome}`, textContent: decided}),
    ` · ${new Date(about.time).toLocaleString()} · ${about.answer}`);
  const keep = about.kept
    ? button("Let go", `Keep as a test no longer: ${about.question}`, () => without($("entries"), entries, $("find"), () => sent(`/history/${about.number}/kept`, {method: "DELETE"})))
    : button("Keep", `Keep as a test: ${about.question}`, opener => fill(opener, {
      label: "What the answer must say (empty: what it says now) ", needed: false,
      act: async expect => { if (await sent(`/history/${about.number}/kept`, json("PUT", {expect: expect || null}))) { await entries(); $("find").focus(); } },
    }));
  const forget = button("Forget", `Forget this entry: ${about.question}`, () =>
    without($("entries"), entries, $("find"), () => sent(`/history/${about.number}`, {method: "DELETE"})));
  const kept = about.kept ? [node("p", {className: "note", textContent: about.expect ? `Kept as a test: “${about.expect}”` : "Kept as a test"})] : [];
  return node("li", {}, again, said, ...kept, node("div", {className: "row"}, keep, forget));
}
$("find").addEventListener("input", () => { clearTimeout($("find").later); $("find").later = setTimeout(entries, 250); });
twice($("clear"), "Forget every entry?", () => without($("entries"), entries, $("find"), () => sent("/history", {method: "DELETE"})));

async function ingest(files) {
  $("ingesting").replaceChildren();
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
            data.same_name.length ? "; another of this name is in as well: forget it where this one replaces it" : ""}`;
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

// The options of a run, from their schema: what is left as it is, is not sent.
async function form() {
  const {properties} = await (await fetch("/options")).json();
  preset = properties.collection?.default;
  for (const [name, about] of Object.entries(properties)) {
    const kind = about.type ?? about.anyOf?.map(one => one.type).find(type => type && type !== "null");
    const choices = about.enum ?? about.anyOf?.find(one => one.enum)?.enum;
    if (name === "collection" || name === "where" || name === "sources") continue;  // chosen elsewhere, or not here
    if (!choices && !["boolean", "number", "integer"].includes(kind)) continue;
    const label = document.createElement("label"), input = document.createElement(choices || kind === "boolean" ? "select" : "input");
    label.textContent = name.replaceAll("_", " "); label.htmlFor = input.id = `option-${name}`; input.title = about.description ?? "";
    if (input.tagName === "SELECT") for (const choice of ["", ...(choices ?? ["true", "false"])]) {
      input.append(new Option(choice || `default${about.default == null ? "" : `: ${about.default}`}`, choice));
    } else { input.type = "number"; input.step = "any"; input.placeholder = about.default ?? "default"; }
    input.addEventListener("change", () => {
      if (input.value === "") delete options[name];
      else options[name] = choices ? input.value : JSON.parse(input.value);
    });
    $("options").append(label, input);
  }
}
form().finally(list); entries(); $("question").focus();
