// Claims that are measured as ratios in one run by `make bench`: a round's work on the constraints
// costs the same for 1 and for 10,000 of them, a pass over the rows little more than moving its
// bytes, and 0-1 events alone a fraction of all that an evaluation gives.
#include <benchmark/benchmark.h>

#include <map>
#include <random>
#include <string>

#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::size_t kGroups = 101;  // 101 * 100 ordered pairs: 10,100 gaps

struct Data {
  RowData rows;
  std::vector<double> scores;
};

Data MakeRows(std::size_t n) {
  Data data;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  CategoricalColumn group{.name = "group", .levels = {}, .codes = {}};
  for (std::size_t g = 0; g < kGroups; ++g) group.levels.push_back(std::to_string(g));
  data.rows.labels = {.name = "label", .levels = {"0", "1"}, .codes = {}};
  for (std::size_t i = 0; i < n; ++i) {
    data.rows.labels.codes.push_back(static_cast<std::int32_t>(random() % 2));
    group.codes.push_back(static_cast<std::int32_t>(random() % kGroups));
    data.scores.push_back(2.0 * normal(random));
  }
  data.rows.groups.push_back(std::move(group));
  return data;
}

const Data& Rows(std::int64_t n) {
  static std::map<std::int64_t, Data> made;
  if (!made.contains(n)) made.emplace(n, MakeRows(static_cast<std::size_t>(n)));
  return made.at(n);
}

// One gap between two of the groups, or all 10,100 of them; the cells are the same.
RateConstraints OneGap(const RowData& rows) {
  return {{ParseConstraint("error(group=0) - error(group=1) <= 5%")}, rows};
}
RateConstraints AllGaps(const RowData& rows) {
  return {{ParseConstraint("gap(error, by=group) <= 5%")}, rows};
}

// What one round asks for: exact and surrogate values, then derivatives.
void Round(benchmark::State& state, const RateConstraints& constraints, const Data& data) {
  const std::vector<double> multipliers(constraints.size(), 0.1);
  std::vector<double> gradient(data.scores.size()), hessian(data.scores.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(constraints.Evaluate(data.scores).worst_exact_violation);
    constraints.AddDerivatives(data.scores, multipliers, gradient, hessian);
    benchmark::ClobberMemory();
  }
  state.counters["constraints"] = static_cast<double>(constraints.size());
}

void RoundWithOneConstraint(benchmark::State& state) {
  const Data& data = Rows(state.range(0));
  Round(state, OneGap(data.rows), data);
}
BENCHMARK(RoundWithOneConstraint)->Arg(kMillion)->Unit(benchmark::kMillisecond)->UseRealTime();

void RoundWithManyConstraints(benchmark::State& state) {
  const Data& data = Rows(state.range(0));
  Round(state, AllGaps(data.rows), data);
}
BENCHMARK(RoundWithManyConstraints)->Arg(kMillion)->Unit(benchmark::kMillisecond)->UseRealTime();

// The derivative pass: reads scores and cells, updates gradient and hessian.
void DerivativePass(benchmark::State& state) {
  const Data& data = Rows(state.range(0));
  const RateConstraints constraints = AllGaps(data.rows);
  const std::vector<double> multipliers(constraints.size(), 0.1);
  std::vector<double> gradient(data.scores.size()), hessian(data.scores.size());
  for (auto _ : state) {
    constraints.AddDerivatives(data.scores, multipliers, gradient, hessian);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(DerivativePass)
    ->Arg(kMillion)
    ->Arg(10 * kMillion)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// The same bytes with hardly any arithmetic, on as many threads.
void MoveTheBytes(benchmark::State& state) {
  const Data& data = Rows(state.range(0));
  const std::vector<std::int32_t>& cells = data.rows.groups.front().codes;
  const std::size_t n = data.scores.size();
  std::vector<double> gradient(n), hessian(n);
  for (auto _ : state) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
      gradient[i] += data.scores[i];
      hessian[i] += static_cast<double>(cells[i]);
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MoveTheBytes)
    ->Arg(kMillion)
    ->Arg(10 * kMillion)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

Data MakeClasses(std::size_t n, std::size_t classes) {
  Data data;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  data.rows.labels.name = "label";
  for (std::size_t k = 0; k < classes; ++k) data.rows.labels.levels.push_back(std::to_string(k));
  for (std::size_t i = 0; i < n; ++i) {
    data.rows.labels.codes.push_back(static_cast<std::int32_t>(random() % classes));
  }
  data.scores.resize(n * (classes == 2 ? 1 : classes));
  for (double& score : data.scores) score = 2.0 * normal(random);
  return data;
}

// A limit on one class, or on its loss: few cells, as most users have.
struct ClassLimit {
  ClassLimit(const benchmark::State& state, const char* text)
      : data(MakeClasses(static_cast<std::size_t>(state.range(0)),
                         static_cast<std::size_t>(state.range(1)))),
        constraints({ParseConstraint(text)}, data.rows) {}

  Data data;
  RateConstraints constraints;
};

void EverythingOfScores(benchmark::State& state) {
  const ClassLimit limit(state, "error(class=1) <= 5%");
  for (auto _ : state) {
    benchmark::DoNotOptimize(limit.constraints.Evaluate(limit.data.scores).exact.data());
  }
}

void EventsOfScores(benchmark::State& state) {
  const ClassLimit limit(state, "error(class=1) <= 5%");
  for (auto _ : state) {
    benchmark::DoNotOptimize(limit.constraints.ExactSums(limit.data.scores).data());
  }
}

void EventsAndLossesOfScores(benchmark::State& state) {
  const ClassLimit limit(state, "loss(class=1) <= 0.5");
  for (auto _ : state) {
    benchmark::DoNotOptimize(limit.constraints.ExactSums(limit.data.scores).data());
  }
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({kMillion, 2})->Args({kMillion / 10, 7});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(EverythingOfScores)->Apply(Sizes);
BENCHMARK(EventsOfScores)->Apply(Sizes);
BENCHMARK(EventsAndLossesOfScores)->Apply(Sizes);

}  // namespace
}  // namespace bregboost
