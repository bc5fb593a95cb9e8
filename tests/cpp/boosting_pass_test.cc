// The boosting passes against objective and constraints in double.
#include "learners/detail/boosting_pass.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <span>
#include <stdexcept>
#include <tuple>

#include "boosting_pass_problems.h"

namespace bregboost::test {
namespace {

using detail::BoostingPass;
using detail::Lagrangian;
using detail::Pull;

// ---- derivatives

TEST(BoostingPass, DerivativesAgreeWithDouble) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 513, 7);
    for (const Layout& layout : kLayouts) {
      const auto scores = problem.Scores(2.0, 1, layout);
      const auto center = problem.Scores(2.0, 2, layout);
      const std::vector<Pull> pulls = {{.weight = 0.3, .center = center->view()}, {.weight = 0.2}};
      for (const bool pulled : {false, true}) {
        const Lagrangian lagrangian{.constraints = &problem.constraints,
                                    .multipliers = problem.multipliers,
                                    .objective_weight = 0.8,
                                    .pulls = std::span(pulls).first(pulled ? pulls.size() : 0)};
        ExpectSame(Derive(problem.pass, lagrangian, scores->view()),
                   ReferenceOf(problem.objective, lagrangian, *scores), *scores);
      }
    }
  }
}

TEST(BoostingPass, DerivativesOfTheObjectiveAndPullsAlone) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 700, 8);
    const auto scores = problem.Scores(2.0, 1), center = problem.Scores(2.0, 2);
    const std::vector<Pull> pulls = {{.weight = 0.3, .center = center->view()}};
    const Lagrangian lagrangian{.pulls = pulls};
    ExpectSame(Derive(problem.pass, lagrangian, scores->view()),
               ReferenceOf(problem.objective, lagrangian, *scores), *scores);
  }
}

TEST(BoostingPass, ConfidentRowsKeepTheirDigits) {
  for (const std::size_t num_classes : {2UL, 3UL, 7UL}) {
    const Problem problem({num_classes, Weights::kNone, ObjectiveWeighting::kRows,
                           SurrogateKind::kCrossEntropy, true},
                          2000, 9);
    const Lagrangian lagrangian{.constraints = &problem.constraints,
                                .multipliers = problem.multipliers};
    for (const Layout& layout : {kLightGbm, kXgboost}) {
      const auto scores = problem.Scores(8.0, 3, layout);
      ExpectSame(Derive(problem.pass, lagrangian, scores->view()),
                 // The reference subtracts probabilities from 1.
                 ReferenceOf(problem.objective, lagrangian, *scores), *scores, 1e-5, 1e-15);
    }
  }
}

TEST(BoostingPass, DerivativesAtExtremeScores) {
  for (const std::size_t num_classes : {2UL, 3UL}) {
    const Problem problem({num_classes, Weights::kNone, ObjectiveWeighting::kRows,
                           SurrogateKind::kCrossEntropy, true},
                          1024, 10);
    const std::vector<double> values = ExtremeScores(problem.rows);
    const Lagrangian lagrangian{.constraints = &problem.constraints,
                                .multipliers = problem.multipliers};
    const auto scores = Typed(values, problem.rows.num_rows(), kLightGbm);
    ExpectSame(Derive(problem.pass, lagrangian, scores->view()),
               ReferenceOf(problem.objective, lagrangian, *scores), *scores, 1e-5, 1e-15);
  }
}

TEST(BoostingPass, EverySize) {
  for (const std::size_t n : {1UL, 7UL, 127UL, 128UL, 129UL, 513UL, 2049UL, 5000UL}) {
    SCOPED_TRACE(n);
    for (const std::size_t num_classes : {2UL, 3UL, 7UL}) {
      const RowData rows = PassRows(num_classes, n, Weights::kLoss, n);
      const Objective objective(rows, {});
      const RateConstraints constraints(ParseAll({"error <= 30%", "loss <= 1"}), rows);
      const BoostingPass pass(objective, {});
      const std::vector<double> multipliers = {0.7, 0.4};
      for (const Layout& layout : {kLightGbm, kXgboost}) {
        const auto scores = Typed(RandomScores(rows, 2.0, n), n, layout);
        const auto center = Typed(RandomScores(rows, 2.0, n + 1), n, layout);
        const Pull pull{.weight = 0.5, .center = center->view()};
        const Lagrangian lagrangian{
            .constraints = &constraints, .multipliers = multipliers, .pulls = {&pull, 1}};
        ExpectSame(Derive(pass, lagrangian, scores->view()),
                   ReferenceOf(objective, lagrangian, *scores), *scores);
        const LearnerValues got = pass.Evaluate(constraints, scores->view());
        const std::vector<double> values = scores->ClassMajor();
        EXPECT_NEAR(got.objective, objective.Evaluate(values), 1e-6 * got.objective);
        const ConstraintValues want = constraints.Evaluate(values);
        EXPECT_NEAR(got.constraints.exact[0], want.exact[0], 1e-12);
        EXPECT_NEAR(got.constraints.surrogate[1] + 1.0, want.surrogate[1] + 1.0, 1e-6);
      }
    }
  }
}

TEST(BoostingPass, ManyCells) {
  RowData rows = PassRows(2, 20000, Weights::kNone, 11);
  Random random(12);
  std::vector<std::string> levels;
  for (int level = 0; level < 300; ++level) levels.push_back(std::to_string(level));
  rows.groups.push_back(RandomColumn("place", levels, rows.num_rows(), random));
  const Objective objective(rows, {});
  const RateConstraints constraints(ParseAll({"max(error, by=place) <= 5%", "error <= 10%"}), rows);
  ASSERT_GT(constraints.compiled().cells.cells.size(), 256U);
  const std::vector<double> multipliers = Multipliers(constraints.size(), 13);
  const BoostingPass pass(objective, {});
  const auto scores = Typed(RandomScores(rows, 2.0, 14), rows.num_rows(), kLightGbm);
  const Lagrangian lagrangian{.constraints = &constraints, .multipliers = multipliers};
  ExpectSame(Derive(pass, lagrangian, scores->view()), ReferenceOf(objective, lagrangian, *scores),
             *scores);
  EXPECT_EQ(pass.Evaluate(constraints, scores->view()).constraints.exact,
            constraints.Evaluate(scores->ClassMajor()).exact);
}

// ---- the factor

TEST(BoostingPass, FactorMakesTheMeanRowWeightOne) {
  const RowData rows = PassRows(2, 400, Weights::kLoss, 15);
  const Objective objective(rows, {});
  const BoostingPass pass(objective, {});
  const RateConstraints constraints(ParseAll({"error <= 30%", "error(sex=F) - error(sex=M) <= 5%"}),
                                    rows);
  const auto scores = Typed(RandomScores(rows, 1.0, 1), rows.num_rows(), kLightGbm);
  const auto factor = [&](const std::vector<double>& multipliers) {
    const Lagrangian lagrangian{
        .constraints = &constraints, .multipliers = multipliers, .objective_weight = 0.5};
    return Derive(pass, lagrangian, scores->view()).factor;
  };
  EXPECT_NEAR(factor({0.0, 0.0}), 400.0 / 0.5, 1e-9);
  EXPECT_NEAR(factor({2.0, 0.0}), 400.0 / 2.5, 1e-9);
  EXPECT_NEAR(factor({0.0, 3.0}), 400.0 / 6.5, 1e-9);
  // Nothing but a pull.
  const Pull pull{.weight = 1.0};
  EXPECT_EQ(Derive(pass, {.objective_weight = 0.0, .pulls = {&pull, 1}}, scores->view()).factor,
            400.0);
  double weight = 0.0;
  for (const double w : rows.weights) weight += w;
  EXPECT_NEAR(Derive(pass, {.objective_weight = 0.5}, scores->view()).factor, weight / 0.5, 1e-9);
}

// A row of weight 0 leaves the derivatives of the others as they are without it.
TEST(BoostingPass, MaskedRowsDoNotChangeTheFactor) {
  const std::vector<double> multipliers = {0.7, 1.5};
  for (const std::size_t num_classes : {2UL, 3UL}) {
    RowData rows = PassRows(num_classes, 600, Weights::kBoth, 16);
    std::vector<std::int32_t> counted;
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      if (i % 2 == 0) {
        counted.push_back(static_cast<std::int32_t>(i));
      } else {
        rows.weights[i] = rows.rate_weights[i] = 0.0;
      }
    }
    const RowData half = TakeRows(rows, counted);
    const auto derive = [&](const RowData& of) {
      const Objective objective(of, {});
      const RateConstraints constraints(ParseAll({"error <= 30%", "error(sex=F) <= 5%"}), of);
      const BoostingPass pass(objective, {});
      const Pull pull{.weight = 0.5};
      const TypedScores scores(std::vector<double>(of.num_rows() * of.num_scores(), 0.25),
                               of.num_rows(), kXgboost.doubles, kXgboost.layout);
      return Derive(pass,
                    {.constraints = &constraints, .multipliers = multipliers, .pulls = {&pull, 1}},
                    scores.view());
    };
    const Derivatives all = derive(rows), alone = derive(half);
    EXPECT_NEAR(all.factor, alone.factor, 1e-12 * alone.factor);
    const std::size_t k = half.num_scores();
    for (std::size_t i = 0; i < alone.gradient.size(); ++i) {
      const std::size_t at = 2 * (i / k) * k + i % k;
      ASSERT_NEAR(all.gradient[at], alone.gradient[i], 1e-6F * std::abs(alone.gradient[i]));
      ASSERT_NEAR(all.hessian[at], alone.hessian[i], 1e-6F * alone.hessian[i]);
    }
  }
}

// ---- which way through the rows

TEST(BoostingPass, WhatIsNotFusedIsRightAsWell) {
  const std::vector<SurrogateOptions> surrogates = {
      {.kind = SurrogateKind::kHingeSquared}, {.kind = SurrogateKind::kSigmoid}, {.clip = 1.5}};
  for (const SurrogateOptions& surrogate : surrogates) {
    for (const std::size_t num_classes : {2UL, 4UL}) {
      const RowData rows = PassRows(num_classes, 300, Weights::kBoth, 21);
      const Objective objective(rows, {});
      std::vector<std::string> texts = {"error <= 30%", "loss <= 0.5"};
      if (num_classes > 2) texts.emplace_back("selection_rate(predicted=c2) <= 20%");
      const RateConstraints constraints(ParseAll(texts), rows, surrogate);
      const std::vector<double> multipliers = Multipliers(constraints.size(), 22);
      const BoostingPass pass(objective, {});
      for (const Layout& layout : kLayouts) {
        const auto scores = Typed(RandomScores(rows, 2.0, 23), rows.num_rows(), layout);
        const auto center = Typed(RandomScores(rows, 2.0, 24), rows.num_rows(), layout);
        const Pull pull{.weight = 0.5, .center = center->view()};
        const Lagrangian lagrangian{
            .constraints = &constraints, .multipliers = multipliers, .pulls = {&pull, 1}};
        ExpectSame(Derive(pass, lagrangian, scores->view()),
                   ReferenceOf(objective, lagrangian, *scores), *scores, 1e-6, 0.0);
        const LearnerValues got = pass.Evaluate(constraints, scores->view());
        EXPECT_EQ(got.objective, objective.Evaluate(scores->ClassMajor()));
        EXPECT_EQ(got.constraints.surrogate, constraints.Evaluate(scores->ClassMajor()).surrogate);
      }
    }
  }
}

TEST(BoostingPass, NumericTargets) {
  const RowData rows = RegressionRows(300, 25);
  for (const LossKind kind : {LossKind::kSquared, LossKind::kHuber}) {
    const LossOptions loss{.kind = kind};
    const Objective objective(rows, {.loss = loss});
    const RateConstraints constraints(ParseAll({"gap(loss, by=sex) <= 0.1"}), rows, {}, loss);
    const std::vector<double> multipliers = Multipliers(constraints.size(), 26);
    const BoostingPass pass(objective, {});
    const auto scores = Typed(RandomScores(rows, 1.0, 27), rows.num_rows(), kXgboost);
    const Lagrangian lagrangian{.constraints = &constraints, .multipliers = multipliers};
    const Derivatives derived = Derive(pass, lagrangian, scores->view());
    ExpectSame(derived, ReferenceOf(objective, lagrangian, *scores), *scores, 1e-6, 0.0);
    const double weight = 1.0 + 2.0 * (multipliers[0] - multipliers[1]) *
                                    (multipliers[0] > multipliers[1] ? 1.0 : -1.0);
    const double half = kind == LossKind::kSquared ? 0.5 : 1.0;
    EXPECT_NEAR(derived.factor, half * 300.0 / weight, 1e-9);
    EXPECT_EQ(pass.Evaluate(constraints, scores->view()).objective,
              objective.Evaluate(scores->ClassMajor()));
  }
}

// A set in the place of another one must not be taken for it.
TEST(BoostingPass, KnowsOneSetFromTheNext) {
  const RowData rows = PassRows(2, 1000, Weights::kNone, 28);
  const Objective objective(rows, {});
  const BoostingPass pass(objective, {});
  const auto scores = Typed(RandomScores(rows, 2.0, 29), rows.num_rows(), kLightGbm);
  const std::vector<double> multipliers = {1.5};
  for (const char* text : {"error(sex=F) <= 10%", "error(race=A) <= 10%", "fnr <= 10%",
                           "selection_rate <= 10%", "error(sex=M) <= 10%"}) {
    const RateConstraints constraints(ParseAll({text}), rows);
    EXPECT_EQ(pass.Evaluate(constraints, scores->view()).constraints.exact,
              constraints.Evaluate(scores->ClassMajor()).exact);
    const Lagrangian lagrangian{.constraints = &constraints, .multipliers = multipliers};
    ExpectSame(Derive(pass, lagrangian, scores->view()),
               ReferenceOf(objective, lagrangian, *scores), *scores);
  }
}

// ---- distance, threads, misuse

TEST(BoostingPass, DistanceIsThatOfTheScoreNorm) {
  for (const Weights weights : {Weights::kNone, Weights::kLoss, Weights::kBoth}) {
    for (const std::size_t num_classes : {2UL, 3UL}) {
      const RowData rows = PassRows(num_classes, 1001, weights, 30);
      const Objective objective(rows, {});
      const BoostingPass pass(objective, {});
      for (const Layout& layout : kLayouts) {
        const auto a = Typed(RandomScores(rows, 1.0, 31), rows.num_rows(), layout);
        const auto b = Typed(RandomScores(rows, 1.0, 32), rows.num_rows(), layout);
        const std::vector<double> from = a->ClassMajor(), to = b->ClassMajor();
        double want = 0.0, total = 0.0;
        for (std::size_t i = 0; i < rows.num_rows(); ++i) {
          total += rows.metric_weight(i);
          for (std::size_t at = i; at < from.size(); at += rows.num_rows()) {
            want += rows.metric_weight(i) * (from[at] - to[at]) * (from[at] - to[at]);
          }
        }
        EXPECT_NEAR(pass.Distance(a->view(), b->view()), want / (2.0 * total), 1e-12 * want);
      }
    }
  }
}

TEST(BoostingPass, ThreadsDoNotChangeResults) {
  for (const Case& c : Cases()) {
    const Problem problem(c, 20000, 33);
    const auto scores = problem.Scores(2.0, 8), center = problem.Scores(2.0, 9);
    const Pull pull{.weight = 0.5, .center = center->view()};
    const Lagrangian lagrangian{.constraints = &problem.constraints,
                                .multipliers = problem.multipliers,
                                .pulls = {&pull, 1}};
    const int before = omp_get_max_threads();
    const auto run = [&](int threads) {
      omp_set_num_threads(threads);
      const LearnerValues values = problem.pass.Evaluate(problem.constraints, scores->view());
      const Derivatives derived = Derive(problem.pass, lagrangian, scores->view());
      return std::tuple(values.objective, values.constraints.surrogate, values.constraints.exact,
                        derived.gradient, derived.hessian,
                        problem.pass.Distance(scores->view(), center->view()));
    };
    const auto one = run(1);
    EXPECT_EQ(one, run(3));
    omp_set_num_threads(before);
  }
}

template <class Call>
void ExpectError(const Call& call, const std::string& message) {
  try {
    call();
    FAIL() << "no error; expected: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(BoostingPass, SizesMustFit) {
  const RowData rows = PassRows(2, 10, Weights::kNone, 34);
  const Objective objective(rows, {});
  const RateConstraints constraints(ParseAll({"error <= 30%"}), rows);
  const BoostingPass pass(objective, {});
  const std::vector<double> nine(9), ten(10), multipliers(1);
  std::vector<float> floats(10), few(9);
  const auto good = Typed(ten, 10, kLightGbm), bad = Typed(nine, 9, kLightGbm);
  ExpectError([&] { pass.Evaluate(constraints, bad->view()); },
              "scores: 9 rows of 1; allowed: 10 rows of 1");
  ExpectError([&] { pass.Derive({}, good->view(), few, floats); },
              "gradient: 9 values; allowed: 10, one for each score");
  ExpectError([&] { pass.Derive({}, good->view(), floats, few); },
              "hessian: 9 values; allowed: 10, one for each score");
  ExpectError([&] { pass.Derive({.constraints = &constraints}, good->view(), floats, floats); },
              "multipliers: 0 values; allowed: 1, one for each constraint row");
  const auto other_type = Typed(ten, 10, kXgboost);
  const Pull pull{.weight = 1.0, .center = other_type->view()};
  ExpectError(
      [&] {
        pass.Derive({.pulls = {&pull, 1}}, good->view(), floats, floats);
      },
      "pulls: a center unlike the scores; allowed: their size and type");
  ExpectError([&] { pass.Distance(good->view(), other_type->view()); },
              "scores: unlike each other; allowed: one layout");
}

TEST(BoostingPass, CostsMustFitTheRows) {
  const RowData rows = PassRows(2, 10, Weights::kNone, 34);
  const RowData others = PassRows(2, 9, Weights::kNone, 35);
  const RateConstraints constraints(ParseAll({"error <= 30%"}), others);
  const CellTable& cells = constraints.compiled().cells;
  const std::vector<double> costs(cells.cells.size() * 2, 1.0);
  const std::vector<double> ten(10);
  std::vector<float> floats(10);
  const auto scores = Typed(ten, 10, kLightGbm);
  const auto derive = [&](const RowData& of, const ObjectiveOptions& loss) {
    const Objective objective(of, loss);
    const BoostingPass pass(objective, {});
    pass.Derive({.cells = &cells, .costs = costs}, {}, scores->view(), floats, floats);
  };
  ExpectError([&] { derive(rows, {}); }, "cells: 9 values; allowed: 10, one for each row");
  const RowData numeric = RegressionRows(10, 36);
  ExpectError([&] { derive(numeric, {.loss = {.kind = LossKind::kSquared}}); },
              "costs: on a numeric target; allowed: class labels");
}

}  // namespace
}  // namespace bregboost::test
