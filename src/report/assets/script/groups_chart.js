// The rates of a limit's groups, with intervals and what the limit allows.

const MOST_GROUPS = 24;

function groupRows(limit, before, percent) {
  const earlier = new Map((before?.groups ?? []).map((group) => [group.group, group.value]));
  const rows = limit.groups.map((group) => {
    const [low, high] = group.interval ?? [];
    const rows = isNumber(group.rows) ? `${countText(group.rows)} rows` : "";
    const notes = [rows, group.small ? "too small" : ""].filter(Boolean).join(", ");
    const lines = [group.group, `${valueText(group.value, percent)}${notes ? ` of ${notes}` : ""}`];
    if (group.interval)
      lines.push(`95%: ${group.interval.map((v) => valueText(v, percent)).join(" to ")}`);
    return {
      key: group.group,
      label: `${group.group}   ${valueText(group.value, percent)}${notes ? `   (${notes})` : ""}`,
      value: scaled(group.value, percent),
      low: scaled(low, percent),
      high: scaled(high, percent),
      before: scaled(earlier.get(group.group), percent),
      title: lines.join("\n"),
    };
  });
  return rows.sort((a, b) => d3.descending(a.value, b.value));
}

// What the limit allows: from the lowest or the highest rate on, or up to a bound.
function allowedEnds(limit, rows, percent) {
  const values = rows.map((row) => row.value).filter(isNumber);
  if (!isNumber(limit.bound) || values.length === 0) return [];
  if (limit.text.startsWith("gap(")) {
    const low = d3.min(values);
    return [low, low + scaled(limit.bound, percent)];
  }
  if (limit.text.startsWith("ratio(")) {
    const high = d3.max(values);
    return [limit.bound * high, high];
  }
  return [scaled(limit.bound, percent)];
}

function allowedMarks([x1, x2]) {
  if (isNumber(x2)) return [Plot.rectX([{ x1, x2 }], { x1: "x1", x2: "x2", fill: ACCENT_SOFT })];
  return isNumber(x1)
    ? [Plot.ruleX([x1], { stroke: TEXT, strokeWidth: 2, strokeDasharray: "5 4" })]
    : [];
}

function groupsPlot(limit, before, width) {
  const percent = groupsInPercent(limit.text);
  const all = groupRows(limit, before, percent);
  const half = MOST_GROUPS / 2;
  const rows = all.length > MOST_GROUPS ? [...all.slice(0, half), ...all.slice(-half)] : all;
  const allowed = allowedEnds(limit, all, percent);
  const ends = rows.flatMap((row) => [row.value, row.low, row.high, row.before]).concat(allowed);
  return rowsPlot(
    `Rates of the groups of ${limit.text}`,
    "The table below has the same figures.",
    rows,
    width,
    {
      x: {
        domain: padded(ends),
        label: null,
        tickFormat: axisFormat(percent),
        ticks: width < 500 ? 5 : 9,
      },
      marks: allowedMarks(allowed),
    },
  );
}

function groupsChart(figure, run) {
  const order = [...document.querySelectorAll("#limits-table tbody tr")].map(
    (row) => +row.dataset.limit,
  );
  const places = order.filter((place) => run.fit.constraints[place].groups?.length > 0);
  const plot = figure.querySelector(".plot");
  const hint = element("p", { class: "hint" });
  const legend = element("div", {});
  let place = places[0];
  figure.hidden = false;
  const redraw = drawInto(plot, (width) =>
    groupsPlot(run.fit.constraints[place], run.unconstrained?.constraints?.[place], width),
  );
  const describe = () => {
    const limit = run.fit.constraints[place];
    const more = limit.groups.length - MOST_GROUPS;
    hint.textContent =
      more > 0
        ? `The ${MOST_GROUPS} highest and lowest rates; ${countText(more)} others are in the table.`
        : "";
    const keys = ["value"];
    if (run.unconstrained) keys.push("before");
    if (limit.groups.some((group) => group.interval)) keys.push("interval");
    keys.push(/^(gap|ratio)\(/.test(limit.text) ? "allowed" : "bound");
    legend.replaceChildren(legendOf(keys));
  };
  describe();
  if (places.length > 1) {
    const select = element("select", {});
    select.append(
      ...places.map((p) => element("option", { value: p }, run.fit.constraints[p].text)),
    );
    select.addEventListener("input", () => {
      place = +select.value;
      describe();
      redraw();
    });
    plot.before(element("div", { class: "tools" }, labelled("Limit", select)));
  }
  figure.append(legend, hint);
}
