#include "bregboost/calibrate/threshold_merit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bregboost/calibrate/calibration.h"
#include "calibrate_problems.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using test::Random;
using test::ScoredRows;

const std::vector<std::string> kTemplates = {
    "fnr <= {}",
    "error <= {}",
    "gap(error, by=sex) <= {}",
    "gap(selection_rate, by=(sex, race)) <= {}",
    "ratio(selection_rate, by=sex) >= {}",
    "precision >= {}",
    "disagreement <= {}",
    "loss(sex=F) <= {}",
};

double Exact(const ScoredRows& data, const RateProblem& problem, double rho) {
  return Calibrate(data.scores, problem, {.rho = rho, .fit_temperature = false}).merit;
}

// 0 where the draw has no problem in it.
int CompareWithCalibration(std::uint64_t seed) {
  Random random(seed);
  const bool on_grid = random() % 2 == 0;
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 1 + random() % 200,
                                                 /*weighted=*/random() % 2 == 0, on_grid, seed);
  const auto problem = test::TryProblem(test::RandomTexts(kTemplates, random), "error", data.rows);
  if (!problem) return 0;
  const double rho = 0.5 * static_cast<double>(random() % 12);
  const double best = Exact(data, *problem, rho);
  const double found = MeritOfBestThreshold(data.scores, *problem, rho);
  if (std::isinf(best)) {
    EXPECT_TRUE(std::isinf(found)) << seed;
  } else if (on_grid) {  // no two different scores share a bin
    EXPECT_NEAR(found, best, 1e-10) << seed;
  } else {
    EXPECT_GE(found, best - 1e-10) << seed;
  }
  return 1;
}

TEST(ThresholdMerit, IsThatOfTheBestThreshold) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 500; ++seed) compared += CompareWithCalibration(seed);
}

TEST(ThresholdMerit, HardlyDiffersFromTheBestOfManyRows) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ScoredRows data = test::RandomScoredRows({"no", "yes"}, 20'000, false, false, seed);
    data.scores[0] = 1000.0;  // a far outlier makes the first grid coarse
    const RateProblem problem(test::ParseAll({"fnr <= 10%", "gap(fpr, by=sex) <= 2%"}),
                              ParseObjective("error"), data.rows);
    const double best = Exact(data, problem, 5.0);
    const double found = MeritOfBestThreshold(data.scores, problem, 5.0);
    EXPECT_GE(found, best - 1e-12);
    EXPECT_LE(found, best + 0.005);
  }
}

TEST(ThresholdMerit, OfEqualScoresIsTheBetterOfTwoDecisions) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 0, 0}};
  const RateProblem problem(test::ParseAll({"selection_rate <= 50%"}), ParseObjective("error"),
                            rows);
  EXPECT_DOUBLE_EQ(MeritOfBestThreshold(std::vector<double>(4, 0.3), problem, 1.0), 0.25);
}

TEST(ThresholdMerit, IsTheSameOnWorkers) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 500, true, false, 9);
  const std::vector<Constraint> limits = test::ParseAll({"fnr <= 10%", "gap(fpr, by=sex) <= 2%"});
  const RateProblem whole(limits, ParseObjective("error"), data.rows);
  const double expected = MeritOfBestThreshold(data.scores, whole, 5.0);
  for (const std::size_t workers : {1UL, 2UL, 5UL}) {
    test::OnWorkers(workers, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
      const auto places = test::RowsOfWorker(data.rows.num_rows(), *worker);
      RowData rows = TakeRows(data.rows, places);
      rows.workers = worker;
      std::vector<double> scores;
      for (const std::int32_t i : places)
        scores.push_back(data.scores[static_cast<std::size_t>(i)]);
      const RateProblem problem(limits, ParseObjective("error"), rows);
      EXPECT_NEAR(MeritOfBestThreshold(scores, problem, 5.0), expected, 1e-12);
    });
  }
}

TEST(ThresholdMerit, MoreClassesAndOtherScoresAreErrors) {
  const RowData three = test::ClassRows({"a", "b", "c"}, 10, 1);
  const RateProblem problem(test::ParseAll({"error <= 10%"}), ParseObjective("error"), three);
  EXPECT_THROW(MeritOfBestThreshold(std::vector<double>(30, 0.0), problem, 1.0),
               std::invalid_argument);
  const RowData two = test::ClassRows({"a", "b"}, 10, 1);
  const RateProblem binary(test::ParseAll({"error <= 10%"}), ParseObjective("error"), two);
  std::vector<double> scores(10, 0.0);
  scores[4] = std::nan("");
  EXPECT_THROW(MeritOfBestThreshold(scores, binary, 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
