#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bregboost/data/column_encoding.h"
#include "data/detail/place.h"
#include "detail/json_depth.h"

namespace bregboost {
namespace {

using nlohmann::json;

constexpr std::int64_t kVersion = 1;

[[noreturn]] void Fail(const std::string& field, const json& value, std::string_view allowed) {
  throw std::invalid_argument(fmt::format(
      "{}: {}; allowed: {}", field,
      detail::Quoted(value.dump(-1, ' ', false, json::error_handler_t::replace)), allowed));
}

const json& Member(const json& object, const std::string& parent, const std::string& name) {
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  throw std::invalid_argument(
      fmt::format("{}{}: not there; allowed: a value", parent.empty() ? "" : parent + ".", name));
}

std::string TextAt(const std::string& field, const json& value) {
  if (!value.is_string()) Fail(field, value, "a text");
  return value.get<std::string>();
}

std::vector<std::string> TextsAt(const std::string& field, const json& value) {
  if (!value.is_array()) Fail(field, value, "a list of texts");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < value.size(); ++i) {
    texts.push_back(TextAt(fmt::format("{}[{}]", field, i), value[i]));
  }
  return texts;
}

std::size_t SizeAt(const std::string& field, const json& value) {
  if (!value.is_number_unsigned()) Fail(field, value, "a whole number from 0");
  return value.get<std::size_t>();
}

ColumnKind KindAt(const std::string& field, const json& value) {
  for (const ColumnKind kind : {ColumnKind::kNumeric, ColumnKind::kCategorical}) {
    if (value.is_string() && value.get<std::string>() == Name(kind)) return kind;
  }
  Fail(field, value, "\"numeric\", \"categorical\"");
}

FeatureEncoding FeatureAt(const std::string& field, const json& value) {
  if (!value.is_object()) Fail(field, value, "an object");
  FeatureEncoding feature;
  feature.name = TextAt(field + ".name", Member(value, field, "name"));
  feature.kind = KindAt(field + ".kind", Member(value, field, "kind"));
  if (feature.kind == ColumnKind::kNumeric) return feature;
  feature.levels = TextsAt(field + ".levels", Member(value, field, "levels"));
  return feature;
}

json Of(const FeatureEncoding& feature) {
  json value = {{"name", feature.name}, {"kind", Name(feature.kind)}};
  if (feature.kind == ColumnKind::kCategorical) value["levels"] = feature.levels;
  return value;
}

}  // namespace

std::string ToJson(const ColumnEncoding& encoding) {
  Validate(encoding);
  json features = json::array();
  for (const FeatureEncoding& feature : encoding.features) features.push_back(Of(feature));
  return json{{"version", kVersion},
              {"features", features},
              {"sparse_columns", encoding.sparse_columns},
              {"label", encoding.label},
              {"classes", encoding.classes},
              {"missing", encoding.missing}}
      .dump();
}

ColumnEncoding ColumnEncodingFromJson(std::string_view text) {
  detail::CheckJsonDepth("columns", text);
  const json object = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    throw std::invalid_argument(
        fmt::format("columns: {}; allowed: a JSON object", detail::Quoted(text)));
  }
  const json& version = Member(object, "", "version");
  if (version != kVersion) Fail("version", version, fmt::format("{}", kVersion));
  const json& features = Member(object, "", "features");
  if (!features.is_array()) Fail("features", features, "a list");
  ColumnEncoding encoding;
  for (std::size_t j = 0; j < features.size(); ++j) {
    encoding.features.push_back(FeatureAt(fmt::format("features[{}]", j), features[j]));
  }
  encoding.sparse_columns = SizeAt("sparse_columns", Member(object, "", "sparse_columns"));
  encoding.label = TextAt("label", Member(object, "", "label"));
  encoding.classes = TextsAt("classes", Member(object, "", "classes"));
  encoding.missing = TextsAt("missing", Member(object, "", "missing"));
  Validate(encoding);
  return encoding;
}

}  // namespace bregboost
