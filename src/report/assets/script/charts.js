// What the charts share: places that are redrawn when their width changes, colours of the style
// sheet, and rows of dots with intervals.

const SURFACE = "var(--surface)";
const TEXT = "var(--text)";
const MUTED = "var(--muted)";
const LINE = "var(--line)";
const ACCENT = "var(--accent)";
const ACCENT_SOFT = "var(--accent-soft)";
const SYMBOLS = { good: "circle", open: "diamond2", bad: "square2" };

const redraws = [];

// `draw(width)` gives an SVG; it is called now and whenever the width has changed.
function drawInto(place, draw) {
  let width = 0;
  const redraw = (force) => {
    const now = Math.floor(place.clientWidth);
    if (now < 50 || (!force && now === width)) return;
    width = now;
    place.replaceChildren(draw(width));
  };
  redraws.push(() => redraw(false));
  redraw(true);
  return () => redraw(true);
}

function plotOf(label, description, options) {
  const svg = Plot.plot({ style: { background: "transparent", fontSize: "12px" }, ...options });
  // One picture with one name: what its parts are called is for scripts.
  for (const part of svg.querySelectorAll("[aria-label]")) {
    part.dataset.mark = part.getAttribute("aria-label");
    part.removeAttribute("aria-label");
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", description ? `${label}. ${description}` : label);
  return svg;
}

const scaled = (value, percent) => (isNumber(value) ? (percent ? 100 * value : value) : null);
const axisFormat = (percent) => (value) => `${+value.toPrecision(6)}${percent ? "%" : ""}`;

// A little above and below what must be seen.
function padded(values, share = 0.06) {
  const [low, high] = d3.extent(values.filter(isNumber));
  const room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

const ROW_HEIGHT = 46;

// Rows of {key, label, value, low, high, before, mood, title}: a name above, then its dot with the
// interval, a ring where it was without limits, and a tick at `shown`. Names may be long and
// screens narrow, hence no axis of names at the left.
function rowMarks(rows, width) {
  const at = { y: "key" };
  const most = Math.floor(width / 7.2);
  return [
    Plot.text(rows, {
      ...at,
      frameAnchor: "left",
      textAnchor: "start",
      dy: -14,
      dx: 2,
      fill: TEXT,
      text: (row) => shortened(row.label, most),
      stroke: SURFACE,
      strokeWidth: 4,
    }),
    Plot.ruleY(
      rows.filter((row) => isNumber(row.low)),
      {
        ...at,
        x1: "low",
        x2: "high",
        stroke: MUTED,
        strokeWidth: 2,
      },
    ),
    Plot.dot(
      rows.filter((row) => isNumber(row.before)),
      {
        ...at,
        x: "before",
        r: 4.5,
        stroke: MUTED,
        strokeWidth: 1.75,
        fill: SURFACE,
      },
    ),
    Plot.tickX(
      rows.filter((row) => isNumber(row.shown)),
      {
        ...at,
        x: "shown",
        stroke: TEXT,
        strokeWidth: 2.5,
        insetTop: 13,
        insetBottom: 13,
      },
    ),
    Plot.dot(
      rows.filter((row) => isNumber(row.value)),
      {
        ...at,
        x: "value",
        r: 5.5,
        symbol: (row) => SYMBOLS[row.mood] ?? "circle",
        fill: (row) => (row.mood ? `var(--${row.mood})` : ACCENT),
        stroke: SURFACE,
        strokeWidth: 1,
        className: "mark",
      },
    ),
    Plot.tip(
      rows,
      Plot.pointerY({ x: "value", y: "key", title: "title", fill: SURFACE, stroke: MUTED }),
    ),
  ];
}

function rowsPlot(label, description, rows, width, { marks = [], x }) {
  return plotOf(label, description, {
    width,
    height: 46 + ROW_HEIGHT * rows.length,
    marginLeft: 4,
    marginRight: 14,
    marginTop: 10,
    marginBottom: 36,
    x: { grid: true, ...x },
    y: { type: "band", domain: rows.map((row) => row.key), axis: null, padding: 0 },
    symbol: { type: "identity" },
    color: { type: "identity" },
    marks: [...marks, ...rowMarks(rows, width)],
  });
}

const LEGEND = {
  value: ["with limits", '<circle cx="12" cy="7" r="5" fill="currentColor"/>', ACCENT],
  good: ["certified", '<circle cx="12" cy="7" r="5" fill="currentColor"/>', "var(--good)"],
  open: [
    "holds, not certified",
    '<path d="M12 1l6 6-6 6-6-6z" fill="currentColor"/>',
    "var(--open)",
  ],
  bad: ["broken", '<path d="M7 2h10v10H7z" fill="currentColor"/>', "var(--bad)"],
  before: [
    "without limits",
    '<circle cx="12" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.75"/>',
    MUTED,
  ],
  interval: ["95% interval", '<path d="M2 7h20" stroke="currentColor" stroke-width="2"/>', MUTED],
  shown: [
    "shown by the certificate",
    '<path d="M12 1v12" stroke="currentColor" stroke-width="2.5"/>',
    TEXT,
  ],
  allowed: ["what the limit allows", '<path d="M2 2h20v10H2z" fill="currentColor"/>', ACCENT_SOFT],
  bound: [
    "bound",
    '<path d="M12 0v14" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"/>',
    TEXT,
  ],
};

function legendOf(keys) {
  const list = element("ul", { class: "legend" });
  for (const key of keys) {
    const [text, shape, colour] = LEGEND[key];
    const item = element("li", {});
    const paint = `aria-hidden="true" style="color:${colour}"`;
    item.innerHTML = `<svg viewBox="0 0 24 14" ${paint}>${shape}</svg>`;
    item.append(text);
    list.append(item);
  }
  return list;
}
