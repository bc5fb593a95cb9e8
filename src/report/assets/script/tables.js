// Tables sort by a click or Enter on a heading; long ones have a filter.

const LONG_TABLE = 12; // rows from which on a filter helps
const TALL_TABLE = 25; // rows from which on a table scrolls in its own box

function sortKey(row, column) {
  const cell = row.cells[column];
  const key = cell.dataset.sort ?? cell.textContent.trim();
  if (key === "") return null;
  const number = Number(key);
  return Number.isNaN(number) ? key : number;
}

// Undefined values stay last in either direction.
function compareKeys(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(table, column, direction) {
  const body = table.tBodies[0];
  const sign = direction === "ascending" ? 1 : -1;
  const keyed = [...body.rows].map((row) => [sortKey(row, column), row]);
  keyed.sort(([a], [b]) => compareKeys(a, b, sign));
  body.append(...keyed.map(([, row]) => row));
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    if (place === column) head.setAttribute("aria-sort", direction);
    else head.removeAttribute("aria-sort");
  }
}

function makeSortable(table) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = element("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") === "ascending";
      sortBy(table, column, ascending ? "descending" : "ascending");
      table.dispatchEvent(new Event("reordered"));
    });
    head.replaceChildren(button);
  }
}

const MOODS = [
  ["", "All verdicts"],
  ["bad", "Broken or violated"],
  ["open", "Not certified or estimated"],
  ["good", "Certified"],
];

function makeFilter(table) {
  const rows = [...table.tBodies[0].rows];
  const box = table.closest(".scroll");
  box.classList.toggle("tall", rows.length > TALL_TABLE);
  if (rows.length <= LONG_TABLE) return;
  const search = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const tools = element("div", { class: "tools" }, labelled("Filter by name", search));
  const mood = element("select", {});
  if (rows.some((row) => row.dataset.mood)) {
    mood.append(...MOODS.map(([value, text]) => element("option", { value }, text)));
    tools.append(labelled("Show", mood));
  }
  const count = element("output", { "aria-live": "polite" });
  tools.append(count);
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(
        words.every((word) => text.includes(word)) &&
        (!mood.value || row.dataset.mood === mood.value)
      );
      shown += row.hidden ? 0 : 1;
    }
    count.value = `${countText(shown)} of ${countText(rows.length)} rows`;
    table.dispatchEvent(new Event("reordered"));
  };
  search.addEventListener("input", apply);
  mood.addEventListener("input", apply);
  apply();
  box.before(tools);
}
