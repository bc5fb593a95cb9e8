// The verdict in one sentence, and the figures that belong to it.
#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "report/detail/html_text.h"
#include "report/detail/report_numbers.h"
#include "report/detail/report_sections.h"

namespace bregboost::detail {
namespace {

std::string Confidence(const ReportFacts& facts) {
  return facts.confidence ? BoundText(facts.confidence, true) + " confidence" : "confidence";
}

// How the training ended, where that was not as planned.
std::string Ending(const ReportFacts& facts) {
  const std::string reason = TextAt(facts.fit, "reason");
  if (reason == "interrupted") return "Interrupted: this is the best model so far. ";
  if (reason == "time_limit") return "Out of time: this is the best model so far. ";
  if (reason == "numerical_error") {
    return "Stopped by a numerical error: this is the last sound model. ";
  }
  return "";
}

std::string Holding(const ReportFacts& facts) {
  const std::size_t total = facts.limits.size();
  const std::string where = "on " + facts.MeasuredOn();
  const std::string all = total == 1 ? "The limit holds" : fmt::format("All {} limits hold", total);
  if (facts.on_training_rows) return all + " " + where + "; nothing is known about unseen rows.";
  if (!facts.certifies) {
    return all + " " + where + ". This is an estimate: no rows were kept for a certificate.";
  }
  return fmt::format("{} {}, but the rows kept for a certificate do not show it with {}.", all,
                     where, Confidence(facts));
}

std::string Breaking(const ReportFacts& facts, std::size_t bad) {
  const LimitFacts& worst = *facts.WorstFirst().front();
  const std::size_t total = facts.limits.size();
  const std::string who = total == 1 ? "The limit" : fmt::format("{} of {} limits", bad, total);
  const char* verb = total == 1 || bad == 1 ? "is" : "are";
  std::string how = "broken on " + facts.MeasuredOn();
  if (worst.verdict == "violated") how = "shown not to hold, with " + Confidence(facts);
  const std::string value = ValueText(worst.value, worst.percent, worst.bound);
  if (total == 1 || bad == 1) {
    return fmt::format("{} {} {}: {} is measured at {}.", who, verb, how, Code(worst.text), value);
  }
  return fmt::format("{} {} {}; the worst is {}, measured at {}.", who, verb, how, Code(worst.text),
                     value);
}

std::string Sentence(const ReportFacts& facts) {
  const std::size_t total = facts.limits.size();
  if (total == 0) return "No limits were asked for: this is a plain model.";
  if (const std::size_t bad = facts.NumberOf(Mood::kBad)) return Breaking(facts, bad);
  if (!facts.all_certified) return Holding(facts);
  const std::string who = total == 1 ? "The limit is certified"
                                     : fmt::format("All {} limits are certified together", total);
  return fmt::format("{}: with {}, {} on unseen data.", who, Confidence(facts),
                     total == 1 ? "it holds" : "they hold");
}

Mood MoodOf(const ReportFacts& facts) {
  if (facts.NumberOf(Mood::kBad) > 0) return Mood::kBad;
  return facts.all_certified ? Mood::kGood : Mood::kOpen;
}

// How much better the learner without limits is.
Number Loss(const ReportFacts& facts) {
  if (!facts.objective_value || !facts.unlimited_objective) return std::nullopt;
  const double gain = *facts.unlimited_objective - *facts.objective_value;
  return facts.maximise ? gain : -gain;
}

std::string Comparison(const ReportFacts& facts) {
  const Number loss = Loss(facts);
  if (!loss) return "";
  const std::string without = ValueText(facts.unlimited_objective, facts.objective_percent);
  if (std::abs(*loss) < 5e-6) {
    return fmt::format(" the same as without limits ({}).", without);
  }
  return fmt::format(" {} {} than the same learner without limits ({}).",
                     DifferenceText(std::abs(*loss), facts.objective_percent),
                     *loss > 0.0 ? "worse" : "better", without);
}

std::string Objective(const ReportFacts& facts) {
  if (!facts.objective_value) return "";
  const std::string comparison = Comparison(facts);
  return fmt::format("{} is {} on {}{}", WithCapital(Escaped(facts.objective)),
                     ValueText(facts.objective_value, facts.objective_percent), facts.MeasuredOn(),
                     comparison.empty() ? "." : "," + comparison);
}

std::string Tile(const std::string& name, const std::string& value, const std::string& note) {
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd><b>{}</b><span>{}</span></dd></div>", name,
                     value, note);
}

std::string Tiles(const ReportFacts& facts) {
  std::string tiles;
  if (facts.objective_value) {
    tiles +=
        Tile(WithCapital(Escaped(facts.objective)),
             ValueText(facts.objective_value, facts.objective_percent), "on " + facts.MeasuredOn());
  }
  if (const Number loss = Loss(facts)) {
    tiles += Tile("Cost of the limits", DifferenceText(*loss, facts.objective_percent),
                  "against " + ValueText(facts.unlimited_objective, facts.objective_percent) +
                      " without limits");
  }
  if (!facts.limits.empty()) {
    const std::size_t total = facts.limits.size();
    tiles += Tile("Limits held", fmt::format("{} of {}", facts.NumberHeld(), total),
                  facts.on_training_rows ? "as measured in training" : "as measured");
    if (!facts.on_training_rows) {
      const std::string note =
          facts.certifies ? "with " + Confidence(facts) : "no rows were kept for it";
      const std::size_t certified = facts.all_certified ? total : facts.NumberOf(Mood::kGood);
      tiles += Tile("Certified", fmt::format("{} of {}", certified, total), note);
    }
  }
  return tiles.empty() ? "" : "<dl class=\"tiles\">" + tiles + "</dl>";
}

}  // namespace

std::string WithCapital(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

const char* Class(Mood mood) {
  switch (mood) {
    case Mood::kGood:
      return "good";
    case Mood::kOpen:
      return "open";
    case Mood::kBad:
      return "bad";
  }
  return "";
}

// Shapes that differ without colour: a tick in a disc, a half-filled ring, a cross in an octagon.
std::string Icon(Mood mood) {
  const char* shape = "";
  switch (mood) {
    case Mood::kGood:
      shape =
          "<circle cx=\"12\" cy=\"12\" r=\"10\" fill=\"currentColor\"/>"
          "<path d=\"M7 12.5l3.5 3.5L17 8.5\" class=\"cut\"/>";
      break;
    case Mood::kOpen:
      shape =
          "<circle cx=\"12\" cy=\"12\" r=\"9\" class=\"ring\"/>"
          "<path d=\"M12 3a9 9 0 0 1 0 18z\" fill=\"currentColor\"/>";
      break;
    case Mood::kBad:
      shape =
          "<path d=\"M8 2h8l6 6v8l-6 6H8l-6-6V8z\" fill=\"currentColor\"/>"
          "<path d=\"M8.5 8.5l7 7m0-7l-7 7\" class=\"cut\"/>";
      break;
  }
  return fmt::format(R"(<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{}</svg>)", shape);
}

std::string VerdictBanner(const ReportFacts& facts) {
  const Mood mood = MoodOf(facts);
  return fmt::format(
      "<section id=\"verdict\" class=\"banner {}\" aria-labelledby=\"verdict-title\">{}"
      "<div><h2 id=\"verdict-title\">{}{}</h2><p>{}</p></div></section>{}",
      Class(mood), Icon(mood), Ending(facts), Sentence(facts), Objective(facts), Tiles(facts));
}

std::string Warnings(const ReportFacts& facts) {
  std::vector<std::string> items;
  for (const Json& warning : ListAt(facts.fit, "warnings")) {
    if (warning.is_string()) items.push_back(Escaped(warning.get<std::string>()));
  }
  if (items.empty()) return "";
  return fmt::format(
      "<section id=\"warnings\" class=\"warnings\" aria-labelledby=\"warnings-title\">"
      "<h2 id=\"warnings-title\">Warnings</h2>{}</section>",
      Items(items, 4));
}

}  // namespace bregboost::detail
