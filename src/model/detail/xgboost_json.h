// JSON as XGBoost writes it: NaN and infinities are bare words, which JSON does not know.
// XGBoost 2.1 has a NaN at every categorical split.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bregboost::detail {

using Json = nlohmann::json;

// Throws std::invalid_argument that starts with `name` and says at which byte.
Json ParseXgboostJson(std::string_view text, const std::string& name);

std::string XgboostJsonText(const Json& json);

// A float in the fewest digits that give it back, as XGBoost writes it.
Json FloatJson(float value);

}  // namespace bregboost::detail
