// LightGBM that may miss at most 10% of the positives among rows that it has not seen, certified,
// from C++.
#include <fstream>
#include <iostream>
#include <random>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/parser.h"

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

  // Five boosters, each of which scores the rows that it does not train on; a third of the rows is
  // kept apart for the certificate.
  const bregboost::AutoFit fit = bregboost::AutoFit::LightGbm(
      {.training = {data, rows}}, {bregboost::ParseConstraint("fnr <= 10%")},
      {.parameters = {{"num_leaves", "7"}}, .rounds_per_step = 2}, {.certify = 0.33});

  const bregboost::FitReport& report = fit.report();
  std::cout << "accuracy on unseen rows " << report.unseen.objective << '\n';
  for (const bregboost::ConstraintVerdict& limit : report.certificate.constraints) {
    std::cout << limit.text << ": " << Name(limit.verdict) << ", at most " << limit.confidence_bound
              << " at confidence " << limit.confidence << '\n';
  }
  for (const bregboost::Price& limit : report.unseen.prices) {
    std::cout << "one point more for " << limit.text << " buys " << limit.price
              << " points of accuracy\n";
  }
  std::ofstream(argc > 1 ? argv[1] : "model.txt") << fit.Model();  // plain LightGBM
  return 0;
}
