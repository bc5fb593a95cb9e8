#include "bregboost/report/html_report.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "bregboost/report/run_document.h"
#include "report/detail/html_text.h"
#include "report/detail/report_assets.h"
#include "report/detail/report_facts.h"
#include "report/detail/report_sections.h"

namespace bregboost {
namespace {

using detail::Json;

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
  return detail::EscapedJson(document.dump());
}

std::string Subtitle(const detail::ReportFacts& facts) {
  std::string text = detail::Escaped(facts.document.settings.learner);
  const auto version = facts.document.versions.find("bregboost");
  if (version != facts.document.versions.end()) {
    text += fmt::format("{}bregboost {}", text.empty() ? "" : " &middot; ",
                        detail::Escaped(version->second));
  }
  if (facts.document.data && !facts.document.data->file.empty()) {
    text += fmt::format(" &middot; {}", detail::Escaped(facts.document.data->file));
  }
  return text;
}

// Every {{name}} of the template with its text; texts are not searched again, so that a column
// called {{script}} stays one.
std::string Filled(std::string_view page, const std::map<std::string, std::string>& texts) {
  std::string filled;
  while (true) {
    const std::size_t begin = page.find("{{");
    if (begin == std::string_view::npos) return filled.append(page);
    const std::size_t end = page.find("}}", begin);
    filled.append(page.substr(0, begin));
    filled.append(texts.at(std::string(page.substr(begin + 2, end - begin - 2))));
    page.remove_prefix(end + 2);
  }
}

std::string Script() {
  std::string script;
  for (const char* name : {"text", "tables", "charts", "limits_chart", "groups_chart",
                           "frontier_chart", "course_chart", "start"}) {
    script += detail::ReportAsset(fmt::format("script/{}.js", name));
  }
  return script;
}

}  // namespace

std::string HtmlReport(std::string_view run_document_json) {
  const detail::ReportFacts facts = detail::FactsOf(ParseRunDocument(run_document_json));
  const std::string title =
      facts.document.title.empty() ? "Report of a training" : facts.document.title;
  std::string sections = detail::VerdictBanner(facts);
  for (const auto part :
       {&detail::LimitsSection, &detail::ObstaclesSection, &detail::Warnings, &detail::CostSection,
        &detail::GroupsSection, &detail::FrontierSection, &detail::CourseSection,
        &detail::ReadingSection, &detail::MakingSection}) {
    sections += part(facts);
  }
  return Filled(detail::ReportAsset("template.html"),
                {{"title", detail::Escaped(title)},
                 {"subtitle", Subtitle(facts)},
                 {"sections", sections},
                 {"data", EmbeddedJson(run_document_json)},
                 {"nonce", std::string(detail::ReportAssetsDigest())},
                 {"styles", detail::ReportAsset("report.css")},
                 {"d3", detail::ReportAsset("vendor/d3.min.js")},
                 {"d3_license", detail::ReportAsset("vendor/d3.LICENSE")},
                 {"plot", detail::ReportAsset("vendor/plot.umd.min.js")},
                 {"plot_license", detail::ReportAsset("vendor/plot.LICENSE")},
                 {"script", Script()}});
}

}  // namespace bregboost
