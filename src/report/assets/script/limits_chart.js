// How far every limit is from its bound: the first rows of the table as it is sorted and filtered.

const MOST_LIMITS = 15;

// Distances beyond the bound: positive is broken, whichever side the limit is on.
function distanceRow(run, place, mood) {
  const limit = run.fit.constraints[place];
  const percent = inPercent(limit.text);
  const sign = limit.relation === ">=" ? -1 : 1;
  const beyond = (value) =>
    isNumber(value) ? scaled(sign * (value - limit.bound), percent) : null;
  const verdict = (run.fit.certificate ?? [])[place] ?? {};
  const shown = verdict.verdict === "violated" ? verdict.other_bound : verdict.confidence_bound;
  const ends = (limit.interval ?? []).map(beyond).sort((a, b) => a - b);
  const before = run.unconstrained?.constraints?.[place]?.value;
  const lines = [limit.text, `measured ${valueText(limit.value, percent)}`];
  if (limit.interval)
    lines.push(`95%: ${limit.interval.map((v) => valueText(v, percent)).join(" to ")}`);
  if (isNumber(before)) lines.push(`without limits ${valueText(before, percent)}`);
  return {
    key: String(place),
    label: limit.text,
    value: beyond(limit.value),
    low: ends[0],
    high: ends[1],
    before: beyond(before),
    mood,
    title: lines.join("\n"),
    shown: verdict.verdict === "estimated" ? null : beyond(shown),
  };
}

function limitsChart(figure, run) {
  const table = document.getElementById("limits-table");
  const all = run.fit.constraints;
  const shares = all.filter((limit) => inPercent(limit.text)).length;
  const percent = shares > 0; // losses have units of their own: drawn if there is nothing else
  const drawable = (row) => inPercent(all[row.dataset.limit].text) === percent;
  const visibleRows = () =>
    [...table.tBodies[0].rows].filter((row) => !row.hidden && drawable(row));
  const hint = element("p", { class: "hint" });
  figure.hidden = false;
  const redraw = drawInto(figure.querySelector(".plot"), (width) => {
    const rows = visibleRows();
    const shown = rows
      .slice(0, MOST_LIMITS)
      .map((row) => distanceRow(run, +row.dataset.limit, row.dataset.mood));
    const notes = [];
    if (rows.length > shown.length) {
      notes.push(
        `The first ${shown.length} of ${countText(rows.length)} rows of the table as it is sorted.`,
      );
    }
    if (percent && shares < all.length) notes.push("Limits on losses are in the table alone.");
    hint.textContent = notes.join(" ");
    if (shown.length === 0) return element("p", { class: "hint" }, "No limit matches the filter.");
    const ends = shown.flatMap((row) => [0, row.value, row.low, row.high, row.before, row.shown]);
    return rowsPlot(
      "Distance of each limit from its bound",
      "The table has the same figures.",
      shown,
      width,
      {
        x: {
          domain: padded(ends),
          label: `\u2190 holds   ${percent ? "points " : ""}beyond the bound   broken \u2192`,
          labelAnchor: "center",
          labelArrow: "none",
          ticks: width < 500 ? 5 : 9,
        },
        marks: [Plot.ruleX([0], { stroke: TEXT, strokeWidth: 2 })],
      },
    );
  });
  const moods = new Set([...table.tBodies[0].rows].map((row) => row.dataset.mood));
  const keys = ["good", "open", "bad"].filter((mood) => moods.has(mood));
  if (run.unconstrained) keys.push("before");
  if (all.some((limit) => limit.interval)) keys.push("interval");
  if ((run.fit.certificate ?? []).some((v) => v.verdict !== "estimated")) keys.push("shown");
  figure.append(legendOf(keys), hint);
  table.addEventListener("reordered", redraw);
}
