// Everything that the page does once it is there. A chart that fails leaves the rest in order.

const CHARTS = {
  limits: limitsChart,
  groups: groupsChart,
  frontier: frontierChart,
  course: courseChart,
};

function makeNavigation() {
  const nav = document.querySelector("nav");
  const list = element("ul", {});
  for (const section of document.querySelectorAll("main > section[id]")) {
    if (section.id === "verdict") continue;
    list.append(
      element("li", {}, element("a", { href: `#${section.id}` }, withCapital(section.id))),
    );
  }
  nav.append(list);
  nav.hidden = false;
}

function start() {
  document.getElementById("no-script").remove();
  const run = JSON.parse(document.getElementById("run").textContent);
  makeNavigation();
  for (const table of document.querySelectorAll("table.sortable")) {
    makeSortable(table);
    makeFilter(table);
  }
  for (const place of document.querySelectorAll("[data-chart]")) {
    try {
      CHARTS[place.dataset.chart](place, run);
    } catch (error) {
      place.hidden = true;
      console.error(error);
    }
  }
  new ResizeObserver(() => redraws.forEach((redraw) => redraw())).observe(
    document.querySelector("main"),
  );
  // Folded parts belong to what is printed.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
}

start();
