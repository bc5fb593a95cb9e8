// What a point of violation is worth where nobody says.

#include <gtest/gtest.h>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/problem/parser.h"
#include "calibrate_problems.h"

namespace bregboost {
namespace {

using test::Random;

// `counts[k]` rows of class k.
RowData RowsOf(const std::vector<int>& counts) {
  RowData rows;
  rows.labels.name = "y";
  for (std::size_t k = 0; k < counts.size(); ++k) {
    rows.labels.levels.push_back(std::to_string(k));
    rows.labels.codes.insert(rows.labels.codes.end(), static_cast<std::size_t>(counts[k]),
                             static_cast<std::int32_t>(k));
  }
  return rows;
}

double DefaultRhoOf(const std::string& objective, const RowData& rows) {
  return DefaultRho(RateProblem({}, ParseObjective(objective), rows));
}

TEST(DefaultRho, IsFivePointsOfAccuracyInPointsOfTheObjective) {
  const RowData rows = RowsOf({40, 10});
  EXPECT_EQ(DefaultRhoOf("accuracy", rows), 5.0);
  EXPECT_EQ(DefaultRhoOf("error", rows), 5.0);
  EXPECT_EQ(DefaultRhoOf("loss", rows), 5.0);
  EXPECT_EQ(DefaultRhoOf("recall", rows), 25.0);  // a positive is 1/10 of it, and 1/50 of all
  EXPECT_EQ(DefaultRhoOf("fnr", rows), 25.0);
  EXPECT_EQ(DefaultRhoOf("fpr", rows), 6.25);
  EXPECT_EQ(DefaultRhoOf("balanced_error", rows), 12.5);
  EXPECT_EQ(DefaultRhoOf("0.2*error", rows), 1.0);
  EXPECT_EQ(DefaultRhoOf("balanced_error", RowsOf({10, 20, 30})), 10.0);
  EXPECT_EQ(DefaultRhoOf("recall", RowsOf({4, 3})), 11.7);  // three digits are enough
}

TEST(DefaultRho, CountsByTheWeightsOfRates) {
  RowData rows = RowsOf({40, 10});
  rows.rate_weights.assign(50, 1.0);
  std::fill(rows.rate_weights.begin() + 40, rows.rate_weights.end(), 4.0);
  EXPECT_EQ(DefaultRhoOf("accuracy", rows), 5.0);
  EXPECT_EQ(DefaultRhoOf("recall", rows), 10.0);
}

TEST(DefaultRho, OfANumericTargetIsFive) {
  RowData rows;
  rows.targets = {1.0, 2.0, 3.0};
  EXPECT_EQ(DefaultRho(RateProblem({}, ParseObjective("loss"), rows, {.kind = LossKind::kSquared})),
            5.0);
}

// The likeliest row is a negative; below it are 60 of 100 positives, then everything else. To miss
// no negative costs 30 points of accuracy.
struct CostlyLimit {
  explicit CostlyLimit(int negatives) : rows(RowsOf({negatives, 100})) {
    for (int i = 0; i < negatives; ++i) scores.push_back(i == 0 ? 10.0 : -5.0 - 0.01 * i);
    for (int i = 0; i < 100; ++i) scores.push_back(i < 60 ? 5.0 + 0.01 * i : -50.0);
  }
  Calibration Solve(std::optional<double> rho) const {
    const RateProblem problem(test::ParseAll({"fpr <= 0%"}), ParseObjective("accuracy"), rows);
    return Calibrate(scores, problem, {.rho = rho, .fit_temperature = false});
  }
  RowData rows;
  std::vector<double> scores;
};

TEST(DefaultRho, HoldsALimitThatCostsMoreThanFivePoints) {
  const CostlyLimit limit(100);  // 30 points of accuracy for one point of violation
  EXPECT_DOUBLE_EQ(limit.Solve(5.0).total_violation, 0.01);
  const Calibration found = limit.Solve({});
  EXPECT_EQ(found.total_violation, 0.0);
  EXPECT_DOUBLE_EQ(found.cost, 0.5);
  EXPECT_EQ(found.rho, 50.0);
}

TEST(DefaultRho, GivesUpOnlyWhatCostsMoreThanFifty) {
  const CostlyLimit limit(1000);  // 5.4 points of accuracy for a tenth of a point of violation
  const Calibration found = limit.Solve({});
  EXPECT_DOUBLE_EQ(found.total_violation, 0.001);
  EXPECT_EQ(found.rho, 50.0);
  EXPECT_EQ(limit.Solve(100.0).total_violation, 0.0);
}

// Also where the bound lies between two attainable rates and the lower one is too dear.
TEST(DefaultRho, ATighterBoundNeverEndsAtALooserRate) {
  const test::ScoredRows data = test::RandomScoredRows({"no", "yes"}, 300, false, false, 17);
  const Calibrator calibrator(data.scores, data.rows);
  double before = 1.0;
  for (int bound = 300; bound >= 0; --bound) {
    const std::string text = "fpr <= " + std::to_string(0.1 * bound) + "%";
    const RateProblem problem(test::ParseAll({text}), ParseObjective("recall"), data.rows);
    const double rate = calibrator.Solve(problem).measurements[0].value;
    EXPECT_LE(rate, before) << text;
    before = rate;
  }
}

struct DefaultCase {
  std::vector<std::string> classes, templates;
};

// With what a caller could have found by hand, on random problems.
void CompareWithBothRhos(const DefaultCase& what, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const test::ScoredRows data = test::RandomScoredRows(what.classes, 60, false, false, seed);
  const auto problem =
      test::TryProblem(test::RandomTexts(what.templates, random), "balanced_error", data.rows);
  if (!problem) return;
  const Calibration found = Calibrate(data.scores, *problem);
  const double rho = DefaultRho(*problem);
  const Calibration lenient = Calibrate(data.scores, *problem, {.rho = rho});
  const Calibration insisting = Calibrate(data.scores, *problem, {.rho = 10.0 * rho});
  const bool can_hold = Calibrate(data.scores, *problem, {.rho = 1e9}).total_violation == 0.0;
  bool breaks_gaps = false;
  for (const Measurement& limit : lenient.measurements) {
    breaks_gaps = breaks_gaps || (!limit.satisfied && limit.text.starts_with("gap"));
  }
  const bool by_ten = lenient.total_violation > 0.0 && can_hold && !breaks_gaps;
  const Calibration& expected = by_ten ? insisting : lenient;
  EXPECT_EQ(found.adjustment.offsets, expected.adjustment.offsets);
  EXPECT_EQ(found.total_violation, expected.total_violation);
  EXPECT_EQ(found.rho, expected.rho);
}

TEST(DefaultRho, IsOneOfTwoOnRandomProblems) {
  const DefaultCase binary = {.classes = {"no", "yes"},
                              .templates = {"fnr <= {}", "fpr <= {}", "precision >= {}"}};
  const DefaultCase three = {.classes = {"a", "b", "c"},
                             .templates = {"error(class=a) <= {}", "error(class=b) <= {}"}};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CompareWithBothRhos(binary, seed);
    if (seed <= 40) CompareWithBothRhos(three, seed);
  }
}

TEST(DefaultRho, DoesNotInsistWhereGapsAreBroken) {
  const std::vector<std::string> gaps = {"gap(error, by=sex) <= {}",
                                         "gap(selection_rate, by=sex) <= {}"};
  std::vector<std::string> both = {"fnr <= {}", "fpr <= {}", "max(fnr, by=sex) <= {}"};
  both.insert(both.end(), gaps.begin(), gaps.end());
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CompareWithBothRhos({.classes = {"no", "yes"}, .templates = gaps}, seed);
    CompareWithBothRhos({.classes = {"no", "yes"}, .templates = both}, seed);
  }
}

// Where a search is not exhaustive, insisting must not end it early.
TEST(DefaultRho, InsistsAsThoroughlyAsIfItHadBeenAsked) {
  int insisted = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const test::ScoredRows data =
        test::RandomScoredRows({"a", "b", "c", "d", "e"}, 300, false, false, seed);
    const RateProblem problem(
        test::ParseAll({"precision(predicted=a) >= 85%", "error(class=b) <= 10%"}),
        ParseObjective("accuracy"), data.rows);
    const Calibrator calibrator(data.scores, data.rows);
    const Calibration chosen = calibrator.Solve(problem);
    if (chosen.rho != 50.0) continue;
    ++insisted;
    EXPECT_LE(chosen.merit, calibrator.Solve(problem, {.rho = 50.0}).merit + 1e-12) << seed;
  }
  EXPECT_GE(insisted, 3);
}

TEST(ComparesGroups, IsAboutGroupsHeldAgainstEachOther) {
  for (const char* text :
       {"gap(error, by=sex) <= 1%", "ratio(selection_rate, by=(sex, race)) >= 80%",
        "fpr(sex=F) - fpr(sex=M) <= 1%", "error(sex=F) - error <= 3%"}) {
    EXPECT_TRUE(NamesGroups(ParseConstraint(text))) << text;
    EXPECT_TRUE(ComparesGroups(ParseConstraint(text))) << text;
  }
  for (const char* text : {"max(fnr, by=sex) <= 5%", "fpr(sex=F) <= 1%",
                           "0.5 * fnr(sex=F) + 0.5 * fnr(sex=M) <= 5%"}) {
    EXPECT_TRUE(NamesGroups(ParseConstraint(text))) << text;
    EXPECT_FALSE(ComparesGroups(ParseConstraint(text))) << text;
  }
  for (const char* text : {"fnr <= 5%", "fnr - fpr <= 1%", "gap(error, by=class) <= 1%"}) {
    EXPECT_FALSE(NamesGroups(ParseConstraint(text))) << text;
    EXPECT_FALSE(ComparesGroups(ParseConstraint(text))) << text;
  }
}

}  // namespace
}  // namespace bregboost
