const $ = id => document.getElementById(id);
const messages = [], options = {};
let running = null;

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
      if (kind === "error") throw new Error(JSON.parse(data).error);
      yield [kind, JSON.parse(data)];
    }
  }
}
async function why(answer) {
  const said = await answer.json().catch(() => ({}));
  return said.error ?? (said.detail ? JSON.stringify(said.detail) : `The server answered ${answer.status}.`);
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
      if (kind === "begin") {
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
          messages.push({role: "user", content: question}, {role: "assistant", content: data.response.answer});
          const said = data.response.decision;
          $("said").textContent = `${said ? said.outcome : "not verified"}: ${data.response.answer} ${said?.why ?? ""}`;
          $("question").value = "";
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

async function list() {
  const answer = await fetch("/documents");
  if (!answer.ok) return problem(await why(answer));
  $("docs").replaceChildren(...(await answer.json()).map(doc => {
    const row = document.createElement("li"), name = document.createElement("span"), button = document.createElement("button");
    name.textContent = `${doc.name} · ${count(doc.chunks)}`; name.title = doc.source;
    button.textContent = "Forget"; button.setAttribute("aria-label", `Forget ${doc.name}`);
    button.addEventListener("click", async () => {
      const gone = await fetch(`/documents?source=${encodeURIComponent(doc.source)}`, {method: "DELETE"});
      if (!gone.ok) problem(await why(gone));
      list();
    });
    row.append(name, button);
    return row;
  }));
}
async function ingest(files) {
  $("ingesting").replaceChildren();
  for (const file of files) {
    const body = new FormData(), row = document.createElement("li");
    body.append("file", file);
    $("ingesting").append(row);
    row.textContent = `${file.name}: reading`;
    try {
      for await (const [kind, data] of events("/documents", {method: "POST", body})) {
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
  for (const [name, about] of Object.entries(properties)) {
    const kind = about.type ?? about.anyOf?.map(one => one.type).find(type => type && type !== "null");
    const choices = about.enum ?? about.anyOf?.find(one => one.enum)?.enum;
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
list(); form(); $("question").focus();
