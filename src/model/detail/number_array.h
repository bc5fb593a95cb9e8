// Arrays of numbers in a model, whatever it was read from: Json arrays of a text, typed arrays of
// UBJSON (ubjson.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/detail/ubjson.h"

namespace bregboost::detail {

bool IsArray(const Json& json);
std::size_t SizeOf(const Json& array);

// None if anything else is in the array: a text for a number, a float for a whole number, or a
// whole number for a float, which XGBoost refuses.
std::optional<std::vector<std::int64_t>> IntegersIn(const Json& array);
std::optional<std::vector<double>> FloatsIn(const Json& array);

// `array` is one of floats.
void SetFloat(Json& array, std::size_t index, float value);

// A Json array of numbers as a typed array. `type` is a marker of ubjson.h.
Json Typed(const Json& array, char type);

}  // namespace bregboost::detail
