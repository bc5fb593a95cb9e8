// The two claims of docs/benchmarks.md: a pass over the rows costs the same for 1 and for 10,000
// constraints, and little more than moving its bytes. Ratios come from `make bench`, which runs the
// variants interleaved and prints medians.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>

#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {
namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr std::size_t kGroups = 101;  // 101 * 100 ordered pairs: 10,100 gaps

struct Data {
  RowData rows;
  std::vector<double> scores;
};

const Data& Rows() {
  static const Data data = [] {
    Data made;
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::vector<std::string> groups;
    CategoricalColumn group{.name = "group", .levels = {}, .codes = {}};
    for (std::size_t g = 0; g < kGroups; ++g) group.levels.push_back(std::to_string(g));
    made.rows.labels = {.name = "label", .levels = {"0", "1"}, .codes = {}};
    for (std::size_t i = 0; i < kRows; ++i) {
      made.rows.labels.codes.push_back(static_cast<std::int32_t>(random() % 2));
      group.codes.push_back(static_cast<std::int32_t>(random() % kGroups));
      made.scores.push_back(2.0 * normal(random));
    }
    made.rows.groups.push_back(std::move(group));
    return made;
  }();
  return data;
}

// `count` gaps between pairs of the same 101 groups; 0 asks for all 10,100 through by=group.
RateConstraints Constraints(std::int64_t count) {
  std::vector<Constraint> constraints;
  if (count == 1) {
    constraints.push_back(ParseConstraint("error(group=0) - error(group=1) <= 5%"));
  } else {
    constraints.push_back(ParseConstraint("gap(error, by=group) <= 5%"));
  }
  return {constraints, Rows().rows};
}

// What one round asks of the constraints: exact and surrogate values, then derivatives.
void EvaluateAndDerive(benchmark::State& state) {
  const RateConstraints constraints = Constraints(state.range(0));
  const std::vector<double> multipliers(constraints.size(), 0.1);
  std::vector<double> gradient(kRows), hessian(kRows);
  for (auto _ : state) {
    benchmark::DoNotOptimize(constraints.Evaluate(Rows().scores).worst_exact_violation);
    constraints.AddDerivatives(Rows().scores, multipliers, gradient, hessian);
    benchmark::ClobberMemory();
  }
  state.counters["constraints"] = static_cast<double>(constraints.size());
}
BENCHMARK(EvaluateAndDerive)->Arg(1)->Arg(10'000)->Unit(benchmark::kMillisecond)->UseRealTime();

// The derivative pass: reads scores and cells, updates gradient and hessian.
void DerivativePass(benchmark::State& state) {
  const RateConstraints constraints = Constraints(10'000);
  const std::vector<double> multipliers(constraints.size(), 0.1);
  std::vector<double> gradient(kRows), hessian(kRows);
  for (auto _ : state) {
    constraints.AddDerivatives(Rows().scores, multipliers, gradient, hessian);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(DerivativePass)->Unit(benchmark::kMillisecond)->UseRealTime();

// The value pass: reads scores and cells, writes next to nothing.
void ValuePass(benchmark::State& state) {
  const RateConstraints constraints = Constraints(10'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(constraints.Evaluate(Rows().scores).worst_exact_violation);
  }
}
BENCHMARK(ValuePass)->Unit(benchmark::kMillisecond)->UseRealTime();

// The same bytes as the derivative pass with hardly any arithmetic, on as many threads.
void MoveTheBytes(benchmark::State& state) {
  const std::vector<double>& scores = Rows().scores;
  const std::vector<std::int32_t>& cells = Rows().rows.groups.front().codes;
  std::vector<double> gradient(kRows), hessian(kRows);
  for (auto _ : state) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < kRows; ++i) {
      gradient[i] += scores[i];
      hessian[i] += static_cast<double>(cells[i]);
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MoveTheBytes)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace bregboost
