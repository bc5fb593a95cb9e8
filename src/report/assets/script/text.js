// Numbers as people read them, as src/report/detail/report_numbers.cc writes them, and elements.

const UNDEFINED = "undefined";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const inPercent = (limit) => limit.endsWith("%");
const groupsInPercent = (limit) =>
  inPercent(limit) && !/^ratio\(.*\bloss\b/.test(limit.slice(0, limit.lastIndexOf(", by=")));

function valueText(value, percent) {
  if (!isNumber(value)) return UNDEFINED;
  return percent ? `${(100 * value).toFixed(2)}%` : String(+value.toPrecision(4));
}

function boundText(value, percent) {
  if (!isNumber(value)) return UNDEFINED;
  return percent ? `${+(100 * value).toPrecision(10)}%` : String(+value.toPrecision(10));
}

function differenceText(value, percent) {
  if (!isNumber(value)) return UNDEFINED;
  if (!percent) return String(+value.toPrecision(4));
  const points = 100 * value;
  const digits = points === 0 || Math.abs(points) >= 0.1;
  return `${digits ? points.toFixed(2) : +points.toPrecision(2)} points`;
}

const countText = (count) => (isNumber(count) ? count.toLocaleString("en") : UNDEFINED);
const withCapital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Long names keep their beginning and their end, where the bound is.
function shortened(text, most) {
  if (text.length <= most) return text;
  const end = Math.min(16, Math.floor(most / 3));
  return `${text.slice(0, most - end - 1)}\u2026${text.slice(-end)}`;
}

// A control with its label.
let controls = 0;
function labelled(text, control) {
  control.id = `control-${++controls}`;
  return element("span", { class: "field" }, element("label", { for: control.id }, text), control);
}

// An element with attributes and children; texts are texts, whatever they look like.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
