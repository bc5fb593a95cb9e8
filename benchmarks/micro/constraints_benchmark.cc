// Two claims, measured as ratios in one run by `make bench`: a round's work on the constraints
// costs the same for 1 and for 10,000 of them, and a pass over the rows little more than moving its
// bytes.
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

}  // namespace
}  // namespace bregboost
