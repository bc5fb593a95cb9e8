// Two classes: the best of all thresholds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "bregboost/calibrate/calibration.h"
#include "calibrate_problems.h"

namespace bregboost {
namespace {

using test::Judged;
using test::Random;
using test::ScoredRows;

const std::vector<std::string> kTemplates = {
    "fnr <= {}",
    "fpr <= {}",
    "error <= {}",
    "balanced_error <= {}",
    "gap(error, by=sex) <= {}",
    "gap(fnr, by=race) <= {}",
    "gap(selection_rate, by=(sex, race)) <= {}",
    "ratio(selection_rate, by=sex) >= {}",
    "selection_rate <= {}",
    "selection_rate(race=A) >= {}",
    "precision >= {}",
    "min(precision, by=sex) >= {}",
    "fpr(sex=F) - fpr(sex=M) <= {}",
    "max(error, by=race) <= {}",
    "min(recall, by=sex) >= {}",
    "disagreement <= {}",
    "loss(sex=F) <= {}",
};
const std::vector<std::string> kObjectives = {"accuracy", "error",         "balanced_error",
                                              "tpr",      "fnr + 2 * fpr", "disagreement"};

// Every threshold that puts different rows above it, the ends included.
std::vector<double> AllThresholds(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end());
  std::vector<double> thresholds = {scores.front() - 1.0, scores.back() + 1.0};
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[i - 1]) thresholds.push_back(0.5 * (scores[i] + scores[i - 1]));
  }
  return thresholds;
}

// 1 where no threshold was better, 0 where the draw has no problem in it.
int CompareWithEveryThreshold(std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = 1 + random() % 25;
  ScoredRows data = test::RandomScoredRows({"no", "yes"}, n, /*weighted=*/random() % 2 == 0,
                                           /*on_grid=*/random() % 2 == 0, seed);
  data.rows.positive_class = static_cast<std::int32_t>(random() % 2);
  const std::string& objective = kObjectives[random() % kObjectives.size()];
  const auto problem =
      test::TryProblem(test::RandomTexts(kTemplates, random), objective, data.rows);
  if (!problem) return 0;
  const std::vector<double> none(problem->compiled().num_sums(), 0.0);
  if (std::isnan(problem->Cost(none))) return 0;

  const CalibrationOptions options{.rho = 0.5 * static_cast<double>(random() % 12),
                                   .seed = 0,
                                   .fit_temperature = random() % 2 == 0};
  const Calibration found = Calibrate(data.scores, *problem, options);
  const double temperature = found.adjustment.temperature;
  std::vector<double> scaled = data.scores;
  for (double& score : scaled) score /= temperature;
  const auto judge = [&](const std::vector<double>& offsets) {
    const auto predicted = test::Predictions(data.rows, data.scores, temperature, offsets);
    return test::Judge(*problem, test::SumsOfPredictions(*problem, scaled, predicted),
                       *options.rho);
  };

  Judged best{.undefined = std::numeric_limits<int>::max(), .merit = 0.0};
  double nearest = 0.0;
  for (const double threshold : AllThresholds(scaled)) {
    const Judged judged = judge({-threshold});
    const bool same =
        judged.undefined == best.undefined && std::abs(judged.merit - best.merit) <= 1e-10;
    if (same) {
      nearest = std::min(nearest, std::abs(threshold));
    } else if (test::IsLess(judged, best)) {
      best = judged;
      nearest = std::abs(threshold);
    }
  }
  const Judged deployed = judge(found.adjustment.offsets);
  EXPECT_EQ(deployed.undefined, best.undefined) << seed;
  EXPECT_NEAR(deployed.merit, best.merit, 1e-10) << seed;
  EXPECT_NEAR(std::abs(found.adjustment.offsets[0]), nearest, 1e-9) << seed;
  if (best.undefined == 0) {
    EXPECT_NEAR(found.merit, best.merit, 1e-10) << seed;
  } else {
    EXPECT_TRUE(std::isinf(found.merit)) << seed;
  }
  EXPECT_TRUE(found.exact);
  return 1;
}

TEST(Threshold, NoOtherThresholdIsBetterOnAThousandProblems) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 1000; ++seed) compared += CompareWithEveryThreshold(seed);
}

// Ratios that are judged with their sampling error, which changes with every threshold.
TEST(Threshold, NoOtherThresholdIsBetterWithCaution) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 300; ++seed) {
    Random random(seed);
    const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 5 + random() % 40,
                                                   /*weighted=*/random() % 2 == 0,
                                                   /*on_grid=*/random() % 2 == 0, seed);
    auto problem = test::TryProblem({random() % 2 == 0 ? "ratio(selection_rate, by=sex) >= 60%"
                                                       : "ratio(error, by=race) >= 50%",
                                     "fnr <= 40%"},
                                    "error", data.rows);
    if (!problem) continue;
    problem->SetCaution(0.25 * static_cast<double>(1 + random() % 8));
    const Calibration found =
        Calibrate(data.scores, *problem, {.rho = 2.0, .fit_temperature = false});
    double best = std::numeric_limits<double>::infinity();
    for (const double threshold : AllThresholds(data.scores)) {
      const auto predicted = test::Predictions(data.rows, data.scores, 1.0, {-threshold});
      const auto sums = test::SumsOfPredictions(*problem, data.scores, predicted);
      best = std::min(best, problem->Merit(sums, 2.0));
    }
    if (std::isinf(best)) continue;
    EXPECT_NEAR(found.merit, best, 1e-10) << seed;
    ++compared;
  }
}

TEST(Threshold, KnownAnswer) {
  // Positives at 1, 3, 4, 6, negatives at 0, 2, 5: two misses are allowed, so that a false alarm at
  // 5 must be borne. Thresholds from 2 to 4 do no more harm; 2.5 is the nearest to 0.
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 0, 1, 1, 0, 1}};
  const std::vector<double> scores = {0, 1, 2, 3, 4, 5, 6};
  const RateProblem problem(test::ParseAll({"fnr <= 50%"}), ParseObjective("fpr"), rows);
  const Calibration found = Calibrate(scores, problem, {.rho = 100.0, .fit_temperature = false});
  EXPECT_EQ(found.adjustment.offsets, std::vector<double>{-2.5});
  EXPECT_NEAR(found.cost, 1.0 / 3.0, 1e-15);
  EXPECT_EQ(found.total_violation, 0.0);
  ASSERT_EQ(found.measurements.size(), 1);
  EXPECT_TRUE(found.measurements[0].satisfied);
  EXPECT_DOUBLE_EQ(found.measurements[0].value, 0.25);
}

// Their sums of leaves may round the other way in the deployed model.
TEST(Threshold, DoesNotTellApartWhatDiffersByRounding) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 0, 1, 1}};
  const RateProblem problem({}, ParseObjective("error"), rows);
  for (const double above : {0.1 + 0.2, 0.3 + 1e-7}) {
    const std::vector<double> scores = {-1.0, 0.3, above, 2.0};
    const Calibration found = Calibrate(scores, problem, {.fit_temperature = false});
    EXPECT_DOUBLE_EQ(found.cost, 0.25);  // 0 with a threshold between the two
    EXPECT_GT(std::abs(found.adjustment.offsets[0] + 0.3), 0.3);
  }
}

TEST(Threshold, WeightsCountAsRepeatedRows) {
  ScoredRows data = test::RandomScoredRows({"no", "yes"}, 60, false, false, 3);
  ScoredRows repeated = data;
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < 60; ++i) {
    data.rows.weights.push_back(static_cast<double>(i % 4));  // some rows are not there at all
    for (std::size_t copy = 0; copy < i % 4; ++copy)
      indices.push_back(static_cast<std::int32_t>(i));
  }
  repeated.rows = TakeRows(repeated.rows, indices);
  repeated.scores.clear();
  for (const std::int32_t i : indices) {
    repeated.scores.push_back(data.scores[static_cast<std::size_t>(i)]);
  }
  const std::vector<Constraint> limits =
      test::ParseAll({"fnr <= 20%", "gap(fpr, by=sex) <= 5%", "precision >= 60%"});
  const RateObjective objective = ParseObjective("accuracy");
  const Calibration once = Calibrate(data.scores, RateProblem(limits, objective, data.rows));
  const Calibration often =
      Calibrate(repeated.scores, RateProblem(limits, objective, repeated.rows));
  EXPECT_NEAR(once.adjustment.temperature, often.adjustment.temperature, 1e-8);
  EXPECT_NEAR(once.adjustment.offsets[0], often.adjustment.offsets[0], 1e-7);
  EXPECT_NEAR(once.merit, often.merit, 1e-12);
}

TEST(Threshold, OrderOfRowsDoesNotMatter) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 5000, true, false, 4);
  std::vector<std::int32_t> reversed(5000);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const RowData rows = TakeRows(data.rows, reversed);
  const std::vector<double> scores(data.scores.rbegin(), data.scores.rend());
  const std::vector<Constraint> limits =
      test::ParseAll({"fnr <= 10%", "gap(selection_rate, by=race) <= 2%"});
  const RateObjective objective = ParseObjective("error");
  const Calibration a = Calibrate(data.scores, RateProblem(limits, objective, data.rows));
  const Calibration b = Calibrate(scores, RateProblem(limits, objective, rows));
  EXPECT_NEAR(a.adjustment.offsets[0], b.adjustment.offsets[0], 1e-9);
  EXPECT_NEAR(a.merit, b.merit, 1e-12);
}

TEST(Threshold, LooserBoundsNeverHaveMoreMerit) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 2000, true, false, 5);
  const Calibrator calibrator(data.scores, data.rows);
  const auto check = [&](const std::string& before, const std::string& after, bool falls) {
    double last = falls ? std::numeric_limits<double>::infinity() : 0.0;
    for (int percent = 1; percent < 60; percent += 2) {
      const RateProblem problem(
          test::ParseAll({before + std::to_string(percent) + after, "fpr <= 70%"}),
          ParseObjective("error"), data.rows);
      const Calibration found = calibrator.Solve(problem);
      if (falls) {
        EXPECT_LE(found.merit, last + 1e-12) << problem.constraints().size() << before << percent;
      } else {
        EXPECT_GE(found.merit, last - 1e-12) << before << percent;
      }
      last = found.merit;
    }
  };
  check("fnr <= ", "%", /*falls=*/true);
  check("gap(error, by=race) <= ", "%", /*falls=*/true);
  check("precision >= ", "%", /*falls=*/false);
  check("ratio(selection_rate, by=sex) >= ", "%", /*falls=*/false);
}

TEST(Threshold, CalibratorsAreReusedAcrossProblems) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 3000, true, false, 6);
  const Calibrator calibrator(data.scores, data.rows);
  for (const char* text : {"fnr <= 5%", "selection_rate <= 10%", "gap(fpr, by=sex) <= 1%"}) {
    const RateProblem problem(test::ParseAll({text}), ParseObjective("accuracy"), data.rows);
    for (const bool fit : {true, false}) {
      const CalibrationOptions options{.rho = 5.0, .seed = 0, .fit_temperature = fit};
      const Calibration again = calibrator.Solve(problem, options);
      const Calibration once = Calibrate(data.scores, problem, options);
      EXPECT_EQ(again.adjustment.offsets, once.adjustment.offsets);
      EXPECT_EQ(again.adjustment.temperature, once.adjustment.temperature);
      EXPECT_EQ(again.sums, once.sums);
      EXPECT_EQ(again.adjustment.temperature == 1.0, !fit);
    }
  }
}

TEST(Threshold, FarScoresDoNotHideNearOnes) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 0, 1}};
  const std::vector<double> scores = {3.0, 3.00001, -1e300, 1e300};
  const RateProblem problem({}, ParseObjective("error"), rows);
  const Calibration found = Calibrate(scores, problem, {.fit_temperature = false});
  EXPECT_EQ(found.cost, 0.0);
  EXPECT_EQ(test::Predictions(rows, scores, 1.0, found.adjustment.offsets), rows.labels.codes);
}

TEST(Threshold, OneClassOfPredictionsMayBeBest) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {1, 0, 1, 0}};
  const std::vector<double> scores = {-4.0, -3.0, -2.0, -1.0};
  const RateProblem none(test::ParseAll({"selection_rate <= 0%"}), ParseObjective("error"), rows);
  const Calibration nobody = Calibrate(scores, none, {.rho = 50.0, .fit_temperature = false});
  EXPECT_EQ(nobody.measurements[0].value, 0.0);
  EXPECT_DOUBLE_EQ(nobody.adjustment.offsets[0], -0.0);  // 1 beyond the largest score
  const RateProblem all(test::ParseAll({"fnr <= 0%"}), ParseObjective("error"), rows);
  const Calibration everybody = Calibrate(scores, all, {.rho = 50.0, .fit_temperature = false});
  EXPECT_EQ(everybody.measurements[0].value, 0.0);
  EXPECT_DOUBLE_EQ(everybody.adjustment.offsets[0], 5.0);
}

TEST(Threshold, InfeasibleProblemsGetTheLeastMerit) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 500, false, false, 8);
  const RateProblem problem(test::ParseAll({"fnr <= 1%", "fpr <= 1%"}), ParseObjective("error"),
                            data.rows);
  const Calibration found = Calibrate(data.scores, problem);
  EXPECT_GT(found.total_violation, 0.0);
  EXPECT_TRUE(std::isfinite(found.merit));
  EXPECT_NEAR(found.merit, found.cost + 5.0 * found.total_violation, 1e-12);
}

TEST(Threshold, UndefinedRatesAreNeverSatisfiedNorNan) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 0, 0}};
  const std::vector<double> scores = {1.0, 2.0, 3.0};
  const RateProblem problem(test::ParseAll({"fnr <= 5%", "fpr <= 5%"}), ParseObjective("error"),
                            rows, {}, EmptySubsetPolicy::kUndefined);
  for (const double rho : {0.0, 5.0}) {
    const Calibration found = Calibrate(scores, problem, {.rho = rho});
    EXPECT_TRUE(std::isinf(found.merit));
    EXPECT_TRUE(std::isinf(found.total_violation));
    EXPECT_EQ(found.cost, 0.0);  // what is defined is as good as it can be
    EXPECT_FALSE(found.measurements[0].satisfied);
    EXPECT_TRUE(found.measurements[1].satisfied);
    EXPECT_TRUE(std::isfinite(found.adjustment.offsets[0]));
  }
  const RateProblem no_objective({}, ParseObjective("fnr"), rows, {},
                                 EmptySubsetPolicy::kUndefined);
  EXPECT_THROW(Calibrate(scores, no_objective), std::invalid_argument);
}

TEST(Threshold, RefusesBadInput) {
  ScoredRows data = test::RandomScoredRows({"no", "yes"}, 20, false, false, 9);
  const RateProblem problem(test::ParseAll({"fnr <= 5%"}), ParseObjective("error"), data.rows);
  EXPECT_THROW(Calibrate(data.scores, problem, {.rho = -1.0}), std::invalid_argument);
  const ScoredRows other = test::RandomScoredRows({"no", "yes"}, 21, false, false, 9);
  EXPECT_THROW(Calibrator(other.scores, other.rows).Solve(problem), std::invalid_argument);
  data.scores[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Calibrate(data.scores, problem), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
