#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bregboost/calibrate/diagnosis.h"
#include "calibrate_problems.h"

namespace bregboost {
namespace {

using test::Random;
using test::ScoredRows;

const std::vector<std::string> kTemplates = {
    "fnr <= {}",
    "fpr <= {}",
    "precision >= {}",
    "gap(error, by=sex) <= {}",
    "selection_rate >= {}",
    "ratio(selection_rate, by=sex) >= {}",
    "max(fpr, by=race) <= {}",
};

double ExcessOf(const Constraint& constraint, const Measurement& measured) {
  return constraint.relation == Relation::kAtMost ? measured.value - constraint.bound
                                                  : constraint.bound - measured.value;
}

// Everything that the report claims of two classes, by trying all thresholds.
void CompareWithEveryThreshold(std::uint64_t seed) {
  Random random(seed);
  const ScoredRows data =
      test::RandomScoredRows({"no", "yes"}, 20 + random() % 20, true, random() % 2 == 0, seed);
  const auto problem = test::TryProblem(test::RandomTexts(kTemplates, random), "error", data.rows);
  if (!problem) return;
  std::vector<double> sorted = data.scores;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> thresholds = {sorted.front() - 1.0, sorted.back() + 1.0};
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] > sorted[i - 1]) thresholds.push_back(0.5 * (sorted[i] + sorted[i - 1]));
  }
  const std::size_t m = problem->num_constraints();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> best(m, kInfinity), cost(m, kInfinity);
  double relaxation = kInfinity, relaxed_cost = kInfinity;
  for (const double threshold : thresholds) {
    const auto predicted = test::Predictions(data.rows, data.scores, 1.0, {-threshold});
    const auto sums = test::SumsOfPredictions(*problem, data.scores, predicted);
    const std::vector<Measurement> measured = problem->Measure(sums);
    double worst = -kInfinity;
    for (std::size_t c = 0; c < m; ++c) {
      const double excess = ExcessOf(problem->constraints()[c], measured[c]);
      worst = std::isnan(excess) ? kInfinity : std::max(worst, excess);
      if (std::isnan(excess)) break;
    }
    for (std::size_t c = 0; c < m; ++c) {
      const double excess = ExcessOf(problem->constraints()[c], measured[c]);
      if (excess < best[c] - 1e-11) cost[c] = kInfinity;
      if (excess < best[c] + 1e-11) {
        best[c] = std::min(best[c], excess);
        cost[c] = std::min(cost[c], problem->Cost(sums));
      }
    }
    if (worst < relaxation - 1e-11) relaxed_cost = kInfinity;
    if (worst < relaxation + 1e-11) {
      relaxation = std::min(relaxation, worst);
      relaxed_cost = std::min(relaxed_cost, problem->Cost(sums));
    }
  }
  const Calibrator calibrator(data.scores, data.rows);
  const Reachability found = FindReachability(calibrator, *problem, {.fit_temperature = false});
  EXPECT_TRUE(found.exact);
  ASSERT_EQ(found.alone.size(), m);
  for (std::size_t c = 0; c < m; ++c) {
    const Constraint& constraint = problem->constraints()[c];
    const double excess = constraint.relation == Relation::kAtMost
                              ? found.alone[c].value - constraint.bound
                              : constraint.bound - found.alone[c].value;
    if (std::isinf(best[c])) {  // no decision defines it
      EXPECT_TRUE(std::isnan(found.alone[c].value)) << seed;
      EXPECT_FALSE(found.alone[c].meets_bound) << seed;
      continue;
    }
    EXPECT_NEAR(excess, best[c], 1e-10) << seed;
    EXPECT_NEAR(found.alone[c].cost, cost[c], 1e-10) << seed;
    EXPECT_EQ(found.alone[c].meets_bound, best[c] <= 1e-12) << seed;
  }
  EXPECT_EQ(found.feasible, relaxation <= 1e-12) << seed;
  if (std::isinf(relaxation)) {
    EXPECT_TRUE(std::isinf(found.relaxation)) << seed;
  } else {
    EXPECT_NEAR(found.relaxation, std::max(relaxation, 0.0), 1e-10) << seed;
    EXPECT_NEAR(found.cost, relaxed_cost, 1e-10) << seed;
  }
  EXPECT_EQ(found.binding.empty(), found.feasible) << seed;
}

TEST(Diagnosis, FiguresAreThoseOfAllThresholds) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) CompareWithEveryThreshold(seed);
}

// Misses and false alarms cannot both be rare; group b, whose scores say nothing, is to blame.
TEST(Diagnosis, NamesWhatBlocks) {
  ScoredRows data;
  const std::size_t n = 4000;
  Random random(5);
  data.rows.labels = test::RandomColumn("y", {"no", "yes"}, n, random);
  data.rows.groups = {test::RandomColumn("g", {"a", "b"}, n, random)};
  data.scores = test::RandomNormal(n, 1.0, random);
  for (std::size_t i = 0; i < n; ++i) {
    const bool yes = data.rows.labels.codes[i] == 1, in_a = data.rows.groups[0].codes[i] == 0;
    if (in_a) data.scores[i] += yes ? 5.0 : -5.0;
  }
  const RateProblem problem(
      test::ParseAll({"fnr(g=b) <= 10%", "fpr(g=b) <= 10%", "error(g=a) <= 5%"}),
      ParseObjective("error"), data.rows);
  const Reachability found = FindReachability(Calibrator(data.scores, data.rows), problem);
  EXPECT_FALSE(found.feasible);
  EXPECT_NEAR(found.relaxation, 0.4, 0.02);  // half of the rows on either side
  EXPECT_EQ(found.binding, (std::vector<std::string>{ToText(problem.constraints()[0]),
                                                     ToText(problem.constraints()[1])}));
  ASSERT_EQ(found.blocking.size(), 2);
  EXPECT_NEAR(found.blocking[0].share, 0.5, 0.02);
  for (const BlockingCell& cell : found.blocking) {
    EXPECT_TRUE(cell.text == "class=no, g=b" || cell.text == "class=yes, g=b") << cell.text;
    EXPECT_NEAR(static_cast<double>(cell.rows), 1000.0, 100.0);
  }
  for (const ReachableValue& alone : found.alone) {
    EXPECT_TRUE(alone.meets_bound);
    EXPECT_NEAR(alone.value, 0.0, 0.001);
  }
}

TEST(Diagnosis, LooseningByTheRelaxationMakesTheProblemFeasible) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ScoredRows data = test::RandomScoredRows({"a", "b", "c"}, 150, true, false, seed);
    std::vector<Constraint> limits =
        test::ParseAll({"error(class=a) <= 2%", "error(class=b) <= 2%", "recall(class=c) >= 99%"});
    const RateObjective objective = ParseObjective("error");
    const Calibrator calibrator(data.scores, data.rows);
    const Reachability found =
        FindReachability(calibrator, RateProblem(limits, objective, data.rows));
    EXPECT_TRUE(found.exact);  // few rows of three classes: all decisions are tried
    ASSERT_GT(found.relaxation, 0.01);
    for (const double change : {1e-6, -1e-3}) {
      std::vector<Constraint> loosened = limits;
      for (Constraint& limit : loosened) {
        limit.bound +=
            (limit.relation == Relation::kAtMost ? 1.0 : -1.0) * (found.relaxation + change);
      }
      const Reachability again =
          FindReachability(calibrator, RateProblem(loosened, objective, data.rows));
      EXPECT_EQ(again.feasible, change > 0.0) << seed;
    }
  }
}

TEST(Diagnosis, UndefinedConstraintsHaveNoFiniteRelaxation) {
  ScoredRows data = test::RandomScoredRows({"no", "yes"}, 30, false, false, 3);
  for (std::int32_t& code : data.rows.labels.codes) code = 0;
  const RateProblem problem(test::ParseAll({"fnr <= 5%", "fpr <= 5%"}), ParseObjective("error"),
                            data.rows, {}, EmptySubsetPolicy::kUndefined);
  const Reachability found = FindReachability(Calibrator(data.scores, data.rows), problem);
  EXPECT_FALSE(found.feasible);
  EXPECT_TRUE(std::isinf(found.relaxation));
  EXPECT_TRUE(std::isnan(found.alone[0].value));
  EXPECT_FALSE(found.alone[0].meets_bound);
  EXPECT_TRUE(found.alone[1].meets_bound);
  EXPECT_EQ(found.binding.front(), ToText(problem.constraints()[0]));
}

TEST(Diagnosis, SubsetsThatAreTooSmall) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {}};
  CategoricalColumn group{.name = "g", .levels = {"a", "b"}, .codes = {}};
  for (int i = 0; i < 110; ++i) {  // 60 negatives and 40 positives of a, 10 positives of b
    rows.labels.codes.push_back(i < 60 ? 0 : 1);
    group.codes.push_back(i < 100 ? 0 : 1);
  }
  rows.groups.push_back(group);
  const RateProblem problem(test::ParseAll({"fnr <= 1%", "max(fnr, by=g) <= 5%", "recall >= 90%",
                                            "fpr <= 0%", "precision >= 50%"}),
                            ParseObjective("error"), rows);
  const std::vector<SubsetSize> sizes = MeasureSubsets(problem);
  ASSERT_EQ(sizes.size(), 5);  // two groups, and precision has no rows of its own
  EXPECT_EQ(sizes[0].rows, 50);
  EXPECT_TRUE(sizes[0].too_small);
  EXPECT_EQ(sizes[0].rows_needed, 396);  // 4 * 0.99 / 0.01
  EXPECT_EQ(sizes[1].group, "g=a");
  EXPECT_EQ(sizes[1].rows, 40);
  EXPECT_FALSE(sizes[1].too_small);
  EXPECT_EQ(sizes[2].group, "g=b");
  EXPECT_EQ(sizes[2].rows, 10);
  EXPECT_TRUE(sizes[2].too_small);
  EXPECT_EQ(sizes[2].rows_needed, 76);  // 4 * 0.95 / 0.05
  EXPECT_NEAR(sizes[3].allowed, 0.1, 1e-12);
  EXPECT_FALSE(sizes[3].too_small);
  EXPECT_EQ(sizes[3].rows_needed, 36);
  EXPECT_TRUE(sizes[4].too_small);
  EXPECT_FALSE(sizes[4].rows_needed.has_value());
}

}  // namespace
}  // namespace bregboost
