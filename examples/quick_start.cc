// Logistic regression that may miss at most 40% of the positives, from C++.
#include <iostream>
#include <random>

#include "bregboost/learners/linear.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"

int main() {
  // 1,000 rows with two features; one row in five is positive.
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  std::vector<std::string> labels;
  for (int i = 0; i < 1000; ++i) {
    const bool fraud = i % 5 == 0;
    values.push_back(normal(random) + (fraud ? 1.5 : 0.0));
    values.push_back(normal(random));
    labels.emplace_back(fraud ? "fraud" : "clean");
  }

  bregboost::RowData rows;
  rows.labels = bregboost::EncodeColumn("label", labels);
  rows.positive_class = 1;  // the levels are sorted: clean, fraud
  const auto features = bregboost::FeatureMatrix::DenseRowMajor(values, 1000, 2);

  const bregboost::Objective loss(rows, {});
  const bregboost::SurrogateOptions bound{.kind = bregboost::SurrogateKind::kLogisticBase2};
  bregboost::RateConstraints limits({bregboost::ParseConstraint("fnr <= 40%")}, rows, bound);
  bregboost::LinearLearner model(features, loss, {.l2 = 1e-3});
  const bregboost::AbppResult result = bregboost::SolveAbpp(model, limits, {});

  for (const bregboost::Measurement& limit : limits.Measure(model.scores())) {
    std::cout << limit.text << ": measured " << limit.value << '\n';
  }
  std::cout << Name(result.reason) << " after " << result.stats.k
            << " iterations; price of the limit " << result.multipliers[0] << '\n';
  return result.reason == bregboost::TerminationReason::kConverged ? 0 : 1;
}
