#include "report/detail/report_texts.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bregboost/report/run_document.h"
#include "report/detail/html_text.h"
#include "report/detail/report_facts.h"
#include "report/detail/report_sections.h"

namespace bregboost::detail {
namespace {

// Six digits: more than a curve shows.
void Round(Json& value) {
  if (value.is_number_float()) {
    // Not std::stod(), which throws for numbers next to 0.
    value = std::strtod(fmt::format("{:.6g}", value.get<double>()).c_str(), nullptr);
  }
  if (value.is_structured()) {
    for (Json& part : value) Round(part);
  }
}

// What the charts draw, and what a machine may want to read back.
std::string EmbeddedJson(std::string_view run_document_json) {
  Json document = Json::parse(run_document_json);
  document.erase("encoding");
  document.erase("model");
  if (document["fit"].contains("history") && document["fit"]["history"].is_array()) {
    for (Json& step : document["fit"]["history"]) {
      if (step.is_object()) step.erase("multipliers");
      Round(step);
    }
  }
  return EscapedJson(document.dump());
}

std::string Subtitle(const ReportFacts& facts) {
  std::string text = Escaped(facts.document.settings.learner);
  const auto version = facts.document.versions.find("bregboost");
  if (version != facts.document.versions.end()) {
    text +=
        fmt::format("{}bregboost {}", text.empty() ? "" : " &middot; ", Escaped(version->second));
  }
  if (facts.document.data && !facts.document.data->file.empty()) {
    text += fmt::format(" &middot; {}", Escaped(facts.document.data->file));
  }
  return text;
}

}  // namespace

ReportTexts ReportTextsOf(std::string_view run_document_json) {
  const ReportFacts facts = FactsOf(ParseRunDocument(run_document_json));
  const std::string title =
      facts.document.title.empty() ? "Report of a training" : facts.document.title;
  std::string sections = VerdictBanner(facts);
  for (const auto part :
       {&LimitsSection, &ObstaclesSection, &Warnings, &CostSection, &GroupsSection,
        &FrontierSection, &CourseSection, &ReadingSection, &MakingSection}) {
    sections += part(facts);
  }
  return {.title = Escaped(title),
          .subtitle = Subtitle(facts),
          .sections = std::move(sections),
          .data = EmbeddedJson(run_document_json)};
}

}  // namespace bregboost::detail
