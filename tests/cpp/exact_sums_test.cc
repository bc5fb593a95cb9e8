// Sums of 0-1 events and losses without surrogates, against the whole evaluation and by counting.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "bregboost/problem/rate_constraints.h"
#include "bregboost/problem/rate_problem.h"
#include "problem/detail/event_kernel.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::ParseAll;
using test::RandomScores;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Case {
  RowData rows;
  std::vector<std::string> texts;
  LossOptions loss = {};
};

// Tasks, with and without losses and a baseline, of `n` rows.
std::vector<Case> Cases(std::size_t n) {
  const std::vector<std::string> events = {"error <= 30%", "gap(error, by=race) <= 5%"};
  const std::vector<std::string> churn = {"disagreement(sex=F) <= 20%", "selection_rate <= 40%"};
  const std::vector<std::string> churn_of_a = {"disagreement(sex=F) <= 20%",
                                               "selection_rate(predicted=a) <= 40%"};
  const std::vector<std::string> losses = {"error <= 30%", "loss(sex=F) <= 0.5"};
  std::vector<Case> cases;
  for (const auto& texts : {events, churn, losses}) {
    cases.push_back({.rows = test::BinaryRows(n, n), .texts = texts});
  }
  for (const auto& texts : {events, churn_of_a, losses}) {
    cases.push_back({.rows = test::FourClassRows(n, n), .texts = texts});
  }
  for (const LossKind kind : {LossKind::kSquared, LossKind::kHuber}) {
    cases.push_back({.rows = test::RegressionRows(n, n),
                     .texts = {"loss <= 0.5", "gap(loss, by=sex) <= 0.05"},
                     .loss = {.kind = kind}});
  }
  return cases;
}

void DropWeights(RowData& rows) {
  rows.weights.clear();
  rows.rate_weights.clear();
}

// Enough for several chunks, for less than a block, and for less than a vector.
constexpr std::size_t kSizes[] = {20, 300, 9001};

std::vector<double> OfWholeEvaluation(const RateConstraints& constraints,
                                      const std::vector<double>& scores) {
  const RowData& rows = constraints.rows();
  return detail::MakeEventKernel({.cells = &constraints.compiled().cells,
                                  .slots = constraints.compiled().slots,
                                  .used = constraints.used_slots(),
                                  .row_weights = rows.rate_weights,
                                  .targets = rows.targets,
                                  .num_classes = rows.labels.levels.size(),
                                  .surrogate = constraints.surrogate(),
                                  .loss = constraints.loss()})
      ->Accumulate(scores)
      .exact;
}

// Events bit for bit; losses up to rounding, and both are NaN or neither.
void ExpectSame(const RateConstraints& constraints, const std::vector<double>& scores) {
  const std::vector<double> sums = constraints.ExactSums(scores);
  const std::vector<double> expected = OfWholeEvaluation(constraints, scores);
  ASSERT_EQ(sums.size(), expected.size());
  const std::vector<Slot>& slots = constraints.compiled().slots;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    SCOPED_TRACE(j);
    EXPECT_EQ(std::isnan(sums[j]), std::isnan(expected[j]));
    if (std::isnan(expected[j])) continue;
    if (slots[j % slots.size()].kind == SlotKind::kLoss) {
      EXPECT_NEAR(sums[j], expected[j], 1e-13 * expected[j]);
    } else {
      EXPECT_EQ(sums[j], expected[j]);
    }
  }
}

TEST(ExactSums, AreThoseOfTheWholeEvaluation) {
  for (const std::size_t n : kSizes) {
    for (const bool weighted : {true, false}) {
      for (Case& problem : Cases(n)) {
        if (!weighted) DropWeights(problem.rows);
        for (const SurrogateKind kind : {SurrogateKind::kCrossEntropy, SurrogateKind::kSigmoid,
                                         SurrogateKind::kHingeSquared}) {
          const RateConstraints constraints(ParseAll(problem.texts), problem.rows, {.kind = kind},
                                            problem.loss);
          ExpectSame(constraints, RandomScores(problem.rows, 2.0, n));
        }
      }
    }
  }
}

double LossOf(const Case& problem, const std::vector<double>& scores, std::size_t row) {
  if (problem.rows.task() != Task::kRegression) {
    const auto label = static_cast<std::size_t>(problem.rows.labels.codes[row]);
    return test::CrossEntropyOf(problem.rows, scores, label, row);
  }
  const double residual = std::abs(scores[row] - problem.rows.targets[row]);
  const double delta = problem.loss.huber_delta;
  if (problem.loss.kind == LossKind::kSquared) return residual * residual;
  return residual <= delta ? 0.5 * residual * residual : delta * (residual - 0.5 * delta);
}

std::int32_t PredictedBy(const RowData& rows, const std::vector<double>& scores, std::size_t row) {
  if (rows.task() == Task::kBinary) return scores[row] > 0.0 ? 1 : 0;
  std::int32_t best = 0;
  for (std::size_t k = 1; k < rows.num_scores(); ++k) {
    const auto first = static_cast<std::size_t>(best);
    if (test::ScoreOf(rows, scores, k, row) > test::ScoreOf(rows, scores, first, row)) {
      best = static_cast<std::int32_t>(k);
    }
  }
  return best;
}

TEST(ExactSums, CountWhatHappensInEveryCell) {
  for (const Case& problem : Cases(700)) {
    const RateConstraints constraints(ParseAll(problem.texts), problem.rows, {}, problem.loss);
    std::vector<double> scores = RandomScores(problem.rows, 1.0, 3);
    for (double& score : scores) score = std::round(score);  // ties
    const CompiledConstraints& compiled = constraints.compiled();
    std::vector<double> expected(compiled.num_sums(), 0.0);
    for (std::size_t i = 0; i < problem.rows.num_rows(); ++i) {
      const std::size_t cell = compiled.cells.cell_of_row[i];
      for (std::size_t s = 0; s < compiled.slots.size(); ++s) {
        const bool is_loss = compiled.slots[s].kind == SlotKind::kLoss;
        if (is_loss && !constraints.used_slots()[s]) continue;
        const double event =
            is_loss ? LossOf(problem, scores, i)
                    : static_cast<double>(Happens(compiled.slots[s], compiled.cells.cells[cell],
                                                  PredictedBy(problem.rows, scores, i)));
        expected[cell * compiled.slots.size() + s] += problem.rows.rate_weight(i) * event;
      }
    }
    const std::vector<double> sums = constraints.ExactSums(scores);
    ASSERT_EQ(sums.size(), expected.size());
    for (std::size_t j = 0; j < sums.size(); ++j) EXPECT_NEAR(sums[j], expected[j], 1e-10) << j;
  }
}

// A score that is no number spoils its cell, even without weight, and no other.
TEST(ExactSums, NaNStaysInItsCell) {
  for (const bool weighted : {true, false}) {
    for (Case& problem : Cases(300)) {
      if (!weighted) DropWeights(problem.rows);
      constexpr std::size_t kRow = 123;
      if (weighted) problem.rows.rate_weights[kRow] = 0.0;
      const RateConstraints constraints(ParseAll(problem.texts), problem.rows, {}, problem.loss);
      std::vector<double> scores = RandomScores(problem.rows, 2.0, 5);
      const std::vector<double> before = constraints.ExactSums(scores);
      // The last class, which has the highest code, and the others.
      for (std::size_t k = problem.rows.num_scores(); k-- > 0;) {
        scores[k * problem.rows.num_rows() + kRow] = kNaN;
        ExpectSame(constraints, scores);
        const std::vector<double> sums = constraints.ExactSums(scores);
        const std::size_t slots = constraints.compiled().slots.size();
        const std::size_t cell = constraints.compiled().cells.cell_of_row[kRow];
        for (std::size_t j = 0; j < sums.size(); ++j) {
          const bool unused_loss =
              constraints.compiled().slots[j % slots].kind == SlotKind::kLoss &&
              !constraints.used_slots()[j % slots];
          EXPECT_EQ(std::isnan(sums[j]), j / slots == cell && !unused_loss) << j;
          if (j / slots != cell) {
            EXPECT_EQ(sums[j], before[j]) << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bregboost
