// What another bound would cost: a point is chosen with a slider, and everything known of it shown.

class Frontier {
  constructor(run) {
    this.run = run;
    this.byRho = run.frontier.swept === "rho";
    this.place = run.frontier.constraint ?? 0;
    this.limit = run.fit.constraints[this.place];
    this.percent = !this.limit || inPercent(this.limit.text);
    this.name = run.fit.objective_name ?? "objective";
    this.sharesObjective = !this.name.includes("loss");
    const setting = (point) => (this.byRho ? point.rho : point.bound);
    this.points = run.frontier.points
      .filter((point) => isNumber(setting(point)) && isNumber(point.objective))
      .map((point) => ({ ...point, setting: setting(point) }))
      .sort((a, b) => a.setting - b.setting);
    const chosen = this.byRho ? run.fit.rho : this.limit?.bound;
    this.chosen = this.points.findIndex((point) => Math.abs(point.setting - chosen) <= 1e-12);
  }

  settingText(point) {
    return this.byRho
      ? `rho ${+point.setting.toPrecision(4)}`
      : boundText(point.setting, this.percent);
  }

  objectiveText(point) {
    return `${this.name} ${valueText(point.objective, this.sharesObjective)}`;
  }

  x(point) {
    if (this.byRho) return scaled(point.total_violation, this.percent);
    return scaled(point.setting, this.percent);
  }

  draw(width, selected) {
    const y = (point) => scaled(point.objective, this.sharesObjective);
    const x = (point) => this.x(point);
    const drawn = this.points.filter((point) => isNumber(x(point)));
    const good = drawn.filter((point) => !point.dominated);
    const before = scaled(this.run.unconstrained?.objective, this.sharesObjective);
    const heights = [...drawn.map(y), before];
    const marks = [
      Plot.line(good, { x, y, stroke: ACCENT, strokeWidth: 2, sort: x }),
      Plot.dot(drawn, {
        x,
        y,
        r: 4,
        fill: (p) => (p.dominated ? SURFACE : ACCENT),
        stroke: (p) => (p.dominated ? MUTED : ACCENT),
      }),
    ];
    if (isNumber(before)) {
      marks.push(
        Plot.ruleY([before], { stroke: MUTED, strokeDasharray: "2 4" }),
        Plot.text([before], {
          y: (d) => d,
          frameAnchor: "left",
          textAnchor: "start",
          dx: 4,
          dy: -8,
          text: () => "without limits",
          fill: MUTED,
        }),
      );
    }
    if (this.chosen >= 0) {
      const own = [this.points[this.chosen]];
      marks.push(
        Plot.text(own, {
          x,
          y,
          text: () => "this model",
          dy: 18,
          fill: TEXT,
          stroke: SURFACE,
          strokeWidth: 4,
        }),
      );
    }
    marks.push(Plot.dot([this.points[selected]], { x, y, r: 9, stroke: TEXT, strokeWidth: 2.5 }));
    const setting = this.byRho
      ? "total violation"
      : `bound of ${shortened(this.limit?.text ?? "the limit", 30)}`;
    return plotOf(
      "Frontier",
      `${withCapital(this.name)} against the ${setting}. The table below has the same figures.`,
      {
        width,
        height: Math.min(340, Math.max(250, width * 0.62)),
        marginLeft: 52,
        marginBottom: 42,
        marginRight: 16,
        marginTop: 24,
        x: {
          grid: true,
          label: this.byRho ? "total violation" : "bound",
          labelAnchor: "center",
          labelArrow: "none",
          tickFormat: axisFormat(this.percent),
          ticks: 5,
          domain: padded(drawn.map(x)),
        },
        y: {
          grid: true,
          label: this.name,
          tickFormat: axisFormat(this.sharesObjective),
          ticks: 5,
          domain: padded(heights, 0.12),
        },
        color: { type: "identity" },
        marks,
      },
    );
  }

  // What the bound costs at a point: its price, and the step to the next looser point.
  costs(place) {
    const point = this.points[place];
    const items = [];
    const price = point.prices?.[this.place];
    const percentWords = this.percent ? "one point" : "0.01";
    if (!this.byRho && price && isNumber(price.price) && point.total_violation === 0) {
      const atMost = this.limit?.relation !== ">=";
      const gain = differenceText(0.01 * price.price, this.sharesObjective);
      items.push(
        price.binding
          ? `Price here: ${percentWords} ${atMost ? "more" : "less"} buys ${gain} of ${this.name}.`
          : "Here the bound does not bind: loosening it buys nothing.",
      );
    }
    const before = this.run.unconstrained?.objective;
    const sign = this.run.fit.maximise === false ? -1 : 1;
    const compare = (other, what) => {
      const change = sign * (point.objective - other);
      const by = differenceText(Math.abs(change), this.sharesObjective);
      items.push(`${by} ${change < 0 ? "worse" : "better"} than ${what}.`);
    };
    if (isNumber(before)) compare(before, "without limits");
    const own = this.points[this.chosen];
    if (own && own !== point) compare(own.objective, "this model");
    if (point.dominated) {
      const why =
        point.total_violation > 0 && !this.byRho
          ? "limits are broken here"
          : "a stricter point is at least as good";
      items.push(`Not worth choosing: ${why}.`);
    }
    return items;
  }

  // Rates of the groups where the swept limit has some, else of every limit.
  rates(place, width) {
    const point = this.points[place];
    const measured = point.measurements ?? [];
    const swept = measured[this.place];
    const before = this.run.unconstrained?.constraints?.[this.place];
    if (swept?.groups?.length > 0) {
      return groupsPlot(
        { ...swept, bound: this.byRho ? this.limit?.bound : point.bound },
        before,
        width,
      );
    }
    const shares = measured.filter((limit) => inPercent(limit.text)).slice(0, 8);
    const rows = shares.map((limit, j) => ({
      key: String(j),
      label: `${limit.text}   ${valueText(limit.value, true)}`,
      value: scaled(limit.value, true),
      low: scaled(limit.interval?.[0], true),
      high: scaled(limit.interval?.[1], true),
      mood: limit.satisfied ? undefined : "bad",
      title: limit.text,
    }));
    if (rows.length === 0) return element("span", {});
    const ends = rows.flatMap((row) => [row.value, row.low, row.high]);
    return rowsPlot("Rates at this point", "", rows, width, {
      x: { domain: padded(ends), label: null, tickFormat: axisFormat(true), ticks: 5 },
    });
  }
}

function frontierChart(place, run) {
  const frontier = new Frontier(run);
  const { points } = frontier;
  if (points.length === 0) return;
  let selected = Math.max(0, frontier.chosen);
  const plot = element("div", { class: "plot" });
  const slider = element("input", {
    type: "range",
    min: 0,
    max: points.length - 1,
    step: 1,
    value: selected,
  });
  const head = element("h3", {});
  const note = element("p", {});
  const costs = element("ul", {});
  const rates = element("div", { class: "plot" });
  const told = element("div", { "aria-live": "polite" }, head, note, costs);
  place.append(
    element(
      "div",
      { class: "split" },
      element(
        "div",
        {},
        plot,
        element(
          "div",
          { class: "slider" },
          labelled("Move along the frontier (arrow keys)", slider),
        ),
      ),
      element("div", { class: "point" }, told, rates),
    ),
  );
  place.hidden = false;
  const describe = () => {
    const point = points[selected];
    const holds = point.total_violation === 0;
    const setting = `${frontier.byRho ? "" : "Bound "}${frontier.settingText(point)}`;
    head.textContent = `${setting}: ${frontier.objectiveText(point)}`;
    note.textContent = holds
      ? "All limits hold on unseen rows."
      : `Limits are broken by ${differenceText(point.total_violation, frontier.percent)} in total.`;
    costs.replaceChildren(...frontier.costs(selected).map((text) => element("li", {}, text)));
    slider.setAttribute("aria-valuetext", head.textContent);
  };
  describe();
  const redraw = [
    drawInto(plot, (width) => frontier.draw(width, selected)),
    drawInto(rates, (width) => frontier.rates(selected, width)),
  ];
  slider.addEventListener("input", () => {
    selected = +slider.value;
    describe();
    for (const draw of redraw) draw();
  });
}
