// Times of calibration, and how far the search for offsets of many classes stays above what a grid
// of offsets finds.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/calibrate/temperature.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {
namespace {

constexpr std::size_t kMillion = 1'000'000;

struct Data {
  RowData rows;
  std::vector<double> scores;
};

// Scores of Gaussian classes that overlap, and a group column of 50 levels.
Data MakeData(std::size_t n, std::size_t classes) {
  Data data;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  CategoricalColumn group{.name = "group", .levels = {}, .codes = {}};
  for (int g = 0; g < 50; ++g) group.levels.push_back(std::to_string(g));
  for (std::size_t k = 0; k < classes; ++k) data.rows.labels.levels.push_back(std::to_string(k));
  const std::size_t scores = classes == 2 ? 1 : classes;
  data.scores.resize(n * scores);
  for (std::size_t i = 0; i < n; ++i) {
    // Class k is about half as frequent as class k - 1.
    std::size_t label = 0;
    while (label + 1 < classes && random() % 3 == 0) ++label;
    data.rows.labels.codes.push_back(static_cast<std::int32_t>(label));
    group.codes.push_back(static_cast<std::int32_t>(random() % 50));
    for (std::size_t k = 0; k < scores; ++k) {
      const bool own = scores == 1 ? label == 1 : label == k;
      data.scores[k * n + i] = 2.0 * normal(random) + (own ? 3.0 : 0.0);
    }
  }
  data.rows.groups.push_back(std::move(group));
  return data;
}

const Data& Rows(std::size_t n, std::size_t classes) {
  static std::map<std::pair<std::size_t, std::size_t>, Data> made;
  const std::pair key(n, classes);
  if (!made.contains(key)) made.emplace(key, MakeData(n, classes));
  return made.at(key);
}

RateProblem ProblemOf(const std::vector<std::string>& texts, const RowData& rows) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return {constraints, ParseObjective("accuracy"), rows};
}

const std::vector<std::string> kFiveLimits = {"fnr <= 10%", "fpr <= 30%", "selection_rate <= 40%",
                                              "precision >= 50%", "gap(error, by=group) <= 2%"};

void Temperature(benchmark::State& state) {
  const Data& data = Rows(kMillion, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(FitTemperature(data.scores, data.rows));
}
BENCHMARK(Temperature)->Arg(2)->Arg(7)->Unit(benchmark::kMillisecond)->UseRealTime();

// Temperature, sorting and all thresholds.
void Threshold(benchmark::State& state) {
  const Data& data = Rows(kMillion, 2);
  const auto limits = static_cast<std::ptrdiff_t>(state.range(0));
  const RateProblem problem =
      ProblemOf({kFiveLimits.begin(), kFiveLimits.begin() + limits}, data.rows);
  for (auto _ : state) benchmark::DoNotOptimize(Calibrate(data.scores, problem).merit);
}
BENCHMARK(Threshold)->Arg(1)->Arg(5)->Unit(benchmark::kMillisecond)->UseRealTime();

// Ten bounds on one Calibrator: no sorting.
void Frontier(benchmark::State& state) {
  const Data& data = Rows(kMillion, 2);
  const Calibrator calibrator(data.scores, data.rows);
  std::vector<RateProblem> problems;
  for (int percent = 1; percent <= 10; ++percent) {
    problems.push_back(ProblemOf({fmt::format("fnr <= {}%", percent)}, data.rows));
  }
  for (auto _ : state) {
    for (const RateProblem& problem : problems) {
      benchmark::DoNotOptimize(calibrator.Solve(problem).merit);
    }
  }
}
BENCHMARK(Frontier)->Unit(benchmark::kMillisecond)->UseRealTime();

// A thousand limits over a hundred cells: each on two of the fifty groups, or on all rows.
void ThousandLimits(benchmark::State& state) {
  const Data& data = Rows(kMillion, 2);
  std::vector<std::string> texts;
  for (int j = 0; j < 1000; ++j) {
    const int a = j % 50, b = (a + 1 + j / 50) % 50;
    texts.push_back(fmt::format("error(group={}) - error(group={}) <= 1%", a, b));
  }
  const RateProblem problem = ProblemOf(texts, data.rows);
  for (auto _ : state) benchmark::DoNotOptimize(Calibrate(data.scores, problem).merit);
}
BENCHMARK(ThousandLimits)->Unit(benchmark::kMillisecond)->UseRealTime();

void Offsets(benchmark::State& state) {
  const Data& data =
      Rows(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  const RateProblem problem =
      ProblemOf({"error(class=0) <= 5%", "error(class=1) <= 20%"}, data.rows);
  Calibration found;
  for (auto _ : state) found = Calibrate(data.scores, problem);
  state.counters["merit"] = found.merit;
  state.counters["exact"] = found.exact ? 1.0 : 0.0;
}
BENCHMARK(Offsets)
    ->Args({1'500, 3})
    ->Args({13'000, 7})
    ->Args({kMillion, 3})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();

// The least merit of grids of offsets, each at half the step around the best point of the one
// before, the first around `centre`: 7^4 points in five classes, 3^6 in seven.
double BestOfGrids(const RateProblem& problem, const Data& data, double temperature,
                   std::vector<double> centre, double rho) {
  const std::size_t classes = data.rows.num_scores(), n = data.rows.num_rows();
  const int reach = classes <= 5 ? 3 : 1;
  std::vector<double> adjusted(data.scores.size());
  double best = std::numeric_limits<double>::infinity();
  for (const double step : {0.8, 0.4, 0.2, 0.1, 0.05}) {
    std::vector<int> at(classes, -reach);
    at[0] = 0;  // a constant on all offsets changes nothing
    std::vector<double> best_offsets = centre;
    while (true) {
      std::vector<double> offsets = centre;
      for (std::size_t k = 0; k < classes; ++k) offsets[k] += step * at[k];
      for (std::size_t j = 0; j < adjusted.size(); ++j) {
        adjusted[j] = data.scores[j] / temperature + offsets[j / n];
      }
      const double merit = problem.Merit(problem.rates().ExactSums(adjusted), rho);
      if (merit < best) {
        best = merit;
        best_offsets = offsets;
      }
      std::size_t k = 1;
      while (k < classes && at[k] == reach) at[k++] = -reach;
      if (k == classes) break;
      ++at[k];
    }
    centre = best_offsets;
  }
  return best;
}

// Positive: grids around 0 or around the offsets found have something better.
void GapToGrid(benchmark::State& state) {
  const Data& data = Rows(1000, static_cast<std::size_t>(state.range(0)));
  double worst = -1.0, found_merit = 0.0;
  for (auto _ : state) {
    for (const char* last : {"error(class=2) <= 10%", "gap(error, by=group) <= 40%",
                             "selection_rate(predicted=2) <= 5%"}) {
      const RateProblem problem =
          ProblemOf({"error(class=0) <= 5%", "error(class=1) <= 20%", last}, data.rows);
      const Calibration found = Calibrate(data.scores, problem, {.rho = 5.0, .all_offsets = true});
      found_merit = found.merit;
      const double temperature = found.adjustment.temperature;
      const std::vector<double> zero(data.rows.num_scores(), 0.0);
      for (const std::vector<double>& centre : {zero, found.adjustment.offsets}) {
        worst = std::max(worst, found.merit - BestOfGrids(problem, data, temperature, centre, 5.0));
      }
    }
  }
  state.counters["merit"] = found_merit;
  state.counters["gap"] = worst;
}
BENCHMARK(GapToGrid)->Arg(5)->Arg(7)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace bregboost
