// Rows in several parts against the same rows in one.
#include <gtest/gtest.h>

#include <atomic>

#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_problem.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/step_measure.h"
#include "random_problems.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using test::OnWorkers;
using test::RowsOfWorker;
using test::ThreadWorker;

const std::vector<std::string> kLimits = {"error(class=a) <= 10%", "gap(error, by=race) <= 5%",
                                          "ratio(selection_rate(predicted=b), by=sex) >= 80%",
                                          "disagreement <= 20%", "loss(sex=F) <= 0.5"};

// A worker's rows, and what is there for each of their scores.
struct Part {
  Part(const RowData& all, const std::shared_ptr<ThreadWorker>& worker)
      : places(RowsOfWorker(all.num_rows(), *worker)), rows(TakeRows(all, places)) {
    rows.workers = worker;
  }
  // Class-major in both.
  std::vector<double> Of(const RowData& all, std::span<const double> values) const {
    std::vector<double> taken;
    for (std::size_t k = 0; k < all.num_scores(); ++k) {
      for (const std::int32_t i : places) {
        taken.push_back(values[k * all.num_rows() + static_cast<std::size_t>(i)]);
      }
    }
    return taken;
  }

  std::vector<std::int32_t> places;
  RowData rows;
};

void ExpectNear(std::span<const double> a, std::span<const double> b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j)
    EXPECT_NEAR(a[j], b[j], 1e-12 * (1.0 + std::abs(b[j])));
}

TEST(Workers, ProblemsAreThoseOfAllRows) {
  for (const std::size_t workers : {1UL, 2UL, 5UL}) {
    const RowData all = test::FourClassRows(400, 3);
    const std::vector<double> scores = test::RandomScores(all, 1.5, 4);
    const RateProblem whole(test::ParseAll(kLimits), ParseObjective("error"), all);
    const Objective loss(all, {});
    const std::vector<double> multipliers(whole.rates().size(), 0.3);
    std::vector<double> gradient(scores.size(), 0.0), hessian(scores.size(), 0.0);
    loss.AddDerivatives(scores, 0.7, gradient, hessian);
    const double lagrangian = whole.rates().AddLagrangian(scores, multipliers, gradient, hessian);
    const ConstraintValues values = whole.rates().Evaluate(scores);

    OnWorkers(workers, [&](const std::shared_ptr<ThreadWorker>& worker) {
      const Part part(all, worker);
      const std::vector<double> mine = part.Of(all, scores);
      const RateProblem problem(test::ParseAll(kLimits), ParseObjective("error"), part.rows);
      const std::vector<Cell>& cells = problem.compiled().cells.cells;
      ASSERT_EQ(cells.size(), whole.compiled().cells.cells.size());
      for (std::size_t c = 0; c < cells.size(); ++c) {
        EXPECT_EQ(cells[c].groups, whole.compiled().cells.cells[c].groups);
        EXPECT_EQ(cells[c].rows, whole.compiled().cells.cells[c].rows);
        EXPECT_NEAR(cells[c].rate_weight, whole.compiled().cells.cells[c].rate_weight, 1e-10);
      }
      EXPECT_NEAR(problem.rates().LipschitzBound(), whole.rates().LipschitzBound(), 1e-10);
      ExpectNear(problem.rates().ExactSums(mine), whole.rates().ExactSums(scores));
      const ConstraintValues its = problem.rates().Evaluate(mine);
      ExpectNear(its.surrogate, values.surrogate);
      ExpectNear(its.exact, values.exact);
      ExpectNear(problem.CostTable(std::vector<double>(problem.num_limits(), 0.2)),
                 whole.CostTable(std::vector<double>(whole.num_limits(), 0.2)));

      const Objective its_loss(part.rows, {});
      EXPECT_NEAR(its_loss.Evaluate(mine), loss.Evaluate(scores), 1e-12);
      std::vector<double> slope(mine.size(), 0.0), bend(mine.size(), 0.0);
      its_loss.AddDerivatives(mine, 0.7, slope, bend);
      EXPECT_NEAR(problem.rates().AddLagrangian(mine, multipliers, slope, bend), lagrangian, 1e-12);
      ExpectNear(slope, part.Of(all, gradient));
      ExpectNear(bend, part.Of(all, hessian));
    });
  }
}

// Of floats and doubles, fused and not: few rows go the other way.
TEST(Workers, BoostingPassesAreThoseOfAllRows) {
  for (const std::size_t rows : {300UL, 3000UL}) {
    for (const bool binary : {true, false}) {
      RowData all = binary ? test::ClassRows({"a", "b"}, rows, 5) : test::FourClassRows(rows, 5);
      if (binary) all.weights = all.rate_weights = {};
      const std::vector<double> scores = test::RandomScores(all, 1.5, 6);
      const std::vector<Constraint> limits =
          test::ParseAll({"error(class=a) <= 10%", "gap(error, by=race) <= 5%"});
      const auto view = [](const std::vector<double>& of, const RowData& its) {
        return detail::ScoreView{.data = of.data(),
                                 .num_rows = its.num_rows(),
                                 .num_scores = its.num_scores(),
                                 .layout = detail::ScoreLayout::kClassMajor};
      };
      const auto derive = [&](const detail::BoostingPass& pass, const RateConstraints& constraints,
                              const detail::ScoreView& at, std::vector<float>& hessian) {
        const std::vector<double> multipliers(constraints.size(), 0.4);
        std::vector<float> gradient(at.size());
        hessian.resize(at.size());
        const double factor =
            pass.Derive({.constraints = &constraints, .multipliers = multipliers, .pulls = {}}, at,
                        gradient, hessian);
        std::vector<double> result(gradient.begin(), gradient.end());
        for (double& slope : result) slope /= factor;
        return result;
      };
      const Objective loss(all, {});
      const RateConstraints whole(limits, all);
      const detail::BoostingPass pass(loss, {});
      const LearnerValues values = pass.Evaluate(whole, view(scores, all));
      std::vector<float> hessian;
      const std::vector<double> gradient = derive(pass, whole, view(scores, all), hessian);
      const std::vector<double> before(scores.size(), 0.1);
      const detail::StepMeasure step = detail::MeasureStep(
          detail::ScoreMetric(all), view(before, all), view(scores, all), hessian);

      OnWorkers(3, [&](const std::shared_ptr<ThreadWorker>& worker) {
        const Part part(all, worker);
        const std::vector<double> mine = part.Of(all, scores), start = part.Of(all, before);
        const Objective its_loss(part.rows, {});
        const RateConstraints constraints(limits, part.rows);
        const detail::BoostingPass its_pass(its_loss, {});
        const std::size_t messages = worker->messages();
        const LearnerValues its = its_pass.Evaluate(constraints, view(mine, part.rows));
        EXPECT_LE(worker->messages() - messages, 2);
        EXPECT_NEAR(its.objective, values.objective, 1e-6);
        for (std::size_t j = 0; j < constraints.size(); ++j) {
          EXPECT_NEAR(its.constraints.exact[j], values.constraints.exact[j], 1e-12);
          EXPECT_NEAR(its.constraints.surrogate[j], values.constraints.surrogate[j], 1e-6);
        }
        std::vector<float> its_hessian;
        const auto slopes = derive(its_pass, constraints, view(mine, part.rows), its_hessian);
        const std::vector<double> expected = part.Of(all, gradient);
        for (std::size_t j = 0; j < slopes.size(); ++j) {
          EXPECT_NEAR(slopes[j], expected[j], 1e-6 * std::abs(expected[j]) + 1e-12);
        }
        const detail::ScoreMetric metric(part.rows);
        const detail::StepMeasure its_step =
            detail::MeasureStep(metric, view(start, part.rows), view(mine, part.rows), its_hessian);
        EXPECT_NEAR(its_step.distance, step.distance, 1e-10 * step.distance);
        EXPECT_NEAR(its_step.curved_length, step.curved_length, 1e-6 * step.curved_length);
      });
    }
  }
}

TEST(Workers, LevelsAndCellsOfAnyWorkerAreKnownToAll) {
  OnWorkers(2, [](const std::shared_ptr<ThreadWorker>& worker) {
    const bool first = worker->rank() == 0;
    RowData rows;
    rows.labels = first ? EncodeColumn("y", {"10", "2", "2"}) : EncodeColumn("y", {"9", "10"});
    rows.groups = {first ? EncodeColumn("city", {"b", "b", "a"})
                         : EncodeColumn("city", {"c", "b"})};
    rows.baseline = first ? std::vector<std::int32_t>{0, 1, 1} : std::vector<std::int32_t>{0, 1};
    rows.workers = worker;
    AgreeOnLevels(rows);
    EXPECT_EQ(rows.labels.levels, (std::vector<std::string>{"2", "9", "10"}));
    EXPECT_EQ(rows.groups[0].levels, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(rows.labels.codes,
              first ? (std::vector<std::int32_t>{2, 0, 0}) : (std::vector<std::int32_t>{1, 2}));
    EXPECT_EQ(rows.baseline,
              first ? (std::vector<std::int32_t>{0, 2, 2}) : (std::vector<std::int32_t>{1, 2}));

    const CellTable table = MakeCells(rows, {"city"}, /*with_baseline=*/false);
    std::vector<std::vector<std::int32_t>> tuples;
    for (const Cell& cell : table.cells) tuples.push_back({cell.label, cell.groups[0]});
    EXPECT_EQ(tuples, (std::vector<std::vector<std::int32_t>>{{0, 0}, {0, 1}, {1, 2}, {2, 1}}));
    EXPECT_EQ(table.cells.back().rows, 2);  // one on each
    EXPECT_EQ(table.cell_of_row,
              first ? (std::vector<std::uint32_t>{3, 1, 0}) : (std::vector<std::uint32_t>{2, 3}));
  });
}

TEST(Workers, OtherColumnsAreAnError) {
  try {
    OnWorkers(2, [](const std::shared_ptr<ThreadWorker>& worker) {
      RowData rows;
      rows.labels = EncodeColumn("y", {"0", "1"});
      rows.groups = {EncodeColumn(worker->rank() == 0 ? "sex" : "race", {"a", "b"})};
      rows.workers = worker;
      AgreeOnLevels(rows);
    });
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "groups: worker 1 has 'race' where worker 0 has 'sex'; allowed: the same columns on "
        "all workers");
  }
}

}  // namespace
}  // namespace bregboost
