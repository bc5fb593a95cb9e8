#include "bregboost/data/row_data.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "bindings.h"

namespace bregboost::python {
namespace {

namespace nb = nanobind;

using Group = std::tuple<std::string, std::vector<std::string>, Array<std::int32_t>>;
using Codes = std::optional<Array<std::int32_t>>;
using Numbers = std::optional<Array<double>>;

RowData MakeRows(const Codes& codes, std::vector<std::string> classes, std::int32_t positive_class,
                 const Numbers& targets, const std::vector<Group>& groups, const Numbers& weights,
                 const Numbers& rate_weights, const Codes& baseline,
                 const std::shared_ptr<Workers>& workers) {
  RowData rows;
  rows.labels = {.name = "class", .levels = std::move(classes), .codes = Copy(codes)};
  rows.positive_class = positive_class;
  rows.targets = Copy(targets);
  for (const auto& [name, levels, group_codes] : groups) {
    rows.groups.push_back({.name = name, .levels = levels, .codes = Copy(group_codes)});
  }
  rows.weights = Copy(weights);
  rows.rate_weights = Copy(rate_weights);
  rows.baseline = Copy(baseline);
  rows.workers = workers;
  AgreeOnLevels(rows);
  Validate(rows);
  return rows;
}

// Pickles hold numbers as bytes: lists of Python numbers would be many times as large.
template <class Value>
nb::bytes Packed(const std::vector<Value>& values) {
  return nb::bytes(values.data(), values.size() * sizeof(Value));
}

template <class Value>
std::vector<Value> Unpacked(const nb::bytes& packed) {
  std::vector<Value> values(packed.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), packed.data(), packed.size());
  return values;
}

using GroupState = std::tuple<std::string, std::vector<std::string>, nb::bytes>;
using State = std::tuple<std::vector<std::string>, nb::bytes, std::int32_t, nb::bytes,
                         std::vector<GroupState>, nb::bytes, nb::bytes, nb::bytes>;

State Save(const RowData& rows) {
  std::vector<GroupState> groups;
  for (const CategoricalColumn& group : rows.groups) {
    groups.emplace_back(group.name, group.levels, Packed(group.codes));
  }
  return {rows.labels.levels,        Packed(rows.labels.codes), rows.positive_class,
          Packed(rows.targets),      std::move(groups),         Packed(rows.weights),
          Packed(rows.rate_weights), Packed(rows.baseline)};
}

void Load(RowData& rows, const State& state) {
  new (&rows) RowData();
  rows.labels = {.name = "class",
                 .levels = std::get<0>(state),
                 .codes = Unpacked<std::int32_t>(std::get<1>(state))};
  rows.positive_class = std::get<2>(state);
  rows.targets = Unpacked<double>(std::get<3>(state));
  for (const auto& [name, levels, codes] : std::get<4>(state)) {
    rows.groups.push_back({.name = name, .levels = levels, .codes = Unpacked<std::int32_t>(codes)});
  }
  rows.weights = Unpacked<double>(std::get<5>(state));
  rows.rate_weights = Unpacked<double>(std::get<6>(state));
  rows.baseline = Unpacked<std::int32_t>(std::get<7>(state));
}

}  // namespace

void BindRowData(nb::module_& module) {
  nb::class_<RowData>(module, "RowData", "Labels or targets, groups and weights of rows.")
      .def(
          "__init__",
          [](RowData* rows, const Codes& codes, std::vector<std::string> classes,
             std::int32_t positive_class, const Numbers& targets, const std::vector<Group>& groups,
             const Numbers& weights, const Numbers& rate_weights, const Codes& baseline,
             const std::shared_ptr<Workers>& workers) {
            new (rows) RowData(MakeRows(codes, std::move(classes), positive_class, targets, groups,
                                        weights, rate_weights, baseline, workers));
          },
          nb::kw_only(), nb::arg("codes") = nb::none(),
          nb::arg("classes") = std::vector<std::string>(), nb::arg("positive_class") = 1,
          nb::arg("targets") = nb::none(), nb::arg("groups") = std::vector<Group>(),
          nb::arg("weights") = nb::none(), nb::arg("rate_weights") = nb::none(),
          nb::arg("baseline") = nb::none(), nb::arg("workers").none() = nb::none())
      .def_prop_ro("num_rows", &RowData::num_rows)
      .def("__getstate__", &Save)
      .def("__setstate__", &Load);
}

}  // namespace bregboost::python
