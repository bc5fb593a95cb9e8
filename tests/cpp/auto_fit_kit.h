// Fits of the pipeline to generated data, with either library.
#pragma once

#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/parser.h"

namespace bregboost::testing {

template <class Kit>
class AutoFitTest : public GbmTest<typename Kit::Api> {
 protected:
  AutoFit Fit(const GeneratedData& data, const std::vector<std::string>& limits,
              const FitOptions& options, int rounds = 40) {
    const auto dataset =
        Kit::Dataset::FromArray(FeatureArray::RowMajor(std::span<const double>(data.features),
                                                       data.rows.num_rows(), data.num_features),
                                Parameters(rounds));
    datasets_.push_back(dataset);
    return FitTo(datasets_.back(), data.rows, limits, options, rounds);
  }

  static AutoFit FitTo(const typename Kit::Dataset& dataset, const RowData& rows,
                       const std::vector<std::string>& limits, const FitOptions& options,
                       int rounds = 40) {
    const BoostedOptions boosting{.parameters = Parameters(rounds), .rounds_per_step = 2};
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return AutoFit::LightGbm({.training = {dataset, rows}}, Parse(limits), boosting, options);
    } else {
      return AutoFit::Xgboost({.training = {dataset, rows}}, Parse(limits), boosting, options);
    }
  }

  static std::vector<Constraint> Parse(const std::vector<std::string>& texts) {
    std::vector<Constraint> constraints;
    for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
    return constraints;
  }

  static GbmParameters Parameters(int rounds) {
    GbmParameters parameters = Kit::Parameters();
    parameters.emplace(Kit::kNumTrees, std::to_string(rounds));
    return parameters;
  }

  // Of the exported model on fresh rows, offsets folded in.
  static std::vector<Measurement> OnFreshRows(const AutoFit& fit, const GeneratedData& fresh,
                                              const std::vector<std::string>& limits) {
    const RateConstraints constraints(Parse(limits), fresh.rows);
    return constraints.Measure(Kit::Predict(fit.Model(), fresh));
  }

  std::deque<typename Kit::Dataset> datasets_;
};

}  // namespace bregboost::testing
