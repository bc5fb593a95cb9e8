// What a boosting round adds to growing its trees: values and derivatives under constraints, beside
// the gradient that the stock library computes in every round of plain training.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "learners/detail/boosting_pass.h"

namespace bregboost {
namespace {

// Groups: a column of 2 values, a column of 50.
struct Data {
  RowData rows;
  std::vector<double> doubles;  // as LightGBM has them, class-major
  std::vector<float> floats;    // as XGBoost has them, row-major
  std::vector<float> gradient, hessian;

  detail::ScoreView LightGbm() const {
    return {.data = doubles.data(), .num_rows = rows.num_rows(), .num_scores = rows.num_scores()};
  }
  detail::ScoreView Xgboost() const {
    return {.data = floats.data(),
            .num_rows = rows.num_rows(),
            .num_scores = rows.num_scores(),
            .layout = detail::ScoreLayout::kRowMajor};
  }
};

CategoricalColumn Column(std::string name, std::size_t levels, std::size_t n,
                         std::mt19937& random) {
  CategoricalColumn column{.name = std::move(name), .levels = {}, .codes = {}};
  for (std::size_t level = 0; level < levels; ++level) {
    column.levels.push_back(std::to_string(level));
  }
  for (std::size_t i = 0; i < n; ++i) {
    column.codes.push_back(static_cast<std::int32_t>(random() % levels));
  }
  return column;
}

Data MakeData(std::size_t num_classes, std::size_t n) {
  Data data;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  data.rows.labels = Column("label", num_classes, n, random);
  data.rows.groups = {Column("sex", 2, n, random), Column("place", 50, n, random)};
  const std::size_t size = n * data.rows.num_scores();
  data.doubles.resize(size);
  data.floats.resize(size);
  data.gradient.resize(size);
  data.hessian.resize(size);
  for (std::size_t k = 0; k < data.rows.num_scores(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double score = 2.0 * normal(random);
      data.doubles[k * n + i] = score;
      data.floats[i * data.rows.num_scores() + k] = static_cast<float>(score);
    }
  }
  return data;
}

Data& Rows(std::size_t num_classes, std::int64_t n) {
  static std::map<std::pair<std::size_t, std::int64_t>, std::unique_ptr<Data>> made;
  std::unique_ptr<Data>& data = made[{num_classes, n}];
  if (data == nullptr) {
    data = std::make_unique<Data>(MakeData(num_classes, static_cast<std::size_t>(n)));
  }
  return *data;
}

// Arguments: rows, threads.
void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const std::int64_t rows : {100'000, 1'000'000}) {
    for (const std::int64_t threads : {1, 2}) benchmark->Args({rows, threads});
  }
}

enum class Library { kLightGbm, kXgboost };

struct Problem {
  std::size_t num_classes;
  Library library;
  const char* text;
};

detail::ScoreView ScoresOf(const Problem& problem, const Data& data) {
  return problem.library == Library::kLightGbm ? data.LightGbm() : data.Xgboost();
}

void Describe(const RateConstraints& constraints, benchmark::State& state) {
  state.counters["constraints"] = static_cast<double>(constraints.size());
  state.counters["cells"] = static_cast<double>(constraints.compiled().cells.cells.size());
}

void Values(benchmark::State& state, const Problem& problem) {
  const Data& data = Rows(problem.num_classes, state.range(0));
  const Objective objective(data.rows, {});
  const RateConstraints constraints({ParseConstraint(problem.text)}, data.rows);
  const detail::BoostingPass pass(objective, {});
  omp_set_num_threads(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(pass.Evaluate(constraints, ScoresOf(problem, data)).objective);
  }
  Describe(constraints, state);
}

void Derivatives(benchmark::State& state, const Problem& problem) {
  Data& data = Rows(problem.num_classes, state.range(0));
  const Objective objective(data.rows, {});
  const RateConstraints constraints({ParseConstraint(problem.text)}, data.rows);
  std::vector<double> multipliers;
  while (multipliers.size() < constraints.size()) {
    multipliers.push_back(1.0 / static_cast<double>(multipliers.size() + 1));
  }
  const detail::BoostingPass pass(objective, {});
  const detail::Pull pull{.weight = 0.1};
  const detail::Lagrangian lagrangian{
      .constraints = &constraints, .multipliers = multipliers, .pulls = {&pull, 1}};
  omp_set_num_threads(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    pass.Derive(lagrangian, ScoresOf(problem, data), data.gradient, data.hessian);
    benchmark::ClobberMemory();
  }
  Describe(constraints, state);
}

// Plain training: the library's own formulas, which the pass repeats bit for bit.
void PlainGradient(benchmark::State& state, const Problem& problem) {
  Data& data = Rows(problem.num_classes, state.range(0));
  const Objective objective(data.rows, {});
  const detail::BoostingPass pass(objective, {});
  omp_set_num_threads(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    pass.Derive({}, ScoresOf(problem, data), data.gradient, data.hessian);
    benchmark::ClobberMemory();
  }
}

// 4 cells; 100 cells and 2,450 constraints; charges for any miss, not only for that of the label.
constexpr Problem kOneGap = {2, Library::kLightGbm, "error(sex=0) - error(sex=1) <= 5%"};
constexpr Problem kManyGaps = {2, Library::kLightGbm, "gap(error, by=place) <= 5%"};
constexpr Problem kSelection = {2, Library::kLightGbm, "gap(selection_rate, by=sex) <= 5%"};
constexpr Problem kXgboostGap = {2, Library::kXgboost, "error(sex=0) - error(sex=1) <= 5%"};
constexpr Problem kSeven = {7, Library::kLightGbm, "error(sex=0) - error(sex=1) <= 5%"};
constexpr Problem kXgboostSeven = {7, Library::kXgboost, "error(sex=0) - error(sex=1) <= 5%"};

BENCHMARK_CAPTURE(PlainGradient, binary, kOneGap)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, one_gap, kOneGap)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, one_gap, kOneGap)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, many_gaps, kManyGaps)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, many_gaps, kManyGaps)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, selection, kSelection)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, selection, kSelection)->Apply(Sizes);

BENCHMARK_CAPTURE(PlainGradient, xgboost_binary, kXgboostGap)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, xgboost_one_gap, kXgboostGap)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, xgboost_one_gap, kXgboostGap)->Apply(Sizes);

BENCHMARK_CAPTURE(PlainGradient, seven_classes, kSeven)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, seven_classes, kSeven)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, seven_classes, kSeven)->Apply(Sizes);

BENCHMARK_CAPTURE(PlainGradient, xgboost_seven_classes, kXgboostSeven)->Apply(Sizes);
BENCHMARK_CAPTURE(Values, xgboost_seven_classes, kXgboostSeven)->Apply(Sizes);
BENCHMARK_CAPTURE(Derivatives, xgboost_seven_classes, kXgboostSeven)->Apply(Sizes);

}  // namespace
}  // namespace bregboost
