// LightGBM that may miss at most 10% of the positives among rows that it has not seen, from C++.
#include <fstream>
#include <iostream>
#include <random>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/problem/parser.h"
#include "bregboost/solve/abpp.h"

int main(int argc, char** argv) {
  // 2,000 rows with two features; one row in five is positive.
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  std::vector<std::string> labels;
  for (int i = 0; i < 2000; ++i) {
    const bool fraud = i % 5 == 0;
    values.push_back(normal(random) + (fraud ? 2.0 : 0.0));
    values.push_back(normal(random) + (fraud ? 1.0 : 0.0));
    labels.emplace_back(fraud ? "fraud" : "clean");
  }

  bregboost::RowData rows;
  rows.labels = bregboost::EncodeColumn("label", labels);
  rows.positive_class = 1;  // the levels are sorted: clean, fraud
  const auto features = bregboost::FeatureArray::RowMajor(values, 2000, 2);
  const auto data = bregboost::LightGbmDataset::FromArray(features);

  const bregboost::Objective loss(rows, {});
  const bregboost::SurrogateOptions bound{.kind = bregboost::SurrogateKind::kSigmoid};
  bregboost::RateConstraints limits({bregboost::ParseConstraint("fnr <= 10%")}, rows, bound);
  const auto folds = bregboost::LockstepLearner::LightGbm(
      data, loss, limits,
      {.boosting = {.parameters = {{"num_leaves", "7"}, {"num_iterations", "150"}}},
       .num_folds = 5});
  bregboost::AbppOptions options;
  options.dual_step = 0.05;  // small, since a boosting round is
  options.termination.max_iterations = folds->requested_rounds();
  const bregboost::AbppResult result = bregboost::SolveAbpp(*folds, limits, options);

  for (const bregboost::Measurement& limit : limits.Measure(folds->scores())) {
    std::cout << limit.text << ": measured " << limit.value << " on unseen rows\n";
  }
  std::cout << Name(result.reason) << "; multiplier of the limit " << result.multipliers[0] << '\n';
  std::ofstream(argc > 1 ? argv[1] : "model.txt") << folds->Model();  // plain LightGBM
  return 0;
}
