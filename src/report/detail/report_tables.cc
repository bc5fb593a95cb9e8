// Limits, groups and frontier: tables that a script lets sort and filter, and places for figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/detail/html_text.h"
#include "report/detail/report_numbers.h"
#include "report/detail/report_sections.h"

namespace bregboost::detail {
namespace {

// The value that a column is sorted by; undefined ones last.
std::string SortKey(Number value) {
  return value && std::isfinite(*value) ? fmt::format(" data-sort=\"{:.9g}\"", *value)
                                        : std::string(" data-sort=\"\"");
}

std::string NumberCell(const std::string& text, Number key, const std::string& note = "") {
  return fmt::format("<td class=\"number\"{}>{}{}</td>", SortKey(key), text,
                     note.empty() ? "" : "<small>" + note + "</small>");
}

std::string Head(const std::vector<std::pair<std::string, bool>>& columns) {
  std::string cells;
  for (const auto& [title, number] : columns) {
    cells += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "", title);
  }
  return "<thead><tr>" + cells + "</tr></thead>";
}

// Wide tables scroll inside a box of their own, which the keyboard can reach.
std::string Table(const char* id, const char* caption, const std::string& head,
                  const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{1}\">"
      "<table id=\"{0}\" "
      "class=\"sortable\"><caption>{1}</caption>{2}<tbody>{3}</tbody></table></div>",
      id, caption, head, rows);
}

std::string Figure(const char* chart, const std::string& caption) {
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\" hidden><figcaption>{}</figcaption>"
      "<div class=\"plot\"></div></figure>",
      chart, caption);
}

std::string IntervalText(Number low, Number high, bool percent) {
  if (!low || !high) return "";
  return fmt::format("{} to {}", ValueText(low, percent), ValueText(high, percent));
}

std::string RowsNote(const LimitFacts& limit) {
  std::string note = limit.rows ? CountText(limit.rows) + " rows" : "";
  if (limit.small) note += ", too small";
  return note;
}

// What the certification rows show, at their confidence: how far the value may reach, or what a
// violation amounts to at least.
std::string ShownCell(const LimitFacts& limit) {
  const bool violated = limit.verdict == "violated";
  const Number shown = violated ? limit.other_bound : limit.confidence_bound;
  if (!shown || limit.verdict == "estimated") return NumberCell("&ndash;", std::nullopt);
  const char* sign = limit.at_most != violated ? "&le;" : "&ge;";
  const std::string rows =
      limit.certified_rows ? CountText(limit.certified_rows) + " rows" : std::string();
  return NumberCell(fmt::format("{} {}", sign, ValueText(shown, limit.percent, limit.bound)), shown,
                    rows);
}

std::string Badge(Mood mood, const std::string& word) {
  return fmt::format(R"(<span class="badge {}">{}{}</span>)", Class(mood), Icon(mood), word);
}

std::string LimitRow(const LimitFacts& limit, const ReportFacts& facts, bool priced) {
  std::string row = fmt::format("<th scope=\"row\">{}</th>", Code(limit.text));
  const int order = limit.mood == Mood::kBad ? 0 : limit.mood == Mood::kOpen ? 1 : 2;
  row += fmt::format(R"(<td data-sort="{}">{}</td>)", order, Badge(limit.mood, limit.word));
  row += NumberCell(
      fmt::format("{} {}", limit.at_most ? "&le;" : "&ge;", BoundText(limit.bound, limit.percent)),
      limit.bound);
  row +=
      NumberCell(ValueText(limit.value, limit.percent, limit.bound), limit.value, RowsNote(limit));
  if (facts.certifies) row += ShownCell(limit);
  if (!facts.unconstrained.is_null()) {
    row += NumberCell(ValueText(limit.unlimited, limit.percent, limit.bound), limit.unlimited);
  }
  if (priced) {
    const std::string price = PriceText(limit, facts);
    row += fmt::format("<td class=\"price\"{}>{}</td>",
                       SortKey(limit.binding ? limit.price : Number(0.0)),
                       price.empty() ? "<span class=\"muted\">does not bind</span>" : price);
  }
  return fmt::format(R"(<tr data-limit="{}" data-mood="{}">{}</tr>)", limit.place,
                     Class(limit.mood), row);
}

std::string GroupRow(const LimitFacts& limit, const GroupRate& group, bool compared) {
  const bool percent = GroupsInPercent(limit.text);
  std::string row =
      fmt::format("<th scope=\"row\">{}</th><td>{}</td>", Escaped(group.group), Code(limit.text));
  row += NumberCell(ValueText(group.value, percent), group.value);
  const std::string interval = IntervalText(group.low, group.high, percent);
  row += NumberCell(interval.empty() ? "&ndash;" : interval, group.low);
  row += NumberCell(group.rows ? CountText(group.rows) : "&ndash;",
                    group.rows ? Number(static_cast<double>(*group.rows)) : std::nullopt,
                    group.small ? "too small" : "");
  if (compared) row += NumberCell(ValueText(group.unlimited, percent), group.unlimited);
  return fmt::format("<tr{}>{}</tr>", group.small ? " class=\"small\"" : "", row);
}

// The one whose bound, or rho, is the fit's.
bool IsChosen(const Json& point, const ReportFacts& facts, std::size_t swept, bool by_rho) {
  const Number here = NumberAt(point, by_rho ? "rho" : "bound");
  const Number there = by_rho                        ? NumberAt(facts.fit, "rho")
                       : swept < facts.limits.size() ? facts.limits[swept].bound
                                                     : std::nullopt;
  return here && there && std::abs(*here - *there) <= 1e-12;
}

}  // namespace

std::string LimitsSection(const ReportFacts& facts) {
  if (facts.limits.empty()) return "";
  const bool priced = !ListAt(facts.fit, "prices").empty();
  std::vector<std::pair<std::string, bool>> columns = {
      {"Limit", false},
      {"Verdict", false},
      {"Asked", true},
      {facts.on_training_rows ? "Measured in training" : "Measured on unseen rows", true}};
  if (facts.certifies) {
    columns.emplace_back("Shown with " + BoundText(facts.confidence, true) + " confidence", true);
  }
  if (!facts.unconstrained.is_null()) columns.emplace_back("Without limits", true);
  if (priced) columns.emplace_back("Price", false);
  std::string rows;
  for (const LimitFacts* limit : facts.WorstFirst()) rows += LimitRow(*limit, facts, priced);
  std::string caption = "How far each limit is from its bound. Left of the line it holds";
  if (std::any_of(facts.limits.begin(), facts.limits.end(),
                  [](const LimitFacts& limit) { return limit.low.has_value(); })) {
    caption += "; the thin line is where chance may have moved the measurement (95%)";
  }
  caption += ".";
  return Section("limits", "Limits",
                 Table("limits-table", "Limits, the worst first", Head(columns), rows) +
                     Figure("limits", caption));
}

std::string GroupsSection(const ReportFacts& facts) {
  const bool compared = !facts.unconstrained.is_null();
  std::string rows;
  for (const LimitFacts* limit : facts.WorstFirst()) {
    for (const GroupRate& group : limit->groups) rows += GroupRow(*limit, group, compared);
  }
  if (rows.empty()) return "";
  std::vector<std::pair<std::string, bool>> columns = {
      {"Group", false}, {"Limit", false}, {"Rate", true}, {"95% interval", true}, {"Rows", true}};
  if (compared) columns.emplace_back("Without limits", true);
  const std::string caption =
      "Each group&rsquo;s rate with its exact 95% interval, and what the limit allows.";
  return Section("groups", "Rates by group",
                 Figure("groups", caption) +
                     "<details class=\"fold\"><summary>All groups as a table</summary>" +
                     Table("groups-table", "Rates by group", Head(columns), rows) + "</details>");
}

std::string FrontierSection(const ReportFacts& facts) {
  const Json& points = ListAt(facts.frontier, "points");
  if (points.empty()) return "";
  const bool by_rho = TextAt(facts.frontier, "swept") == "rho";
  const auto swept = static_cast<std::size_t>(
      std::max<std::int64_t>(0, CountAt(facts.frontier, "constraint").value_or(0)));
  const bool percent = swept >= facts.limits.size() || facts.limits[swept].percent;
  std::string rows;
  for (const Json& point : points) {
    const Number setting = NumberAt(point, by_rho ? "rho" : "bound");
    const bool chosen = IsChosen(point, facts, swept, by_rho);
    std::string row = fmt::format(R"(<th scope="row" class="number"{}>{}{}</th>)", SortKey(setting),
                                  by_rho ? NumberText(setting) : BoundText(setting, percent),
                                  chosen ? "<small>this model</small>" : "");
    const Number objective = NumberAt(point, "objective"),
                 violation = NumberAt(point, "total_violation");
    row += NumberCell(ValueText(objective, facts.objective_percent), objective);
    row += NumberCell(DifferenceText(violation, percent), violation);
    const bool holds = violation && *violation == 0.0;
    row += fmt::format(R"(<td data-sort="{}">{}</td>)", holds ? 1 : 0,
                       Badge(holds ? Mood::kOpen : Mood::kBad, holds ? "Holds" : "Broken"));
    row += fmt::format("<td>{}</td>", FlagAt(point, "dominated") ? "no" : "yes");
    rows += fmt::format("<tr{}>{}</tr>", chosen ? " class=\"chosen\"" : "", row);
  }
  const std::string what =
      by_rho ? std::string("how much violations weigh (rho)")
             : "the bound of " + (swept < facts.limits.size() ? Code(facts.limits[swept].text)
                                                              : std::string("one limit"));
  const std::string head = Head({{by_rho ? "rho" : "Bound", true},
                                 {WithCapital(Escaped(facts.objective)), true},
                                 {"Total violation", true},
                                 {"Limits", false},
                                 {"Worth choosing", false}});
  return Section(
      "frontier", "What another bound would cost",
      fmt::format(
          "<p>The same data and learner, with {} moved. Every point is an estimate on unseen "
          "rows{}.</p>",
          what, facts.certifies ? ", none of them set aside for a certificate" : "") +
          "<div data-chart=\"frontier\" class=\"frontier\" hidden></div>"
          "<details class=\"fold\"><summary>All points as a table</summary>" +
          Table("frontier-table", "Points of the frontier", head, rows) + "</details>");
}

}  // namespace bregboost::detail
