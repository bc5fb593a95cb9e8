// UBJSON as XGBoost writes it, in and out of Json.
//
// An array of one type ("[$d#...") becomes binary: its bytes as they are in the file, big-endian,
// with the marker of the type as subtype. Most of a model are such arrays, which are copied rather
// than read number by number (number_array.h looks into them), and which keep their type.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bregboost::detail {

using Json = nlohmann::json;

// By its first two bytes: an object whose first key starts with a length, not with a quote.
bool IsUbjson(std::string_view bytes);

// Throws std::invalid_argument that starts with `name` and the byte, for anything malformed, cut
// short or nested deeper than a model is. Lengths are checked before anything is allocated.
Json ParseUbjson(std::string_view bytes, const std::string& name);

std::string UbjsonBytes(const Json& json);

// Bytes of one number of a typed array; 0 for what is no type of numbers.
std::size_t WidthOf(char marker);

}  // namespace bregboost::detail
