#include "bregboost/data/column_encoding.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bregboost {
namespace {

using Texts = std::vector<std::string>;

ColumnEncoding Sample() {
  ColumnEncoding encoding;
  encoding.features = {{.name = "age"},
                       {.name = "colour \"x\"\n",
                        .kind = ColumnKind::kCategorical,
                        .levels = {"", "gr\xC3\xBCn", "red"}},
                       {.name = "empty", .kind = ColumnKind::kCategorical}};
  encoding.label = "y";
  encoding.classes = {"no", "yes"};
  encoding.missing = {"", "-999"};
  return encoding;
}

void ExpectSame(const ColumnEncoding& a, const ColumnEncoding& b) {
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t j = 0; j < a.features.size(); ++j) {
    EXPECT_EQ(a.features[j].name, b.features[j].name);
    EXPECT_EQ(a.features[j].kind, b.features[j].kind);
    EXPECT_EQ(a.features[j].levels, b.features[j].levels);
  }
  EXPECT_EQ(a.sparse_columns, b.sparse_columns);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.missing, b.missing);
}

TEST(ColumnEncodingJson, ComesBack) {
  ExpectSame(ColumnEncodingFromJson(ToJson(Sample())), Sample());
  ColumnEncoding sparse;
  sparse.sparse_columns = 12;
  ExpectSame(ColumnEncodingFromJson(ToJson(sparse)), sparse);
}

TEST(ColumnEncodingJson, ErrorsNameTheField) {
  using nlohmann::json;
  using Change = void (*)(json&);
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](json& j) { j.erase("version"); }, "version: not there"},
      {[](json& j) { j["version"] = 2; }, "version: '2'; allowed: 1"},
      {[](json& j) { j["version"] = "1"; }, "version: '\"1\"'; allowed: 1"},
      {[](json& j) { j.erase("features"); }, "features: not there"},
      {[](json& j) { j["features"] = 3; }, "features: '3'; allowed: a list"},
      {[](json& j) { j["features"][1] = 3; }, "features[1]: '3'; allowed: an object"},
      {[](json& j) { j["features"][1].erase("name"); }, "features[1].name: not there"},
      {[](json& j) { j["features"][1]["name"] = 3; }, "features[1].name: '3'; allowed: a text"},
      {[](json& j) { j["features"][0]["name"] = ""; }, "features[0].name: empty"},
      {[](json& j) { j["features"][0]["name"] = "empty"; }, "features: 'empty' occurs twice"},
      {[](json& j) { j["features"][0]["kind"] = "text"; },
       "features[0].kind: '\"text\"'; allowed: \"numeric\", \"categorical\""},
      {[](json& j) { j["features"][1].erase("levels"); }, "features[1].levels: not there"},
      {[](json& j) { j["features"][1]["levels"] = "red"; },
       "features[1].levels: '\"red\"'; allowed: a list of texts"},
      {[](json& j) { j["features"][1]["levels"][2] = 1; },
       "features[1].levels[2]: '1'; allowed: a text"},
      {[](json& j) { j["features"][1]["levels"][2] = ""; }, "features[1].levels: '' occurs twice"},
      {[](json& j) { j["features"] = json::array(); }, "features, sparse_columns: 0 and 0"},
      {[](json& j) { j["sparse_columns"] = 4; }, "features, sparse_columns: 3 and 4"},
      {[](json& j) { j["sparse_columns"] = -4; }, "sparse_columns: '-4'; allowed: a whole number"},
      {[](json& j) { j["label"] = nullptr; }, "label: 'null'; allowed: a text"},
      {[](json& j) { j["classes"] = "no"; }, "classes: '\"no\"'; allowed: a list of texts"},
      {[](json& j) { j["classes"][1] = 1; }, "classes[1]: '1'; allowed: a text"},
      {[](json& j) { j["classes"] = {"no"}; }, "classes: 1; allowed"},
      {[](json& j) {
         j["classes"] = {"no", "no"};
       },
       "classes: 'no' occurs twice"},
      {[](json& j) { j["missing"] = 1; }, "missing: '1'; allowed: a list of texts"},
      {[](json& j) { j["missing"][0] = nullptr; }, "missing[0]: 'null'; allowed: a text"},
  };
  for (const auto& [change, expected] : cases) {
    json object = json::parse(ToJson(Sample()));
    change(object);
    try {
      ColumnEncodingFromJson(object.dump());
      ADD_FAILURE() << expected;
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(expected)) << error.what();
    }
  }
  for (const char* text : {"", "[]", "3", "{", "{\"version\": 1"}) {
    EXPECT_THROW(ColumnEncodingFromJson(text), std::invalid_argument) << text;
  }
}

TEST(Validate, RefusesLevelsOfNumbersAndTooManyColumns) {
  ColumnEncoding encoding = Sample();
  encoding.features[0].levels = {"1"};
  EXPECT_THROW(Validate(encoding), std::invalid_argument);
  encoding = {};
  encoding.sparse_columns = std::size_t{kMaxLibsvmIndex} + 2;
  EXPECT_THROW(Validate(encoding), std::invalid_argument);
}

TEST(MakeEncoding, FeaturesAreTheOtherColumns) {
  TextView source("y,x,sex,w,c\nb,1,F,1,p\na,2,M,1,q\n");
  RowColumns columns{.label = "y", .weight = "w", .groups = {"sex"}};
  const Table table = ReadTable(source, WithRowColumns({}, columns));
  const ColumnEncoding encoding = MakeEncoding(table, columns, {"-"});
  ASSERT_EQ(encoding.features.size(), 2U);
  EXPECT_EQ(encoding.features[0].name, "x");
  EXPECT_EQ(encoding.features[0].kind, ColumnKind::kNumeric);
  EXPECT_EQ(encoding.features[1].name, "c");
  EXPECT_EQ(encoding.features[1].levels, (Texts{"p", "q"}));
  EXPECT_EQ(encoding.label, "y");
  EXPECT_EQ(encoding.classes, (Texts{"a", "b"}));
  EXPECT_EQ(encoding.missing, (Texts{"-"}));

  columns.group_features = true;
  EXPECT_EQ(MakeEncoding(table, columns).features.size(), 3U);
  columns.groups = {"sex", "x", "c"};
  columns.group_features = false;
  EXPECT_THROW(MakeEncoding(table, columns), std::invalid_argument);
}

TEST(MakeEncoding, OfSparseTables) {
  TextView source("1 3:1\n0 7:1\n");
  const ColumnEncoding encoding = MakeEncoding(ReadLibsvm(source));
  EXPECT_EQ(encoding.sparse_columns, 8U);
  EXPECT_EQ(encoding.classes, (Texts{"0", "1"}));
  const LibsvmOptions options = LibsvmReadingOptions(encoding);
  EXPECT_EQ(options.num_columns, 8U);
  EXPECT_EQ(options.label, ColumnKind::kCategorical);
  TextView without_entries("1\n0\n");
  EXPECT_THROW(MakeEncoding(ReadLibsvm(without_entries)), std::invalid_argument);
}

TEST(ReadingOptions, ReadsColumnsAsTheModelHasThem) {
  ColumnEncoding encoding = Sample();
  encoding.features[1].name = "colour";
  encoding.missing = {"-999"};
  const TableOptions options = ReadingOptions(encoding, {.weight = "w", .groups = {"sex"}});
  TextView source("junk,sex,w,colour,empty,age\nx,1,2,7,8,-999\n", "new.csv");
  const Table table = ReadTable(source, options);
  ASSERT_EQ(table.columns.size(), 5U);
  EXPECT_EQ(ColumnOf(table, "sex").kind, ColumnKind::kCategorical);
  EXPECT_EQ(ColumnOf(table, "w").kind, ColumnKind::kNumeric);
  EXPECT_EQ(ColumnOf(table, "colour").levels, (Texts{"7"}));
  EXPECT_EQ(ColumnOf(table, "age").first_missing_line, 2U);
}

}  // namespace
}  // namespace bregboost
