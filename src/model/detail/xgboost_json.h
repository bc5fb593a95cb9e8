// JSON as XGBoost writes it: NaN and infinities are bare words, which JSON does not know.
// XGBoost 2.1 has a NaN at every categorical split.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bregboost::detail {

using Json = nlohmann::json;

// Throws std::invalid_argument that starts with `name` and says at which byte.
Json ParseXgboostJson(std::string_view text, const std::string& name);

std::string XgboostJsonText(const Json& json);

// Where an array stands in a text: from its bracket up to the closing one, and its elements.
struct ArrayPlace {
  std::size_t open = 0, close = 0;
  std::vector<std::string_view> elements;
};
// The array that the keys in `path` lead to, found without reading what is in it. Nothing if it is
// not there, or the text is cut short before it ends.
std::optional<ArrayPlace> FindArray(std::string_view text, std::span<const std::string_view> path);

// A float in the fewest digits that give it back, as XGBoost writes it.
Json FloatJson(float value);

}  // namespace bregboost::detail
