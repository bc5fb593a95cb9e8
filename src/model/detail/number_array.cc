#include "model/detail/number_array.h"

#include <stdexcept>

#include "model/detail/big_endian.h"
#include "model/detail/xgboost_json.h"

namespace bregboost::detail {
namespace {

const char* BytesOf(const Json::binary_t& typed) {
  return reinterpret_cast<const char*>(typed.data());
}

template <class Number, class Value>
std::vector<Value> Decoded(const Json::binary_t& typed) {
  std::vector<Value> values;
  values.reserve(typed.size() / sizeof(Number));
  for (std::size_t i = 0; i < typed.size(); i += sizeof(Number)) {
    values.push_back(static_cast<Value>(FromBigEndian<Number>(BytesOf(typed) + i)));
  }
  return values;
}

template <class Number>
void Encode(const Json& array, Json::binary_t& typed) {
  typed.resize(array.size() * sizeof(Number));
  for (std::size_t i = 0; i < array.size(); ++i) {
    ToBigEndian(array[i].get<Number>(), reinterpret_cast<char*>(&typed[i * sizeof(Number)]));
  }
}

}  // namespace

bool IsArray(const Json& json) { return json.is_array() || json.is_binary(); }

std::size_t SizeOf(const Json& array) {
  if (!array.is_binary()) return array.size();
  const Json::binary_t& typed = array.get_binary();
  return typed.size() / WidthOf(static_cast<char>(typed.subtype()));
}

std::optional<std::vector<std::int64_t>> IntegersIn(const Json& array) {
  if (array.is_binary()) {
    const Json::binary_t& typed = array.get_binary();
    switch (static_cast<char>(typed.subtype())) {
      case 'i':
        return Decoded<std::int8_t, std::int64_t>(typed);
      case 'U':
        return Decoded<std::uint8_t, std::int64_t>(typed);
      case 'I':
        return Decoded<std::int16_t, std::int64_t>(typed);
      case 'l':
        return Decoded<std::int32_t, std::int64_t>(typed);
      case 'L':
        return Decoded<std::int64_t, std::int64_t>(typed);
      default:
        return std::nullopt;
    }
  }
  std::vector<std::int64_t> integers;
  for (const Json& value : array) {
    if (!value.is_number_integer()) return std::nullopt;
    integers.push_back(value.get<std::int64_t>());
  }
  return integers;
}

std::optional<std::vector<double>> FloatsIn(const Json& array) {
  if (array.is_binary()) {
    const Json::binary_t& typed = array.get_binary();
    if (typed.subtype() != 'd') return std::nullopt;
    return Decoded<float, double>(typed);
  }
  std::vector<double> floats;
  for (const Json& value : array) {
    if (!value.is_number_float()) return std::nullopt;
    floats.push_back(value.get<double>());
  }
  return floats;
}

void SetFloat(Json& array, std::size_t index, float value) {
  if (!array.is_binary()) {
    array[index] = FloatJson(value);
    return;
  }
  ToBigEndian(value, reinterpret_cast<char*>(&array.get_binary()[index * sizeof(float)]));
}

Json Typed(const Json& array, char type) {
  Json::binary_t typed;
  typed.set_subtype(static_cast<std::uint8_t>(type));
  switch (type) {
    case 'U':
      Encode<std::uint8_t>(array, typed);
      break;
    case 'l':
      Encode<std::int32_t>(array, typed);
      break;
    case 'L':
      Encode<std::int64_t>(array, typed);
      break;
    case 'd':
      Encode<float>(array, typed);
      break;
    default:
      throw std::logic_error("arrays of this type are not made here");
  }
  return Json(std::move(typed));
}

}  // namespace bregboost::detail
