// What is said in sentences and pairs: costs, obstacles, the course of the training, the making.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/detail/html_text.h"
#include "report/detail/report_numbers.h"
#include "report/detail/report_sections.h"

namespace bregboost::detail {
namespace {

constexpr std::size_t kMostItems = 10;  // of a list that is not folded

bool AllInPercent(const ReportFacts& facts) {
  for (const LimitFacts& limit : facts.limits) {
    if (!limit.percent) return false;
  }
  return true;
}

bool AllHold(const ReportFacts& facts) { return facts.NumberHeld() == facts.limits.size(); }

void AddDiagnosis(const ReportFacts& facts, std::vector<std::string>& items) {
  if (!facts.fit.contains("diagnosis") || !facts.fit["diagnosis"].is_object()) return;
  const Json& found = facts.fit["diagnosis"];
  const char* surely = FlagAt(found, "exact") ? "" : ", as far as the search found";
  if (FlagAt(found, "feasible")) {
    if (!AllHold(facts)) {
      items.push_back(fmt::format("A decision that holds every limit exists{}.", surely));
    }
    return;
  }
  if (const Number relaxation = NumberAt(found, "relaxation")) {
    items.push_back(fmt::format(
        "No decision of this model holds all limits. <strong>Loosened by {}, they can be "
        "held</strong>{}.",
        DifferenceText(relaxation, AllInPercent(facts)), surely));
  } else {
    items.push_back(
        fmt::format("No decision holds all limits, however far they are loosened{}.", surely));
  }
  std::vector<std::string> binding;
  for (const Json& text : ListAt(found, "binding")) {
    if (text.is_string()) binding.push_back(Code(text.get<std::string>()));
  }
  if (binding.size() > kMostItems) {
    items.push_back(fmt::format("{} limits are in conflict.", binding.size()));
  } else if (!binding.empty()) {
    items.push_back(fmt::format(
        "{}: {}", binding.size() > 1 ? "Limits in conflict" : "The limit that is out of reach",
        fmt::join(binding, ", ")));
  }
  for (const Json& alone : ListAt(found, "alone")) {
    const std::string text = TextAt(alone, "text");
    items.push_back(fmt::format("{} reaches {} if nothing else counts.", Code(text),
                                ValueText(NumberAt(alone, "value"), InPercent(text))));
  }
  for (const Json& cell : ListAt(found, "blocking")) {
    items.push_back(fmt::format("{} ({} rows) adds {} of what is over the bounds.",
                                Code(TextAt(cell, "cell")), CountText(CountAt(cell, "rows")),
                                ValueText(NumberAt(cell, "share"), true)));
  }
}

void AddMissingRows(const Json& verdict, std::vector<std::string>& items) {
  const std::string word = TextAt(verdict, "verdict");
  if (word != "not certified" && word != "estimated") return;
  const std::string text = Code(TextAt(verdict, "text"));
  const std::string needs = TextAt(verdict, "needs");
  const Count needed = CountAt(verdict, "rows_needed");
  if (!needs.empty() && needed) {
    items.push_back(word == "estimated"
                        ? fmt::format("{}: a certificate needs about {} rows of {} kept for it.",
                                      text, CountText(needed), Code(needs))
                        : fmt::format("{}: needs about {} certification rows of {}; there are {}.",
                                      text, CountText(needed), Code(needs),
                                      CountText(CountAt(verdict, "rows_there"))));
  } else if (!needs.empty()) {
    items.push_back(fmt::format("{}: measured too near its limit for more rows of {} to show it.",
                                text, Code(needs)));
  }
  for (const Json& small : ListAt(verdict, "too_small")) {
    if (TextAt(small, "subset") == needs) continue;
    items.push_back(fmt::format("{}: {} certification rows of {} are too few to show it.", text,
                                CountText(CountAt(small, "rows")), Code(TextAt(small, "subset"))));
  }
}

std::string Facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string pairs;
  for (const auto& [name, value] : facts) {
    if (!value.empty()) pairs += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  }
  return pairs.empty() ? "" : "<dl class=\"facts\">" + pairs + "</dl>";
}

// Numbers, texts and flags as they are; lists and objects as JSON.
std::string AnyText(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return Escaped(value.get<std::string>());
  return Escaped(value.dump());
}

std::string Named(const Json& object, const char* key, std::string (*text_of)(const Json&)) {
  std::vector<std::string> parts;
  if (object.contains(key) && object[key].is_object()) {
    for (const auto& [name, value] : object[key].items()) {
      if (value.is_number() && value.get<double>() != 0.0) {
        parts.push_back(text_of(value) + " " + Escaped(name));
      }
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// A document of others may have numbers that no integer holds.
std::string RowsText(const Json& rows) {
  return rows.is_number_integer() ? CountText(rows.get<std::int64_t>())
                                  : NumberText(rows.get<double>());
}

std::string Decision(const Json& fit) {
  std::vector<std::string> parts;
  if (const Number temperature = NumberAt(fit, "temperature")) {
    parts.push_back("temperature " + NumberText(temperature));
  }
  const Json &offsets = ListAt(fit, "offsets"), &classes = ListAt(fit, "classes");
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    std::string part =
        "offset " + (offsets[k].is_number() ? fmt::format("{:+.4g}", offsets[k].get<double>())
                                            : std::string(kUndefined));
    if (classes.size() == offsets.size()) part += " for " + AnyText(classes[k]);
    parts.push_back(part);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string WithSpaces(std::string text) {
  for (char& c : text) c = c == '_' ? ' ' : c;
  return Escaped(text);
}

std::string Joined(const std::vector<std::string>& names) {
  std::vector<std::string> escaped;
  for (const std::string& name : names) escaped.push_back(Code(name));
  return fmt::format("{}", fmt::join(escaped, " "));
}

std::string DataFacts(const RunData& data) {
  return "<h3>Data</h3>" + Facts({{"File", Escaped(data.file)},
                                  {"Label", Escaped(data.label)},
                                  {"Rows", CountText(static_cast<std::int64_t>(data.rows))},
                                  {"Weight", data.weight ? Escaped(*data.weight) : ""},
                                  {"Group columns", Joined(data.groups)},
                                  {"Features", Joined(data.features)}});
}

std::string TrainingFacts(const ReportFacts& facts) {
  const Json& fit = facts.fit;
  std::string ending = WithSpaces(TextAt(fit, "reason"));
  if (const std::string detail = TextAt(fit, "detail"); !detail.empty()) {
    ending += " (" + Escaped(detail) + ")";
  }
  const Count models = CountAt(fit, "models");
  return "<h3>Training</h3>" +
         Facts({{"Learner", Escaped(facts.document.settings.learner)},
                {"Models", models.value_or(1) > 1 ? CountText(models) + " fold models in one" : ""},
                {"Solver", WithSpaces(TextAt(fit, "solver"))},
                {"Path", WithSpaces(TextAt(fit, "path"))},
                {"rho", NumberAt(fit, "rho") ? NumberText(NumberAt(fit, "rho")) : ""},
                {"delta", NumberAt(fit, "delta") ? NumberText(NumberAt(fit, "delta")) : ""},
                {"Validation", WithSpaces(TextAt(fit, "validation"))},
                {"Rows", Named(fit, "rows", RowsText)},
                {"Positive class", Escaped(TextAt(fit, "positive_class"))},
                {"Decision", Decision(fit)},
                {"Ended", ending},
                {"Rounds kept",
                 CountAt(fit, "rounds_kept") ? CountText(CountAt(fit, "rounds_kept")) : ""},
                {"Seconds",
                 Named(fit, "seconds",
                       [](const Json& s) { return fmt::format("{:.1f}", s.get<double>()); })},
                {"Seed", std::to_string(facts.document.settings.seed)}});
}

std::string Pairs(const char* title, const std::map<std::string, std::string>& values) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : values) pairs.emplace_back(Escaped(name), Escaped(value));
  return pairs.empty() ? "" : fmt::format("<h3>{}</h3>{}", title, Facts(pairs));
}

std::string Options(const RunSettings& settings) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const Json options = Json::parse(settings.options);
  for (const auto& [name, value] : options.items()) {
    const bool is_left_to_us = name == "rho" && value.is_null();
    pairs.emplace_back(Escaped(name), is_left_to_us ? "chosen" : AnyText(value));
  }
  return pairs.empty() ? "" : "<h3>Options</h3>" + Facts(pairs);
}

}  // namespace

std::string Section(const char* id, const std::string& title, const std::string& content) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 "
      "id=\"{0}-title\">{1}</h2>{2}</section>",
      id, title, content);
}

std::string Items(const std::vector<std::string>& items, std::size_t most) {
  std::string shown, folded;
  for (std::size_t i = 0; i < items.size(); ++i) {
    (i < most ? shown : folded) += "<li>" + items[i] + "</li>";
  }
  shown = "<ul>" + shown + "</ul>";
  if (folded.empty()) return shown;
  return fmt::format("{}<details class=\"fold\"><summary>{} more</summary><ul>{}</ul></details>",
                     shown, items.size() - most, folded);
}

std::string PriceText(const LimitFacts& limit, const ReportFacts& facts) {
  if (!limit.price) return "";
  if (!limit.holds) {
    return *limit.price == 0.0 ? "broken; loosening it alone buys nothing"
                               : fmt::format("broken; each point over is charged {} points of {}",
                                             NumberText(limit.price), Escaped(facts.objective));
  }
  if (!limit.binding) return "";
  const char* step = limit.percent ? "one point" : "0.01";
  const std::string gain = DifferenceText(0.01 * *limit.price, facts.objective_percent);
  std::string text = fmt::format("{} {} {} <b>{}</b> {} {}", step, limit.at_most ? "more" : "less",
                                 facts.maximise ? "buys" : "takes", gain,
                                 facts.maximise ? "of" : "off", Escaped(facts.objective));
  if (limit.price_error.value_or(0.0) > 0.0) {
    const double scale = facts.objective_percent ? 1.0 : 0.01;
    text += fmt::format(" <small>standard error {:.2g}</small>", scale * *limit.price_error);
  }
  return text;
}

std::string ObstaclesSection(const ReportFacts& facts) {
  std::vector<std::string> items;
  AddDiagnosis(facts, items);
  for (const Json& small : ListAt(facts.fit, "too_small")) {
    const std::string group = TextAt(small, "group");
    items.push_back(fmt::format("{}: {} rows{} are too small a sample to tell such a rate.",
                                Code(TextAt(small, "text")), CountText(CountAt(small, "rows")),
                                group.empty() ? "" : " of " + Code(group)));
  }
  for (const Json& verdict : ListAt(facts.fit, "certificate")) AddMissingRows(verdict, items);
  if (items.empty()) return "";
  return Section("obstacles", "What stands in the way", Items(items, kMostItems));
}

std::string CostSection(const ReportFacts& facts) {
  std::vector<std::string> items;
  const Json& path = ListAt(facts.fit, "cautious_path");
  const Count point = CountAt(facts.fit, "certified_point");
  if (point && *point >= 0 && *point + 1 < std::ssize(path)) {
    items.push_back(fmt::format(
        "The certificate has a price of its own: {} {}, where the decision that is only estimated "
        "has {}.",
        Escaped(facts.objective),
        ValueText(NumberAt(path[static_cast<std::size_t>(*point)], "objective"),
                  facts.objective_percent),
        ValueText(NumberAt(path.back(), "objective"), facts.objective_percent)));
  }
  if (facts.unlimited_objective) {
    items.push_back(fmt::format(
        "Without limits the same learner has {} {} on the same unseen rows.",
        Escaped(facts.objective), ValueText(facts.unlimited_objective, facts.objective_percent)));
  }
  std::size_t binding = 0, priced = 0;
  for (const LimitFacts* limit : facts.WorstFirst()) {
    if (limit->price) ++priced;
    const std::string text = limit->binding || !limit->holds ? PriceText(*limit, facts) : "";
    if (text.empty()) continue;
    ++binding;
    items.push_back(fmt::format("{}: {}", Code(limit->text), text));
  }
  if (priced > binding) {
    items.push_back(binding == 0 ? std::string("No limit binds: loosening one buys nothing.")
                                 : fmt::format("{} of {} limits have a price; the others do not "
                                               "bind.",
                                               binding, priced));
  }
  if (items.empty()) return "";
  return Section("cost", "What the limits cost", Items(items, kMostItems));
}

std::string CourseSection(const ReportFacts& facts) {
  if (ListAt(facts.fit, "history").size() < 2) return "";
  const bool calibrated = !ListAt(facts.fit, "offsets").empty();
  const std::string where = facts.on_training_rows ? "training rows" : "unseen rows";
  return Section(
      "training", "Course of the training",
      fmt::format(
          "<p>Measured on {} after every step{}. The dashed line marks the step that was kept.</p>"
          "<div data-chart=\"course\" class=\"course\" hidden></div>",
          where, calibrated ? ", before temperature and offsets are set" : ""));
}

std::string MakingSection(const ReportFacts& facts) {
  const RunDocument& document = facts.document;
  return Section("audit", "For the audit",
                 "<details class=\"fold\"><summary>Settings, data and versions</summary>" +
                     TrainingFacts(facts) + (document.data ? DataFacts(*document.data) : "") +
                     Pairs("Parameters of the learner", document.settings.parameters) +
                     Options(document.settings) + Pairs("Versions", document.versions) +
                     "</details>");
}

std::string ReadingSection(const ReportFacts& facts) {
  std::vector<std::pair<std::string, std::string>> words = {
      {"Unseen rows",
       "Every row is scored by a model that was not trained on it, and rates are counted there."},
      {"Certified",
       "Rows that had no part in making the model show that the limit holds; a false certificate "
       "comes out with a probability of at most delta."},
      {"Not certified",
       "The rows kept for a certificate do not show it, which may be for want of "
       "rows."},
      {"Violated", "Those rows show that the limit does not hold."},
      {"Estimated", "Measured on unseen rows; nothing is claimed."},
      {"Price", "What the objective would gain if the bound gave way by one point."},
      {"95% interval",
       "Exact (Clopper and Pearson) for one rate of rows drawn independently. The decision was "
       "chosen on these rows, so it is a guide to the noise and not a certificate."},
      {"Too small", "One bad row more than the limit allows breaks it: the rate cannot be told."}};
  if (facts.on_training_rows) {
    words = {{"In training",
              "The paper&rsquo;s solvers hold smooth limits on the training rows. What is measured "
              "there says little about unseen rows."}};
  }
  return Section("words", "How to read this report",
                 "<details class=\"fold\"><summary>Words</summary>" + Facts(words) + "</details>");
}

}  // namespace bregboost::detail
