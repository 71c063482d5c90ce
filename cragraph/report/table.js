const body = document.querySelector("tbody"), rows = [...body.rows];
const find = document.getElementById("find"), which = document.getElementById("which");
const key = (row, n) => row.cells[n].dataset.v ?? row.cells[n].textContent;
document.querySelectorAll("th").forEach((th, n) => th.firstChild.addEventListener("click", () => {
  const down = th.ariaSort === "ascending";
  document.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  th.ariaSort = down ? "descending" : "ascending";
  rows.sort((a, b) => key(a, n).localeCompare(key(b, n), undefined, {numeric: true}) * (down ? -1 : 1));
  body.append(...rows);
}));
const filter = () => {
  const words = find.value.toLowerCase().split(/\s+/);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = (which.value && row.dataset.grounded !== which.value) || !words.every(w => text.includes(w));
  }
  document.getElementById("count").textContent = `${rows.filter(r => !r.hidden).length} of ${rows.length}`;
};
find.addEventListener("input", filter); which.addEventListener("change", filter); filter();
const opened = () => document.querySelector(location.hash || "#-")?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", opened); opened();
