#include "bregboost/report/html_report.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "report/detail/report_assets.h"
#include "report/detail/report_texts.h"

namespace bregboost {
namespace {

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
  detail::ReportTexts texts = detail::ReportTextsOf(run_document_json);
  return Filled(detail::ReportAsset("template.html"),
                {{"title", std::move(texts.title)},
                 {"subtitle", std::move(texts.subtitle)},
                 {"sections", std::move(texts.sections)},
                 {"data", std::move(texts.data)},
                 {"nonce", std::string(detail::ReportAssetsDigest())},
                 {"styles", detail::ReportAsset("report.css")},
                 {"d3", detail::ReportAsset("vendor/d3.min.js")},
                 {"d3_license", detail::ReportAsset("vendor/d3.LICENSE")},
                 {"plot", detail::ReportAsset("vendor/plot.umd.min.js")},
                 {"plot_license", detail::ReportAsset("vendor/plot.LICENSE")},
                 {"script", Script()}});
}

}  // namespace bregboost
