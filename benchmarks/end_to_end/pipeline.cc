// What the pipeline costs beside its trainings: calibration and certificate, and a frontier of ten
// bounds against one fit. Fits and frontiers alternate; ratios are medians over the repeats.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/problem/parser.h"
#include "synthetic_data.h"

namespace {

using namespace bregboost;  // NOLINT: a program

struct Settings {
  std::size_t rows = 100'000, repeats = 3;
  int trees = 100, threads = 2;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Library {
  std::string name;
  std::function<AutoFit(const std::vector<Constraint>&, const FitOptions&)> fit;
  std::function<Frontier(const std::vector<Constraint>&, const FrontierOptions&)> sweep;
};

void Measure(const Library& library, const std::string& text, const std::vector<double>& bounds,
             const Settings& settings) {
  const std::vector<Constraint> limits = {ParseConstraint(text)};
  FitOptions certifying;
  certifying.certify = 0.2;
  certifying.validation = Validation::kFolds;
  std::vector<double> calibration, certificate, ratio;
  for (std::size_t repeat = 0; repeat < settings.repeats; ++repeat) {
    const AutoFit certified = library.fit(limits, certifying);
    const FitReport& report = certified.report();
    calibration.push_back(report.unseen.calibration_seconds / report.unseen.training_seconds);
    certificate.push_back(report.certification_seconds / report.unseen.training_seconds);
    FitOptions plain;
    plain.validation = Validation::kFolds;
    const double one = Seconds([&] { library.fit(limits, plain); });
    const double all = Seconds([&] { library.sweep(limits, {.constraint = 0, .bounds = bounds}); });
    ratio.push_back(all / one);
  }
  fmt::print("{:<10} {:<36} {:>12.3f} {:>12.3f} {:>12.2f}\n", library.name, text,
             Median(calibration), Median(certificate), Median(ratio));
  std::fflush(stdout);
}

void Run(const Settings& settings) {
  const benchmarks::SyntheticData data = benchmarks::MakeSyntheticData(settings.rows, 2, 1);
  RowData rows = data.rows;
  // Two groups that a feature gives away.
  std::vector<std::string> group;
  for (std::size_t i = 0; i < settings.rows; ++i) {
    group.emplace_back(data.features[i * benchmarks::kFeatures] > 0.3F ? "a" : "b");
  }
  rows.groups = {EncodeColumn("group", group)};
  const FeatureArray features =
      FeatureArray::RowMajor(data.features, settings.rows, benchmarks::kFeatures);
  const std::string trees = std::to_string(settings.trees);
  const std::string threads = std::to_string(settings.threads);
  const GbmParameters lightgbm = {{"num_iterations", trees}, {"num_threads", threads}};
  const GbmParameters xgboost = {{"num_boost_round", trees}, {"nthread", threads}};
  const auto lightgbm_data = LightGbmDataset::FromArray(features, lightgbm);
  const auto xgboost_data = XgboostDataset::FromArray(features, xgboost);
  const BoostedOptions lightgbm_rounds{.parameters = lightgbm, .rounds_per_step = 2};
  const BoostedOptions xgboost_rounds{.parameters = xgboost, .rounds_per_step = 2};
  FitOptions folds;
  folds.validation = Validation::kFolds;
  const std::vector<Library> libraries = {
      {.name = "LightGBM",
       .fit =
           [&](const std::vector<Constraint>& limits, const FitOptions& options) {
             return AutoFit::LightGbm({.training = {lightgbm_data, rows}}, limits, lightgbm_rounds,
                                      options);
           },
       .sweep =
           [&](const std::vector<Constraint>& limits, const FrontierOptions& sweep) {
             return SweepLightGbm({.training = {lightgbm_data, rows}}, limits, lightgbm_rounds,
                                  folds, sweep);
           }},
      {.name = "XGBoost",
       .fit =
           [&](const std::vector<Constraint>& limits, const FitOptions& options) {
             return AutoFit::Xgboost({.training = {xgboost_data, rows}}, limits, xgboost_rounds,
                                     options);
           },
       .sweep =
           [&](const std::vector<Constraint>& limits, const FrontierOptions& sweep) {
             return SweepXgboost({.training = {xgboost_data, rows}}, limits, xgboost_rounds, folds,
                                 sweep);
           }}};
  std::vector<double> bounds;
  for (int i = 1; i <= 10; ++i) bounds.push_back(0.01 * i);
  fmt::print(
      "{} rows, {} trees, 5 folds, {} threads, medians of {}; times over that of the training, "
      "of ten bounds over that of one fit\n",
      settings.rows, settings.trees, settings.threads, settings.repeats);
  fmt::print("{:<10} {:<36} {:>12} {:>12} {:>12}\n", "library", "limit", "calibration",
             "certificate", "ten bounds");
  for (const Library& library : libraries) {
    Measure(library, "fnr <= 5%", bounds, settings);
    Measure(library, "gap(selection_rate, by=group) <= 5%", bounds, settings);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"What calibration, certificate and frontier cost beside the training", "pipeline"};
  app.add_option("--rows", settings.rows, "number of rows");
  app.add_option("--trees", settings.trees, "boosting rounds");
  app.add_option("--threads", settings.threads, "threads of the libraries");
  app.add_option("--repeats", settings.repeats, "fits and frontiers to take the median of");
  CLI11_PARSE(app, argc, argv);
  try {
    Run(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pipeline: {}\n", error.what());
    return 1;
  }
  return 0;
}
