// What the bindings of all fits share: sets of rows, options by name, and who watches.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "arrays.h"
#include "bregboost/learners/linear_model.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/solve/abpp.h"

namespace bregboost::python {

// The choice of that name; the error lists the names there are.
template <class Choice>
Choice Choose(const char* field, std::string_view name, std::initializer_list<Choice> choices) {
  std::string allowed;
  for (const Choice choice : choices) {
    if (Name(choice) == name) return choice;
    allowed += std::string(allowed.empty() ? "" : ", ") + std::string(Name(choice));
  }
  throw std::invalid_argument(std::string(field) + ": '" + std::string(name) +
                              "'; allowed: " + allowed);
}

template <class Features>
FitData<Features> DataOf(const Features& features, const RowData& rows, const Features* evaluation,
                         const RowData* evaluation_rows, const Features* certification,
                         const RowData* certification_rows) {
  FitData<Features> data{.training = {features, rows}};
  if (evaluation != nullptr) {
    data.evaluation.emplace(FitRows<Features>{*evaluation, *evaluation_rows});
  }
  if (certification != nullptr) {
    data.certification.emplace(FitRows<Features>{*certification, *certification_rows});
  }
  return data;
}

// `watch` (None, or a function of a dict) sees every iteration and returns False to stop. Ctrl-C
// stops the training too, which then ends as usual with what it has. The fit runs without the GIL.
SolveHooks HooksOf(const nanobind::object& watch);

// Properties `loss` and `huber_delta` of options that have a LossOptions named loss.
template <class Options>
void BindLoss(nanobind::class_<Options>& options) {
  options
      .def_prop_rw(
          "loss", [](const Options& self) { return Name(self.loss.kind).data(); },
          [](Options& self, const std::string& name) {
            self.loss.kind = Choose(
                "loss", name, {LossKind::kCrossEntropy, LossKind::kSquared, LossKind::kHuber});
          })
      .def_prop_rw(
          "huber_delta", [](const Options& self) { return self.loss.huber_delta; },
          [](Options& self, double delta) { self.loss.huber_delta = delta; });
}

// Properties checkpoint_dir, checkpoint_every, resume and data_digest.
template <class Options>
void BindCheckpoint(nanobind::class_<Options>& options) {
  const auto bind = [&options](const char* name, auto field) {
    using Value = std::decay_t<decltype(CheckpointOptions().*field)>;
    options.def_prop_rw(
        name, [field](const Options& self) { return self.checkpoint.*field; },
        [field](Options& self, const Value& value) { self.checkpoint.*field = value; });
  };
  bind("checkpoint_dir", &CheckpointOptions::directory);
  bind("checkpoint_every", &CheckpointOptions::every);
  bind("resume", &CheckpointOptions::resume);
  bind("data_digest", &CheckpointOptions::data_digest);
}

inline ModelAdjustment AdjustmentOf(double temperature, const std::vector<double>& offsets) {
  return {.temperature = temperature, .offsets = offsets};
}

nanobind::bytes ToBytes(const std::string& text);

// (coefficients, intercept): one row of coefficients per score.
nanobind::tuple ToTuple(const LinearModel& model);

}  // namespace bregboost::python
