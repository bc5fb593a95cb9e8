// Arrays as XGBoost takes them: the JSON of NumPy's array interface, which copies nothing.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bregboost::detail {

template <class T>
constexpr std::string_view ArrayTypeName() {
  static_assert(std::endian::native == std::endian::little);
  if constexpr (std::same_as<T, float>) return "<f4";
  if constexpr (std::same_as<T, double>) return "<f8";
  if constexpr (std::same_as<T, std::int32_t>) return "<i4";
  if constexpr (std::same_as<T, std::int64_t>) return "<i8";
}

template <class T>
std::string ArrayInterface(const T* data, std::size_t size) {
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"{}","version":3}})",
                     reinterpret_cast<std::uintptr_t>(data), size, ArrayTypeName<T>());
}

// Strides count elements.
template <class T>
std::string ArrayInterface(const T* data, std::size_t rows, std::size_t columns,
                           std::size_t row_stride, std::size_t column_stride) {
  return fmt::format(
      R"({{"data":[{},true],"shape":[{},{}],"strides":[{},{}],"typestr":"{}","version":3}})",
      reinterpret_cast<std::uintptr_t>(data), rows, columns, row_stride * sizeof(T),
      column_stride * sizeof(T), ArrayTypeName<T>());
}

}  // namespace bregboost::detail
