// The page without a script: sections that are there or not, verdicts in words, names that are
// shown and never run. tests/python/browser looks at it with one.
#include "bregboost/report/html_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "report/detail/html_text.h"
#include "report/detail/report_numbers.h"

namespace bregboost {
namespace {

using nlohmann::json;

json Limit(const std::string& text, double value, double bound, json groups = json::array()) {
  const bool holds = text.find(">=") == std::string::npos ? value <= bound : value >= bound;
  return {{"text", text},
          {"value", value},
          {"bound", bound},
          {"relation", text.find(">=") == std::string::npos ? "<=" : ">="},
          {"violation", holds ? 0.0 : std::abs(value - bound)},
          {"satisfied", holds},
          {"groups", std::move(groups)},
          {"rows", 400},
          {"interval", {value - 0.01, value + 0.01}},
          {"small", false}};
}

json Verdict(const json& limit, const char* verdict) {
  const bool estimated = std::string(verdict) == "estimated";
  return {{"text", limit["text"]},
          {"verdict", verdict},
          {"value", limit["value"]},
          {"bound", limit["bound"]},
          {"confidence_bound", estimated ? json() : json(0.0462)},
          {"other_bound", estimated ? json() : json(0.031)},
          {"confidence", 0.9},
          {"rows", 812},
          {"needs", ""},
          {"too_small", json::array()}};
}

json Document(const std::vector<json>& limits, const char* verdict) {
  json verdicts = json::array(), prices = json::array();
  for (const json& limit : limits) {
    verdicts.push_back(Verdict(limit, verdict));
    prices.push_back(
        {{"text", limit["text"]}, {"price", 0.4}, {"standard_error", 0.05}, {"binding", true}});
  }
  return {{"format", "bregboost run"},
          {"version", 1},
          {"title", "Loans"},
          {"fit",
           {{"solver", "auto"},
            {"validation", "folds"},
            {"rows", {{"training", 4500}, {"unseen", 4500}, {"certification", 0}}},
            {"objective", 0.912},
            {"objective_name", "accuracy"},
            {"maximise", true},
            {"constraints", limits},
            {"certificate", verdicts},
            {"all_certified", std::string(verdict) == "certified"},
            {"prices", prices},
            {"warnings", json::array()}}},
          {"settings",
           {{"learner", "lightgbm"},
            {"parameters", json::object()},
            {"options", json::object()},
            {"seed", 7}}},
          {"versions", {{"bregboost", "0.1.0"}}}};
}

std::string Page(const json& document) { return HtmlReport(document.dump()); }

// Everything but the vendors' scripts, styles and the data.
std::string Body(const json& document) {
  const std::string page = Page(document);
  const std::size_t begin = page.find("<main>"), end = page.find("</main>");
  EXPECT_LT(begin, end);
  return page.substr(begin, end - begin);
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HtmlReport, SaysTheVerdictInASentence) {
  const json fnr = Limit("fnr <= 5%", 0.0312, 0.05),
             gap = Limit("gap(error, by=sex) <= 2%", 0.0231, 0.02);
  EXPECT_TRUE(Has(Body(Document({fnr}, "certified")),
                  "The limit is certified: with 90% confidence, it holds on unseen data."));
  EXPECT_TRUE(Has(Body(Document({fnr, fnr}, "certified")), "All 2 limits are certified together"));
  EXPECT_TRUE(Has(Body(Document({fnr}, "estimated")),
                  "The limit holds on 4,500 unseen rows. This is an estimate: no rows were kept"));
  EXPECT_TRUE(Has(Body(Document({fnr}, "not certified")), "do not show it with 90% confidence."));
  EXPECT_TRUE(Has(Body(Document({fnr, gap}, "estimated")),
                  "1 of 2 limits is broken on 4,500 unseen rows: <code>gap(error, by=sex) &lt;= "
                  "2%</code> is measured at 2.31%."));
  EXPECT_TRUE(Has(Body(Document({gap}, "violated")),
                  "The limit is shown not to hold, with 90% confidence"));
  EXPECT_TRUE(Has(Body(Document({}, "estimated")), "No limits were asked for"));
}

TEST(HtmlReport, NeverTakesUndefinedForHeld) {
  json document = Document({Limit("precision >= 60%", 0.7, 0.6)}, "certified");
  document["fit"]["constraints"][0]["value"] = nullptr;
  const std::string body = Body(document);
  EXPECT_TRUE(Has(body, "class=\"banner bad\""));
  EXPECT_TRUE(Has(body, "Undefined"));
  EXPECT_FALSE(Has(body, "is certified"));
}

TEST(HtmlReport, PutsTheWorstLimitFirst) {
  const std::string body =
      Body(Document({Limit("fnr <= 5%", 0.03, 0.05), Limit("fpr <= 5%", 0.06, 0.05),
                     Limit("error <= 5%", 0.09, 0.05)},
                    "estimated"));
  const std::size_t table = body.find("limits-table");
  const auto place = [&](const char* text) { return body.find(text, table); };
  EXPECT_LT(place("error &lt;= 5%"), place("fpr &lt;= 5%"));
  EXPECT_LT(place("fpr &lt;= 5%"), place("fnr &lt;= 5%"));
}

TEST(HtmlReport, TellsPricesAsPointsForPoints) {
  EXPECT_TRUE(Has(Body(Document({Limit("fnr <= 5%", 0.05, 0.05)}, "estimated")),
                  "one point more buys <b>0.40 points</b> of accuracy"));
  EXPECT_TRUE(Has(Body(Document({Limit("recall >= 90%", 0.9, 0.9)}, "estimated")),
                  "one point less buys <b>0.40 points</b> of accuracy"));
}

TEST(HtmlReport, HasTheSectionsThatTheDocumentFills) {
  const auto sections = [](const std::string& body) {
    std::vector<std::string> ids;
    const std::regex id("<section id=\"([a-z]+)\"");
    for (std::sregex_iterator it(body.begin(), body.end(), id), end; it != end; ++it) {
      ids.push_back((*it)[1]);
    }
    return ids;
  };
  using Ids = std::vector<std::string>;
  json document = Document({}, "estimated");
  document["fit"]["prices"] = json::array();
  EXPECT_EQ(sections(Body(document)), (Ids{"verdict", "words", "audit"}));

  const json groups = {
      {{"group", "sex=F"}, {"value", 0.1}, {"rows", 9}, {"small", true}, {"interval", {0.0, 0.4}}},
      {{"group", "sex=M"}, {"value", 0.2}, {"rows", 90}, {"small", false}, {"interval", nullptr}}};
  document = Document({Limit("gap(error, by=sex) <= 2%", 0.1, 0.02, groups)}, "estimated");
  json& fit = document["fit"];
  fit["warnings"] = {"3 rows have no sex"};
  fit["history"] = {{{"k", 0}, {"objective", 0.5}}, {{"k", 1}, {"objective", 0.4}}};
  fit["diagnosis"] = {{"feasible", false},
                      {"relaxation", 0.031},
                      {"exact", true},
                      {"binding", {"gap(error, by=sex) <= 2%"}},
                      {"alone", json::array()},
                      {"blocking", {{{"cell", "class=1, sex=F"}, {"rows", 9}, {"share", 0.64}}}}};
  document["frontier"] = {
      {"swept", "bound"},
      {"constraint", 0},
      {"points",
       {{{"bound", 0.02}, {"objective", 0.8}, {"total_violation", 0.0}, {"dominated", false}}}}};
  document["unconstrained"] = {
      {"objective", 0.95},
      {"constraints", {{{"text", "gap(error, by=sex) <= 2%"}, {"value", 0.3}}}}};
  const std::string body = Body(document);
  EXPECT_EQ(sections(body), (Ids{"verdict", "limits", "obstacles", "warnings", "cost", "groups",
                                 "frontier", "training", "words", "audit"}));
  EXPECT_TRUE(Has(body, "Loosened by 3.10 points, they can be held"));
  EXPECT_TRUE(Has(body, "adds 64.00% of what is over the bounds"));
  EXPECT_TRUE(Has(body, "too small"));
  EXPECT_TRUE(Has(body, "3.80 points worse than the same learner without limits (95.00%)"));
  EXPECT_TRUE(Has(body, "this model"));
}

// The paper's solvers measure training rows and neither certify nor price.
TEST(HtmlReport, DoesNotClaimMoreThanThePapersSolvers) {
  json document = Document({Limit("fnr <= 5%", 0.03, 0.05)}, "certified");
  json& fit = document["fit"];
  for (const char* key : {"certificate", "all_certified", "prices", "warnings"}) fit.erase(key);
  fit.update({{"solver", "abpp"},
              {"validation", "none"},
              {"objective_name", "loss"},
              {"maximise", false},
              {"objective", 0.31}});
  const std::string body = Body(document);
  EXPECT_TRUE(Has(body, "holds on 4,500 training rows; nothing is known about unseen rows"));
  EXPECT_TRUE(Has(body, "Loss is 0.31 on"));
  EXPECT_TRUE(Has(body, "class=\"banner open\""));
  EXPECT_FALSE(Has(body, "Price</th>"));
  EXPECT_FALSE(Has(body, "Certified"));
}

TEST(HtmlReport, ShowsNamesAndNeverRunsThem) {
  const std::string evil = "</script><script>alert('x')</script><img src=x onerror=\"alert(1)\">";
  json document = Document({Limit("error(\"" + evil + "\"=a) <= 5%", 0.03, 0.05,
                                  {{{"group", evil + "=a"}, {"value", 0.1}, {"rows", 9}}})},
                           "estimated");
  document["title"] = evil;
  document["fit"]["warnings"] = {evil};
  document["fit"]["reason"] = evil;
  document["fit"]["classes"] = {evil};
  document["fit"]["offsets"] = {0.5};
  document["fit"]["too_small"] = {{{"text", evil}, {"group", evil}, {"rows", 1}}};
  document["data"] = {{"file", evil},       {"label", evil},    {"rows", 1},
                      {"features", {evil}}, {"groups", {evil}}, {"weight", evil}};
  document["settings"]["learner"] = evil;
  document["settings"]["parameters"][evil] = evil;
  document["settings"]["options"][evil] = {{evil, evil}};
  document["versions"][evil] = evil;
  const std::string page = Page(document);
  EXPECT_FALSE(Has(page, "<script>"));  // ours have a nonce or a type
  EXPECT_FALSE(Has(page, "<img"));
  std::size_t ends = 0;
  for (std::size_t at = page.find("</script"); at != std::string::npos;
       at = page.find("</script", at + 1)) {
    ++ends;
  }
  EXPECT_EQ(ends, 4);  // the data, two libraries, the page's own
  EXPECT_TRUE(Has(page, "<h1>&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)"));
}

TEST(HtmlReport, LeavesTemplateMarksInNamesAlone) {
  json document = Document({}, "estimated");
  document["title"] = "{{script}} {{data}}";
  EXPECT_TRUE(Has(Page(document), "<h1>{{script}} {{data}}</h1>"));
}

TEST(HtmlReport, CarriesTheDocumentWithoutItsBulk) {
  json document = Document({Limit("fnr <= 5%", 0.03, 0.05)}, "estimated");
  document["encoding"] = {{"secret", 1}};
  document["fit"]["history"] = {
      {{"k", 0}, {"objective", 0.123456789}, {"multipliers", {1.0, 2.0}}}};
  const std::string page = Page(document);
  const std::string open = R"(<script type="application/json" id="run">)";
  const std::size_t begin = page.find(open) + open.size();
  const json carried = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(carried.at("fit").at("constraints"), document["fit"]["constraints"]);
  EXPECT_FALSE(carried.contains("encoding"));
  EXPECT_EQ(carried.at("fit").at("history").at(0), (json{{"k", 0}, {"objective", 0.123457}}));
}

TEST(HtmlReport, RoundsNumbersOfEverySize) {
  json document = Document({Limit("fnr <= 5%", 0.04, 0.05)}, "estimated");
  document["fit"]["history"] = {{{"smallest", 5e-324}, {"largest", 1.7976931348623157e308}}};
  const std::string page = HtmlReport(document.dump());
  EXPECT_NE(page.find(R"("smallest":5e-324)"), std::string::npos);
  EXPECT_NE(page.find(R"("largest":1.79769e+308)"), std::string::npos);
}

TEST(HtmlReport, AsksNoNetworkAndStaysSmall) {
  const std::string page = Page(Document({Limit("fnr <= 5%", 0.03, 0.05)}, "certified"));
  EXPECT_TRUE(Has(page, "default-src 'none'"));
  for (const char* part : {"<link", " src=", "@import", "url("}) {
    EXPECT_FALSE(Has(page.substr(0, page.find("<script nonce")), part)) << part;
  }
  EXPECT_LT(page.size(), 700'000);
  EXPECT_EQ(page, Page(Document({Limit("fnr <= 5%", 0.03, 0.05)}, "certified")));
}

TEST(HtmlReport, RefusesWhatIsNoRunDocument) {
  EXPECT_THROW(HtmlReport("{}"), std::invalid_argument);
}

TEST(ReportNumbers, ReadAsPeopleWriteThem) {
  using namespace detail;  // NOLINT
  EXPECT_EQ(ValueText(0.0487, true), "4.87%");
  EXPECT_EQ(ValueText(0.05002, true, 0.05), "5.002%");
  EXPECT_EQ(ValueText(-1e-9, true), "0.00%");
  EXPECT_EQ(ValueText(std::nullopt, true), "undefined");
  EXPECT_EQ(BoundText(0.07, true), "7%");
  EXPECT_EQ(DifferenceText(0.0031, true), "0.31 points");
  EXPECT_EQ(DifferenceText(0.00012, true), "0.012 points");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(CountText(123), "123");
  EXPECT_EQ(CountText(-1234), "-1,234");
  EXPECT_FALSE(GroupsInPercent("ratio(loss, by=sex) >= 80%"));
  EXPECT_TRUE(GroupsInPercent("gap(fnr, by=sex) <= 5%"));
  EXPECT_EQ(Escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(EscapedJson("\"</script>\""), "\"\\u003c/script>\"");
}

}  // namespace
}  // namespace bregboost
