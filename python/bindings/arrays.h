// NumPy arrays and the core's vectors.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bregboost::python {

template <class Value>
using Array =
    nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class Value>
std::span<const Value> View(const Array<Value>& array) {
  return {array.data(), array.size()};
}

template <class Value>
std::vector<Value> Copy(const Array<Value>& array) {
  return {array.data(), array.data() + array.size()};
}

// None is an empty vector.
template <class Value>
std::vector<Value> Copy(const std::optional<Array<Value>>& array) {
  return array ? Copy(*array) : std::vector<Value>();
}

// An array of its own; `shape` has as many entries as there are.
template <class Value, std::size_t Dimensions>
nanobind::object ToNumpy(std::span<const Value> values, const std::size_t (&shape)[Dimensions]) {
  auto owned = std::make_unique<Value[]>(std::max<std::size_t>(values.size(), 1));
  std::copy(values.begin(), values.end(), owned.get());
  const nanobind::capsule owner(owned.get(),
                                [](void* data) noexcept { delete[] static_cast<Value*>(data); });
  Value* data = owned.release();
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, Value>(data, Dimensions, shape, owner));
}

template <class Value>
nanobind::object ToNumpy(std::span<const Value> values) {
  const std::size_t shape[] = {values.size()};
  return ToNumpy(values, shape);
}

}  // namespace bregboost::python
