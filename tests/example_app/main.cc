// Reads a constraint, prints it, and reads it again; then trains LightGBM under one. Ends with 1 if
// anything is not as expected.
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"

namespace {

bool RoundTrips(const std::string& text) {
  const bregboost::Constraint constraint = bregboost::ParseConstraint(text);
  const std::string printed = bregboost::ToText(constraint);
  std::cout << text << "  reads as  " << printed << '\n';
  return bregboost::ParseConstraint(printed) == constraint;
}

bool IsRefused(const std::string& text) {
  try {
    bregboost::ParseConstraint(text);
  } catch (const bregboost::ConstraintError& error) {
    std::cout << error.what() << '\n';
    return error.position().has_value();
  }
  return false;
}

// Positives are above 0.6 on a wave that one tree does not follow.
bool TrainsUnderALimit() {
  std::vector<double> values;
  std::vector<std::string> labels;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(i * 0.01);
    labels.emplace_back(std::sin(7.0 * values.back()) > 0.6 ? "yes" : "no");
  }
  bregboost::RowData rows;
  rows.labels = bregboost::EncodeColumn("label", labels);
  const auto data = bregboost::LightGbmDataset::FromArray(
      bregboost::FeatureArray::RowMajor(values, values.size(), 1));
  const bregboost::Objective loss(rows, {});
  bregboost::RateConstraints limits({bregboost::ParseConstraint("fnr <= 20%")}, rows);
  const auto learner = bregboost::BoostedLearner::LightGbm(data, loss, {});
  bregboost::AbppOptions options;
  options.termination.max_iterations = learner->requested_rounds();
  bregboost::SolveAbpp(*learner, limits, options);
  const bregboost::Measurement limit = limits.Measure(learner->scores()).front();
  std::cout << limit.text << "  measured on the training rows  " << limit.value << '\n';
  return limit.satisfied && learner->Model().starts_with("tree\n");
}

}  // namespace

int main() {
  try {
    const bool ok = RoundTrips("fnr <= 5%") && RoundTrips("gap(error, by=sex) <= 0.02") &&
                    IsRefused("fnrr <= 5%") && TrainsUnderALimit();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {  // LightGBM is not to be found, for one
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
