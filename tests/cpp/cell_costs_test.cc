// The cost-sensitive form of the boosting passes against differences of its definition.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "boosting_pass_problems.h"

namespace bregboost::test {
namespace {

using detail::BoostingPass;
using detail::CellCosts;
using detail::Pull;

struct CostProblem {
  CostProblem(std::size_t num_classes, std::size_t n, Weights weights, std::uint64_t seed)
      : rows(PassRows(num_classes, n, weights, seed)),
        objective(rows, {}),
        cells(MakeCells(rows, {"sex", "race"}, /*with_baseline=*/false)),
        pass(objective, {.softmax_hessian_factor = 1.5}) {
    Random random(seed);
    costs = RandomUniform(cells.cells.size() * num_classes, 0.0, 3.0, random);
    costs[1] = 0.0;
  }
  CostProblem(const CostProblem&) = delete;
  CostProblem& operator=(const CostProblem&) = delete;

  std::size_t num_classes() const { return rows.labels.levels.size(); }

  // The part of psi that depends on row i, without pulls.
  double OfRow(const std::vector<double>& scores, std::size_t i) const {
    double total = 0.0, all = 0.0;
    for (std::size_t j = 0; j < rows.num_rows(); ++j) all += rows.rate_weight(j);
    for (std::size_t k = 0; k < num_classes(); ++k) {
      total += costs[cells.cell_of_row[i] * num_classes() + k] * CrossEntropyOf(rows, scores, k, i);
    }
    return rows.rate_weight(i) / all * total;
  }

  RowData rows;
  Objective objective;
  CellTable cells;
  BoostingPass pass;
  std::vector<double> costs;
};

Derivatives DeriveCosts(const CostProblem& problem, std::span<const Pull> pulls,
                        const TypedScores& scores) {
  Derivatives derived(scores.view().size());
  derived.factor = problem.pass.Derive({.cells = &problem.cells, .costs = problem.costs}, pulls,
                                       scores.view(), derived.gradient, derived.hessian);
  return derived;
}

TEST(CellCosts, GradientAgreesWithDifferences) {
  for (const std::size_t num_classes : {2UL, 3UL, 7UL}) {
    for (const std::size_t n : {30UL, 300UL}) {  // in double, fused
      for (const Weights weights : {Weights::kNone, Weights::kLoss, Weights::kBoth}) {
        const CostProblem problem(num_classes, n, weights, n);
        for (const Layout& layout : {kLightGbm, kXgboost}) {
          const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), n, layout);
          const Derivatives derived = DeriveCosts(problem, {}, *scores);
          std::vector<double> values = scores->ClassMajor();
          constexpr double kStep = 1e-4;
          for (std::size_t at = 0; at < values.size(); ++at) {
            const double before = values[at];
            values[at] = before + kStep;
            const double above = problem.OfRow(values, at % n);
            values[at] = before - kStep;
            const double below = problem.OfRow(values, at % n);
            values[at] = before;
            const double slope = derived.factor * (above - below) / (2.0 * kStep);
            EXPECT_NEAR(derived.gradient[scores->IndexOf(at % n, at / n)], slope, 2e-5);
          }
        }
      }
    }
  }
}

TEST(CellCosts, HessianIsTheTotalCostTimesTheBound) {
  for (const std::size_t num_classes : {2UL, 3UL}) {
    for (const std::size_t n : {30UL, 300UL}) {
      const CostProblem problem(num_classes, n, Weights::kBoth, n);
      const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), n, kLightGbm);
      const auto center = Typed(RandomScores(problem.rows, 2.0, 2), n, kLightGbm);
      const std::vector<Pull> pulls = {{.weight = 0.4, .center = center->view()}};
      const Derivatives derived = DeriveCosts(problem, pulls, *scores);
      const std::vector<double> values = scores->ClassMajor();
      double all = 0.0, metric = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        all += problem.rows.rate_weight(i);
        metric += problem.rows.metric_weight(i);
      }
      for (std::size_t i = 0; i < n; ++i) {
        double total = 0.0;
        for (std::size_t k = 0; k < num_classes; ++k) {
          total += problem.costs[problem.cells.cell_of_row[i] * num_classes + k];
        }
        for (std::size_t s = 0; s < problem.rows.num_scores(); ++s) {
          const std::size_t target = num_classes == 2 ? 1 : s;
          const double p = std::exp(-CrossEntropyOf(problem.rows, values, target, i));
          const double bound = (num_classes == 2 ? 1.0 : 1.5) * p * (1.0 - p);
          const double want = problem.rows.rate_weight(i) / all * total * bound +
                              0.4 * problem.rows.metric_weight(i) / metric;
          EXPECT_NEAR(derived.hessian[scores->IndexOf(i, s)], derived.factor * want,
                      1e-5 * derived.factor * want);
        }
      }
    }
  }
}

TEST(CellCosts, PullsComeOnTop) {
  const CostProblem problem(3, 400, Weights::kLoss, 3);
  for (const Layout& layout : {kLightGbm, kXgboost}) {
    const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), 400, layout);
    const auto center = Typed(RandomScores(problem.rows, 2.0, 2), 400, layout);
    const std::vector<Pull> pulls = {{.weight = 0.4, .center = center->view()}};
    const Derivatives plain = DeriveCosts(problem, {}, *scores);
    const Derivatives pulled = DeriveCosts(problem, pulls, *scores);
    EXPECT_EQ(plain.factor, pulled.factor);
    const std::vector<double> from = scores->ClassMajor(), to = center->ClassMajor();
    double metric = 0.0;
    for (std::size_t i = 0; i < 400; ++i) metric += problem.rows.metric_weight(i);
    for (std::size_t at = 0; at < from.size(); ++at) {
      const std::size_t index = scores->IndexOf(at % 400, at / 400);
      const double pull = 0.4 * problem.rows.metric_weight(at % 400) / metric * (from[at] - to[at]);
      EXPECT_NEAR(pulled.gradient[index] - plain.gradient[index], plain.factor * pull, 1e-5);
    }
  }
}

TEST(CellCosts, FactorMakesTheMeanRowWeightOne) {
  const CostProblem problem(3, 500, Weights::kBoth, 4);
  const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), 500, kLightGbm);
  double mean = 0.0, all = 0.0;
  for (std::size_t i = 0; i < 500; ++i) {
    all += problem.rows.rate_weight(i);
    for (std::size_t k = 0; k < 3; ++k) {
      mean += problem.rows.rate_weight(i) * problem.costs[problem.cells.cell_of_row[i] * 3 + k];
    }
  }
  EXPECT_NEAR(DeriveCosts(problem, {}, *scores).factor, 500.0 / (mean / all), 1e-9);
}

// The cells of constraints that the pass knows already are read as bytes.
TEST(CellCosts, OverTheCellsOfConstraints) {
  const CostProblem problem(2, 500, Weights::kNone, 5);
  const RateConstraints constraints(ParseAll({"gap(error, by=(sex, race)) <= 5%"}), problem.rows);
  const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), 500, kLightGbm);
  const CellCosts costs{.cells = &constraints.compiled().cells, .costs = problem.costs};
  Derivatives before(scores->view().size()), after(scores->view().size());
  problem.pass.Derive(costs, {}, scores->view(), before.gradient, before.hessian);
  problem.pass.Evaluate(constraints, scores->view());
  problem.pass.Derive(costs, {}, scores->view(), after.gradient, after.hessian);
  EXPECT_EQ(before.gradient, after.gradient);
  EXPECT_EQ(before.hessian, after.hessian);
}

TEST(CellCosts, MustFitAndNotBeNegative) {
  CostProblem problem(2, 200, Weights::kNone, 6);
  const auto scores = Typed(RandomScores(problem.rows, 2.0, 1), 200, kLightGbm);
  problem.costs[3] = -1.0;
  EXPECT_THROW(DeriveCosts(problem, {}, *scores), std::invalid_argument);
  problem.costs[3] = std::nan("");
  EXPECT_THROW(DeriveCosts(problem, {}, *scores), std::invalid_argument);
  problem.costs.pop_back();
  EXPECT_THROW(DeriveCosts(problem, {}, *scores), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost::test
