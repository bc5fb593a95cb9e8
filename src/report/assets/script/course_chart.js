// Objective and violation over the steps of the training.

const MOST_STEPS = 1500; // of a curve; more are thinned out

function thinned(history) {
  const every = Math.ceil(history.length / MOST_STEPS);
  return history
    .map((row, step) => ({ ...row, step }))
    .filter(({ step }) => step % every === 0 || step === history.length - 1);
}

// Histories hold a cost to be lowered, also where the objective is to be raised.
function courseName(fit) {
  const name = fit.objective_name ?? "objective";
  if (!fit.maximise) return name;
  return name === "accuracy"
    ? "error (1 \u2212 accuracy)"
    : `cost (largest ${name} \u2212 ${name})`;
}

// `unit` follows the numbers of the axis.
function curve(label, rows, y, unit, kept, bound, width) {
  const marks = [
    Plot.line(rows, { x: "step", y, stroke: ACCENT, strokeWidth: 1.75 }),
    Plot.ruleX(isNumber(kept) ? [kept] : [], { stroke: TEXT, strokeDasharray: "4 4" }),
    Plot.tip(
      rows,
      Plot.pointerX({
        x: "step",
        y,
        fill: SURFACE,
        stroke: MUTED,
        title: (row) => `step ${row.step}\n${+(y(row) ?? NaN).toPrecision(4)}${unit}`,
      }),
    ),
  ];
  if (isNumber(bound)) {
    marks.push(
      Plot.ruleY([bound], { stroke: "var(--bad)", strokeWidth: 1.5 }),
      Plot.text([bound], {
        y: (d) => d,
        frameAnchor: "right",
        dy: -8,
        text: () => "bound",
        fill: "var(--bad)",
        stroke: SURFACE,
        strokeWidth: 4,
      }),
    );
  }
  const heights = [...rows.map(y), bound ?? null];
  return plotOf(
    label,
    `From ${rows.length > 0 ? rows[0].step : 0} to ${rows.at(-1)?.step} steps.`,
    {
      width,
      height: 230,
      marginLeft: 50,
      marginBottom: 38,
      marginRight: 14,
      marginTop: 18,
      x: {
        label: "step",
        labelAnchor: "center",
        labelArrow: "none",
        ticks: 5,
        tickFormat: (d) => (Number.isInteger(d) ? String(d) : ""),
      },
      y: {
        grid: true,
        label: null,
        ticks: 5,
        tickFormat: (d) => `${+d.toPrecision(6)}${unit}`,
        domain: padded(heights),
      },
      marks,
    },
  );
}

function courseChart(place, run) {
  const { fit } = run;
  const history = thinned(fit.history);
  const limits = fit.constraints;
  const percent = !(fit.objective_name ?? "").includes("loss");
  const limitsInPercent = limits.every((limit) => inPercent(limit.text));
  const figure = (caption) => {
    const plot = element("div", { class: "plot" });
    return { caption, plot, node: element("figure", { class: "chart" }, caption, plot) };
  };
  const first = figure(
    element("figcaption", {}, element("span", {}, withCapital(courseName(fit)))),
  );
  const second = figure(element("figcaption", {}));
  const violation = (row) => scaled(row.exact_violation, limitsInPercent);
  const which = fit.validation === "none" ? "Worst" : "Total";
  const total = `${which} violation${limitsInPercent ? ", points" : ""}`;
  let shown = -1;
  const select = element("select", {}, element("option", { value: -1 }, total));
  const measured = history.some((row) => row.values?.length === limits.length);
  if (measured)
    select.append(...limits.map((limit, j) => element("option", { value: j }, limit.text)));
  second.caption.append(labelled("Shown", select));
  place.append(
    element("div", { class: "split" }, first.node, ...(limits.length > 0 ? [second.node] : [])),
  );
  place.hidden = false;
  drawInto(first.plot, (width) =>
    curve(
      courseName(fit),
      history,
      (row) => scaled(row.objective, percent),
      percent ? "%" : "",
      fit.steps_kept,
      null,
      width,
    ),
  );
  if (limits.length === 0) return;
  const redraw = drawInto(second.plot, (width) => {
    if (shown < 0) return curve(total, history, violation, "", fit.steps_kept, null, width);
    const limit = limits[shown];
    const shares = inPercent(limit.text);
    return curve(
      limit.text,
      history,
      (row) => scaled(row.values?.[shown], shares),
      shares ? "%" : "",
      fit.steps_kept,
      scaled(limit.bound, shares),
      width,
    );
  });
  select.addEventListener("input", () => {
    shown = +select.value;
    redraw();
  });
}
