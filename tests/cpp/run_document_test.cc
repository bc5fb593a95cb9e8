// bregboost.json: what is written is read back, and what is wrong is named.
#include "bregboost/report/run_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "error_text.h"

namespace bregboost {
namespace {

using nlohmann::json;

RunDocument Full() {
  return {.title = "Loans </script> \"quoted\"",
          .fit = R"({"constraints":[],"objective":0.9})",
          .unconstrained = R"({"constraints":[],"objective":0.95})",
          .frontier = R"({"points":[]})",
          .data = RunData{.file = "loans.csv",
                          .label = "default",
                          .rows = 1200,
                          .features = {"income", "<b>"},
                          .groups = {"sex"},
                          .weight = "w"},
          .encoding = R"({"income":1})",
          .settings = {.learner = "lightgbm",
                       .parameters = {{"num_leaves", "31"}},
                       .options = R"({"rho":5.0})",
                       .seed = 7},
          .model = DescribeModel("model.txt", "tree"),
          .versions = {{"bregboost", "0.1.0"}, {"lightgbm", "4.7.0"}}};
}

TEST(RunDocument, IsReadBackAsItWasWritten) {
  EXPECT_EQ(ParseRunDocument(ToJson(Full())), Full());
  RunDocument bare{.title = "", .fit = R"({"constraints":[]})"};
  EXPECT_EQ(ParseRunDocument(ToJson(bare)), bare);
}

TEST(RunDocument, HasTheShapeThatItsHeaderShows) {
  const json written = json::parse(ToJson(Full()));
  EXPECT_EQ(written.at("format"), "bregboost run");
  EXPECT_EQ(written.at("version"), 1);
  EXPECT_EQ(written.at("fit").at("objective"), 0.9);
  EXPECT_EQ(written.at("data").at("weight"), "w");
  EXPECT_EQ(written.at("settings").at("options").at("rho"), 5.0);
  const json bare = json::parse(ToJson({.title = "", .fit = R"({"constraints":[]})"}));
  for (const char* part : {"unconstrained", "frontier", "data", "encoding", "model"}) {
    EXPECT_TRUE(bare.at(part).is_null()) << part;
  }
}

TEST(RunDocument, MayLackPartsThatAreNull) {
  json written = json::parse(ToJson(Full()));
  for (const char* part : {"unconstrained", "frontier", "data", "encoding", "model"})
    written.erase(part);
  const RunDocument read = ParseRunDocument(written.dump());
  EXPECT_EQ(read.unconstrained, "");
  EXPECT_FALSE(read.data.has_value());
}

TEST(RunDocument, KnowsItsModelFromADamagedOne) {
  const RunModel model = DescribeModel("model.txt", "123456789");
  EXPECT_EQ(model.crc32, 0xCBF43926);  // the check value of CRC-32
  CheckContents(model, "123456789");
  EXPECT_THROW(CheckContents(model, "12345678"), std::invalid_argument);
  EXPECT_THROW(CheckContents(model, "123456788"), std::invalid_argument);
}

void ExpectRefused(const json& document, const std::string& begin) {
  try {
    ParseRunDocument(document.dump());
    ADD_FAILURE() << "not refused: " << begin;
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.substr(0, begin.size()), begin);
    EXPECT_NE(text.find("; allowed: "), std::string::npos) << text;
  }
}

TEST(RunDocument, NamesTheFieldThatIsWrong) {
  const json good = json::parse(ToJson(Full()));
  const auto with = [&](const char* place, const json& value) {
    json changed = good;
    changed[json::json_pointer(place)] = value;
    return changed;
  };
  ExpectRefused(json::array(), "document: ");
  ExpectRefused(with("/format", "other"), "format: \"other\"");
  ExpectRefused(with("/version", 2), "version: 2");
  ExpectRefused(with("/title", 3), "title: 3");
  ExpectRefused(with("/fit", nullptr), "fit: null");
  ExpectRefused(with("/fit/constraints", 1), "fit.constraints: 1");
  ExpectRefused(with("/frontier/points", "x"), "frontier.points: \"x\"");
  ExpectRefused(with("/unconstrained", "x"), "unconstrained: \"x\"");
  ExpectRefused(with("/data/rows", -1), "data.rows: -1");
  ExpectRefused(with("/data/features", "a"), "data.features: \"a\"; allowed: a list of texts");
  ExpectRefused(with("/data/features", json::array({"a", 1})), "data.features[1]: 1");
  ExpectRefused(with("/encoding", 1), "encoding: 1");
  ExpectRefused(with("/settings/seed", 0.5), "settings.seed: 0.5");
  ExpectRefused(with("/settings/parameters/num_leaves", 31), "settings.parameters.num_leaves: 31");
  ExpectRefused(with("/settings/options", nullptr), "settings.options: null");
  ExpectRefused(with("/versions", json::array()), "versions: []");
  EXPECT_THROW(ParseRunDocument("{"), std::invalid_argument);
}

// Printing a value recurses, so depth is the file's power over the stack.
TEST(RunDocument, IsNotNestedWithoutEnd) {
  const auto nested = [](std::size_t depth) {
    RunDocument document = Full();
    document.settings.options =
        R"({"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
    return document;
  };
  EXPECT_EQ(ParseRunDocument(ToJson(nested(90))), nested(90));
  EXPECT_THROW(ToJson(nested(100)), std::invalid_argument);
  json deep = json::parse(ToJson(Full()));
  deep["title"] = "DEEP";
  std::string text = deep.dump();
  text.replace(text.find("\"DEEP\""), 6, std::string(100'000, '[') + std::string(100'000, ']'));
  EXPECT_THROW(ParseRunDocument(text), std::invalid_argument);
  deep["title"] = "text: " + std::string(200, '[') + "\"{";
  EXPECT_EQ(ParseRunDocument(deep.dump()).title, deep["title"]);
}

TEST(RunDocument, IsNotWrittenWithPartsOfAnotherKind) {
  const auto refusal = [](const RunDocument& document) {
    return testing::ErrorOf([&] { ToJson(document); });
  };
  RunDocument without = Full();
  without.fit = "";
  EXPECT_EQ(refusal(without), "fit: null; allowed: an object");
  const std::vector<std::pair<std::string, std::string& (*)(RunDocument&)>> parts = {
      {"fit", [](RunDocument& document) -> std::string& { return document.fit; }},
      {"unconstrained",
       [](RunDocument& document) -> std::string& { return document.unconstrained; }},
      {"frontier", [](RunDocument& document) -> std::string& { return document.frontier; }},
      {"encoding", [](RunDocument& document) -> std::string& { return document.encoding; }},
      {"settings.options",
       [](RunDocument& document) -> std::string& { return document.settings.options; }}};
  for (const auto& [name, part] : parts) {
    RunDocument document = Full();
    part(document) = "[1]";
    EXPECT_EQ(refusal(document), name + ": [1]; allowed: JSON, an object");
    part(document) = "no JSON";
    EXPECT_EQ(refusal(document), name + ": no JSON; allowed: JSON, an object");
    part(document) = std::string(101, '[');
    EXPECT_EQ(refusal(document), name + ": lists or objects nested 101 deep; allowed: at most 100");
  }
}

// A column name in Latin-1 is no reason to lose the report of a training.
TEST(RunDocument, KeepsWhatItCanOfOtherEncodings) {
  RunDocument document = Full();
  document.data->features = {"\xe9t\xe9"};
  const std::string name = ParseRunDocument(ToJson(document)).data->features[0];
  EXPECT_NE(name.find('t'), std::string::npos);
}

}  // namespace
}  // namespace bregboost
