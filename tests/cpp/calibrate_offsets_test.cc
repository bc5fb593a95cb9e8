// Three and more classes: offsets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "bregboost/calibrate/calibration.h"
#include "calibrate/detail/bound_scores.h"
#include "calibrate/detail/dual_steps.h"
#include "calibrate/detail/line_sweep.h"
#include "calibrate/detail/offset_search.h"
#include "calibrate/detail/three_classes.h"
#include "calibrate_problems.h"
#include "detail/thread_scope.h"

namespace bregboost {
namespace {

using test::Judged;
using test::Random;
using test::ScoredRows;

const std::vector<std::string> kTemplates = {
    "error(class=a) <= {}",
    "error(class=b) <= {}",
    "error <= {}",
    "balanced_error <= {}",
    "gap(error, by=sex) <= {}",
    "gap(error(class=c), by=race) <= {}",
    "ratio(selection_rate(predicted=a), by=sex) >= {}",
    "selection_rate(predicted=b) <= {}",
    "selection_rate(predicted=c, sex=F) >= {}",
    "precision(predicted=a) >= {}",
    "max(error, by=race) <= {}",
    "recall(class=b) >= {}",
    "disagreement <= {}",
    "error(sex=F) - error(sex=M) <= {}",
};
const std::vector<std::string> kObjectives = {"accuracy", "error", "balanced_error",
                                              "error(class=a) + error(class=c)"};

std::vector<std::string> Letters(std::size_t classes) {
  std::vector<std::string> letters;
  for (std::size_t k = 0; k < classes; ++k) letters.emplace_back(1, static_cast<char>('a' + k));
  return letters;
}

// All decisions of offsets (0, u, v): rows change along u = a, v = b and v - u = c; points in the
// six sectors around every crossing of two such lines meet every region between them.
std::set<std::vector<std::int32_t>> AllDecisions(const RowData& rows,
                                                 const std::vector<double>& scores, double nearby) {
  const std::size_t n = rows.num_rows();
  std::vector<double> us, vs, diagonals;
  for (std::size_t i = 0; i < n; ++i) {
    us.push_back(scores[i] - scores[n + i]);
    vs.push_back(scores[i] - scores[2 * n + i]);
    diagonals.push_back(vs.back() - us.back());
  }
  std::set<std::vector<std::int32_t>> decisions;
  const auto around = [&](double u, double v) {
    for (const double degrees : {22.5, 67.5, 135.0, 202.5, 247.5, 315.0}) {
      const double angle = degrees * 3.14159265358979 / 180.0;
      decisions.insert(test::Predictions(
          rows, scores, 1.0, {0.0, u + nearby * std::cos(angle), v + nearby * std::sin(angle)}));
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      around(us[i], vs[j]);
      around(us[i], us[i] + diagonals[j]);
      around(vs[i] - diagonals[j], vs[i]);
    }
  }
  return decisions;
}

int CompareWithEveryDecision(std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = 1 + random() % 9;
  const bool on_grid = random() % 2 == 0;
  const ScoredRows data =
      test::RandomScoredRows({"a", "b", "c"}, n, /*weighted=*/random() % 2 == 0, on_grid, seed);
  const std::string& objective = kObjectives[random() % kObjectives.size()];
  const auto problem =
      test::TryProblem(test::RandomTexts(kTemplates, random), objective, data.rows);
  if (!problem) return 0;
  const std::vector<double> none(problem->compiled().num_sums(), 0.0);
  if (std::isnan(problem->Cost(none))) return 0;
  const CalibrationOptions options{
      .rho = 0.5 * static_cast<double>(random() % 12), .seed = 0, .fit_temperature = false};
  const auto judge = [&](const std::vector<std::int32_t>& predicted) {
    return test::Judge(*problem, test::SumsOfPredictions(*problem, data.scores, predicted),
                       *options.rho);
  };
  Judged best{.undefined = std::numeric_limits<int>::max(), .merit = 0.0};
  for (const auto& predicted : AllDecisions(data.rows, data.scores, on_grid ? 0.2 : 1e-7)) {
    const Judged judged = judge(predicted);
    if (test::IsLess(judged, best)) best = judged;
  }
  const Calibration found = Calibrate(data.scores, *problem, options);
  const Judged deployed =
      judge(test::Predictions(data.rows, data.scores, 1.0, found.adjustment.offsets));
  EXPECT_TRUE(found.exact) << seed;
  EXPECT_EQ(deployed.undefined, best.undefined) << seed;
  EXPECT_NEAR(deployed.merit, best.merit, 1e-10) << seed;
  EXPECT_EQ(std::isinf(found.merit), best.undefined > 0) << seed;
  return 1;
}

TEST(Offsets, NoOtherDecisionIsBetterOnAThousandProblems) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 1000; ++seed) compared += CompareWithEveryDecision(seed);
}

// Everything that judges offsets, for tests that call one part of the search.
struct SearchKit {
  SearchKit(const ScoredRows& data, const std::vector<std::string>& texts, const char* objective,
            double rho)
      : problem(test::ParseAll(texts), ParseObjective(objective), data.rows),
        bound(data.scores, data.rows),
        rows(problem, bound, bound.temperature),
        sums(problem, bound, bound.temperature),
        tracker(problem, {.kind = detail::Goal::Kind::kMerit, .rho = rho}),
        judge(rows, sums, tracker) {}

  RateProblem problem;
  detail::BoundScores bound;
  detail::OffsetRows rows;
  detail::DecisionSums sums;
  detail::MeritTracker tracker;
  detail::OffsetJudge judge;
};

// No point of a fine grid on the line is better than the sweep's, and the sweep's own figure is
// what its point gets when judged afresh.
TEST(Offsets, LineSweepsFindTheBestPointOfTheLine) {
  Random random(11);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::size_t classes = 3 + seed % 4;
    const ScoredRows data = test::RandomScoredRows(Letters(classes), 80, true, seed % 2 == 0, seed);
    SearchKit kit(data, {"error(class=a) <= 10%", "gap(error, by=sex) <= 3%"}, "error", 3.0);
    const std::vector<double> from = test::RandomNormal(classes, 1.0, random);
    std::vector<double> direction = test::RandomNormal(classes, 1.0, random);
    if (seed % 3 == 0) direction[1] = direction[0];  // parallel lines
    const double reach = seed % 5 == 0 ? 0.7 : std::numeric_limits<double>::infinity();
    const detail::LineBest best =
        detail::SweepLine(kit.rows, from, direction, reach, kit.sums, kit.tracker);
    const auto at = [&](double t) {
      std::vector<double> offsets = from;
      for (std::size_t k = 0; k < classes; ++k) offsets[k] += t * direction[k];
      return kit.judge.At(offsets).standing;
    };
    EXPECT_NEAR(at(best.t).value, best.standing.value, 1e-12) << seed;
    EXPECT_LE(std::abs(best.t), reach);
    for (double t = -std::min(reach, 8.0); t <= std::min(reach, 8.0); t += 0.01) {
      EXPECT_FALSE(detail::Better(at(t), best.standing)) << seed << " at " << t;
    }
  }
}

// The general search against the enumeration, where both apply.
TEST(Offsets, TheSearchComesNearTheBestOfAllDecisions) {
  double total_gap = 0.0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const ScoredRows data = test::RandomScoredRows({"a", "b", "c"}, 200, true, false, seed);
    SearchKit kit(data, {"error(class=a) <= 10%", "gap(error, by=sex) <= 2%"}, "error", 5.0);
    const auto all = detail::EnumerateThreeClasses(kit.rows, kit.sums, kit.tracker, kit.judge);
    ASSERT_TRUE(all.has_value());
    const detail::OffsetPoint searched =
        detail::SearchOffsets(detail::PriorStarts(data.rows), detail::AllOf(3), 1, 1.0, kit.judge);
    EXPECT_GE(searched.standing.value, all->best.standing.value - 1e-12);
    total_gap += searched.standing.value - all->best.standing.value;
  }
  EXPECT_LT(total_gap / 10, 0.005);
}

// Against random offsets, many of them, for more classes.
TEST(Offsets, BeatsRandomOffsetsOfFiveClasses) {
  Random random(13);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ScoredRows data = test::RandomScoredRows(Letters(5), 400, false, false, seed);
    SearchKit kit(data, {"error(class=a) <= 10%", "error(class=e) <= 20%"}, "accuracy", 5.0);
    const Calibration found =
        Calibrate(data.scores, kit.problem, {.rho = 5.0, .all_offsets = true});
    EXPECT_FALSE(found.exact);
    for (int draw = 0; draw < 5000; ++draw) {
      const auto offsets = test::RandomNormal(5, 1.5, random);
      EXPECT_GE(kit.problem.Merit(kit.judge.At(offsets).sums, 5.0), found.merit - 1e-12);
    }
  }
}

TEST(Offsets, DualStepsApplyToErrorsOfWholeClasses) {
  const ScoredRows data = test::RandomScoredRows(Letters(4), 600, false, false, 21);
  const auto bounded = [&](const std::vector<std::string>& texts, const char* objective) {
    const auto charges = detail::ReadClassCharges(
        RateProblem(test::ParseAll(texts), ParseObjective(objective), data.rows));
    return charges ? std::optional(charges->bounded) : std::nullopt;
  };
  using Classes = std::vector<std::size_t>;
  EXPECT_EQ(bounded({"error(class=a) <= 5%", "recall(class=c) >= 90%"}, "accuracy"),
            (Classes{0, 2}));
  EXPECT_EQ(bounded({"error(class=b) <= 5%", "recall(class=b) >= 90%"}, "error"), Classes{1});
  EXPECT_EQ(bounded({"balanced_error <= 30%"}, "balanced_error"), (Classes{0, 1, 2, 3}));
  EXPECT_FALSE(bounded({"error(class=a, sex=F) <= 5%"}, "error"));
  EXPECT_FALSE(bounded({"selection_rate(predicted=a) <= 5%"}, "error"));
  EXPECT_FALSE(bounded({"gap(error, by=sex) <= 5%"}, "error"));
  EXPECT_FALSE(bounded({"error(class=a) - error(class=b) <= 5%"}, "error"));
}

// softmax(F / T) is the true posterior here, so multipliers alone already do well: the offsets that
// they give are log(1 + multiplier / share of the class).
TEST(Offsets, MultipliersOfTheDualStepsExplainTheOffsets) {
  Random random(31);
  const std::size_t n = 20'000;
  ScoredRows data;
  data.rows.labels = test::RandomColumn("y", {"a", "b", "c"}, n, random);
  data.scores = test::RandomNormal(3 * n, 1.0, random);  // x - mean of the class in 3 dimensions
  constexpr double kApart = 1.8;
  for (std::size_t i = 0; i < n; ++i) {
    data.scores[static_cast<std::size_t>(data.rows.labels.codes[i]) * n + i] += kApart;
  }
  for (double& score : data.scores) score *= kApart;  // log-likelihood of each class
  const RateProblem problem(test::ParseAll({"error(class=a) <= 8%"}), ParseObjective("error"),
                            data.rows);
  const Calibration found = Calibrate(data.scores, problem, {.rho = 20.0});
  ASSERT_EQ(found.multipliers.size(), 1);
  EXPECT_NEAR(found.adjustment.temperature, 1.0, 0.05);
  EXPECT_TRUE(found.measurements[0].satisfied);
  const double lift = std::log(1.0 + 3.0 * found.multipliers[0]);
  EXPECT_NEAR(found.adjustment.offsets[0] - found.adjustment.offsets[1], lift, 0.15);
  EXPECT_NEAR(found.adjustment.offsets[0] - found.adjustment.offsets[2], lift, 0.15);
}

TEST(Offsets, HaveMeanZeroAndDecideAsReported) {
  const ScoredRows data = test::RandomScoredRows(Letters(4), 500, true, false, 41);
  const RateProblem problem(test::ParseAll({"error(class=b) <= 10%", "gap(error, by=sex) <= 5%"}),
                            ParseObjective("accuracy"), data.rows);
  const Calibration found = Calibrate(data.scores, problem);
  const std::vector<double>& offsets = found.adjustment.offsets;
  ASSERT_EQ(offsets.size(), 4);
  EXPECT_NEAR(std::accumulate(offsets.begin(), offsets.end(), 0.0), 0.0, 1e-12);
  const auto predicted =
      test::Predictions(data.rows, data.scores, found.adjustment.temperature, offsets);
  const std::vector<double> sums = test::SumsOfPredictions(problem, data.scores, predicted);
  EXPECT_NEAR(problem.Merit(sums, found.rho), found.merit, 1e-12);
}

TEST(Offsets, WeightsCountAsRepeatedRows) {
  ScoredRows data = test::RandomScoredRows({"a", "b", "c"}, 60, false, false, 42);
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < 60; ++i) {
    data.rows.weights.push_back(static_cast<double>(i % 4));
    for (std::size_t copy = 0; copy < i % 4; ++copy) {
      indices.push_back(static_cast<std::int32_t>(i));
    }
  }
  RowData repeated = TakeRows(data.rows, indices);
  repeated.weights.clear();
  std::vector<double> scores;
  for (std::size_t k = 0; k < 3; ++k) {
    for (const std::int32_t i : indices) {
      scores.push_back(data.scores[k * 60 + static_cast<std::size_t>(i)]);
    }
  }
  const std::vector<Constraint> limits =
      test::ParseAll({"error(class=a) <= 20%", "gap(error, by=sex) <= 5%"});
  const RateObjective objective = ParseObjective("accuracy");
  const Calibration once = Calibrate(data.scores, RateProblem(limits, objective, data.rows));
  const Calibration often = Calibrate(scores, RateProblem(limits, objective, repeated));
  EXPECT_TRUE(once.exact && often.exact);
  EXPECT_NEAR(once.merit, often.merit, 1e-12);
}

TEST(Offsets, DependOnNeitherOrderOfRowsNorReuse) {
  const ScoredRows data = test::RandomScoredRows({"a", "b", "c"}, 150, false, false, 43);
  std::vector<std::int32_t> reversed(150);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const RowData rows = TakeRows(data.rows, reversed);
  std::vector<double> scores;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 150; i > 0; --i) scores.push_back(data.scores[k * 150 + i - 1]);
  }
  const std::vector<Constraint> limits = test::ParseAll({"error(class=a) <= 10%"});
  const RateObjective objective = ParseObjective("error");
  EXPECT_NEAR(Calibrate(data.scores, RateProblem(limits, objective, data.rows)).merit,
              Calibrate(scores, RateProblem(limits, objective, rows)).merit, 1e-12);

  const ScoredRows five = test::RandomScoredRows(Letters(5), 300, true, false, 44);
  const RateProblem problem(test::ParseAll({"gap(error, by=race) <= 5%"}), objective, five.rows);
  const Calibrator calibrator(five.scores, five.rows);
  const Calibration first = calibrator.Solve(problem, {.seed = 3});
  EXPECT_EQ(first.adjustment.offsets, calibrator.Solve(problem, {.seed = 3}).adjustment.offsets);
  EXPECT_EQ(first.adjustment.offsets,
            Calibrate(five.scores, problem, {.seed = 3}).adjustment.offsets);
}

TEST(Offsets, AreTheSameOnAnyNumberOfThreads) {
  const ScoredRows data = test::RandomScoredRows(Letters(4), 3000, true, false, 45);
  const RateProblem problem(test::ParseAll({"error(class=a) <= 10%", "gap(error, by=race) <= 5%"}),
                            ParseObjective("error"), data.rows);
  std::vector<Calibration> found;
  for (const int threads : {1, 2, 5}) {
    const detail::ThreadScope scope(threads);
    found.push_back(Calibrate(data.scores, problem, {.seed = 3}));
    EXPECT_EQ(found.back().adjustment.offsets, found.front().adjustment.offsets);
    EXPECT_EQ(found.back().merit, found.front().merit);
    EXPECT_EQ(found.back().evaluations, found.front().evaluations);
  }
}

TEST(Offsets, LooserBoundsNeverHaveMoreMerit) {
  const ScoredRows data = test::RandomScoredRows({"a", "b", "c"}, 120, true, false, 45);
  const Calibrator calibrator(data.scores, data.rows);
  double last = std::numeric_limits<double>::infinity();
  for (int percent = 0; percent <= 50; percent += 10) {
    const RateProblem problem(test::ParseAll({"error(class=c) <= " + std::to_string(percent) + "%",
                                              "gap(error, by=sex) <= 2%"}),
                              ParseObjective("error"), data.rows);
    const Calibration found = calibrator.Solve(problem);
    EXPECT_TRUE(found.exact);
    EXPECT_LE(found.merit, last + 1e-12);
    last = found.merit;
  }
}

TEST(Offsets, EmptyClassesAndUndefinedRates) {
  ScoredRows data = test::RandomScoredRows({"a", "b", "c", "d"}, 100, false, false, 46);
  for (std::int32_t& code : data.rows.labels.codes) code = code == 3 ? 0 : code;  // no row is d
  const RateProblem problem(test::ParseAll({"error(class=d) <= 5%", "error(class=a) <= 10%"}),
                            ParseObjective("error"), data.rows, {}, EmptySubsetPolicy::kUndefined);
  const Calibration found = Calibrate(data.scores, problem);
  EXPECT_TRUE(std::isinf(found.merit));
  EXPECT_FALSE(found.measurements[0].satisfied);
  EXPECT_TRUE(std::isfinite(found.cost));
  for (const double offset : found.adjustment.offsets) EXPECT_TRUE(std::isfinite(offset));

  const std::vector<double> same(400, 0.5);  // scores that tell nothing
  const RateProblem plain(test::ParseAll({"error(class=a) <= 10%"}), ParseObjective("error"),
                          data.rows);
  const Calibration constant = Calibrate(same, plain);
  EXPECT_EQ(constant.adjustment.temperature, 1.0);
  EXPECT_TRUE(constant.measurements[0].satisfied);  // all rows are predicted a
}

}  // namespace
}  // namespace bregboost
