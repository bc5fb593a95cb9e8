// Certificates of many constraints and of many decisions, simulated with known true rates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bregboost/certify/fixed_sequence.h"
#include "certify_scenarios.h"

namespace bregboost {
namespace {

using simulation::CountCertified;
using simulation::MostOf;
using simulation::Random;
using simulation::RowPlan;
using simulation::Sample;
using simulation::Scenario;
using simulation::Tally;

constexpr std::size_t kSets = 2000;
constexpr double kLimit = 0.2;

// Misses and false alarms of ten groups: 20 limits on disjoint rows.
Scenario TwentyLimits() {
  Scenario scenario{.rows = 600, .sexes = {}};
  for (int group = 0; group < 10; ++group) {
    scenario.sexes.push_back(fmt::format("g{}", group));
    scenario.constraints.push_back(fmt::format("fnr(sex=g{}) <= 20%", group));
    scenario.constraints.push_back(fmt::format("fpr(sex=g{}) <= 20%", group));
  }
  scenario.plan = [](double level, Random& random) -> RowPlan {
    return {.label = simulation::Uniform(2, random),
            .sex = simulation::Uniform(10, random),
            .error_rate = kLimit * level};
  };
  return scenario;
}

TEST(ManyLimits, AreAllTrueWhereTheyAreClaimedTogether) {
  const Scenario scenario = TwentyLimits();
  EXPECT_LE(static_cast<double>(CountCertified(scenario, kSets)),
            MostOf(kSets, scenario.options.delta));
}

// All others are so good that the claim stands and falls with the one at the limit: the whole of
// delta is there to be used up, and most of it is.
TEST(ManyLimits, OneThatIsFalseAmongManyIsNotLost) {
  Scenario scenario = TwentyLimits();
  scenario.plan = [](double level, Random& random) -> RowPlan {
    const std::int32_t label = simulation::Uniform(2, random),
                       sex = simulation::Uniform(10, random);
    const bool limited = label == 1 && sex == 3;
    return {.label = label, .sex = sex, .error_rate = limited ? kLimit * level : 0.0};
  };
  const auto certified = static_cast<double>(CountCertified(scenario, kSets));
  EXPECT_LE(certified, MostOf(kSets, scenario.options.delta));
  EXPECT_GE(certified, 0.3 * scenario.options.delta * kSets);
}

// Verdicts that are claims of their own: with all 20 at the limit, any that is certified is false,
// and so is any that is called violated.
TEST(ManyLimits, VerdictsOfTheirOwnShareDelta) {
  Scenario scenario = TwentyLimits();
  scenario.options.joint = false;
  scenario.rows = 1000;  // without an error, 30 rows show 20% at delta / 20
  const Tally tally = simulation::Simulate(scenario, scenario.rows, /*level=*/1.0, kSets);
  const double most = MostOf(kSets, scenario.options.delta);
  EXPECT_LE(static_cast<double>(tally.any_certified), most);
  EXPECT_LE(static_cast<double>(tally.any_violated), most);
  EXPECT_GE(tally.any_certified + tally.any_violated, 1U);
}

// Limits of all kinds on the same rows, so that their tests depend on each other; one is false.
TEST(ManyLimits, OfAllKindsOnTheSameRows) {
  const std::vector<std::string> slack = {
      "error <= 40%",
      "accuracy >= 60%",
      "fpr <= 40%",
      "tnr >= 60%",
      "error(sex=F) <= 50%",
      "error(sex=M) <= 50%",
      "fpr(sex=F, age=old) <= 70%",
      "selection_rate <= 80%",
      "selection_rate(sex=M) >= 20%",
      "selection_rate(predicted=no) <= 80%",
      "precision >= 50%",
      "precision(sex=F) >= 40%",
      "churn <= 20%",
      "gap(churn, by=sex) <= 30%",
      "gap(error, by=sex) <= 50%",
      "max(error, by=(sex, age)) <= 70%",
      "min(tpr, by=age) >= 50%",
      "balanced_error <= 50%",
      "fnr(sex=F) - fnr(sex=M) <= 60%",
  };
  Scenario scenario{.rows = 300};
  scenario.constraints = slack;
  scenario.constraints.insert(scenario.constraints.begin() + 7, "fnr <= 10%");
  ASSERT_EQ(scenario.constraints.size(), 20U);
  scenario.plan = [](double level, Random& random) -> RowPlan {
    return {.label = simulation::Uniform(2, random),
            .sex = simulation::Uniform(2, random),
            .age = simulation::Uniform(2, random),
            .error_rate = 0.1 * level,
            .churn_rate = 0.02};
  };
  const auto certified = static_cast<double>(CountCertified(scenario, kSets));
  EXPECT_LE(certified, MostOf(kSets, scenario.options.delta));
  EXPECT_GE(certified, 0.3 * scenario.options.delta * kSets);
}

// Twenty decisions from cautious to bold; the last ten break the limit, the first of them by
// nothing. However many are tested, what is deployed is false in at most delta of the cases.
TEST(ManyDecisions, TheOneThatIsDeployedKeepsTheLimit) {
  constexpr std::size_t kPoints = 20, kRows = 200;
  const auto error_rate = [](std::size_t point) {
    return kLimit * (static_cast<double>(point) / 10.0);  // point 10 is at the limit
  };
  const std::vector<Constraint> limits = {ParseConstraint("error <= 20%")};
  std::size_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= kSets; ++seed) {
    Random random(seed);
    RowData rows;
    rows.labels = {.name = "label", .levels = {"no", "yes"}, .codes = {}};
    std::vector<double> luck;  // a row is wrong at all decisions from some point on
    for (std::size_t i = 0; i < kRows; ++i) {
      rows.labels.codes.push_back(simulation::Uniform(2, random));
      luck.push_back(std::uniform_real_distribution<double>(0.0, 1.0)(random));
    }
    const auto predictions = [&](std::size_t point) {
      Predictions decided;
      for (std::size_t i = 0; i < kRows; ++i) {
        const bool is_wrong = luck[i] < error_rate(point);
        decided.classes.push_back(is_wrong ? 1 - rows.labels.codes[i] : rows.labels.codes[i]);
      }
      return decided;
    };
    const PathCertificate path = CertifyPath(kPoints, predictions, rows, limits);
    if (path.deployed && *path.deployed >= 10) ++wrong;
  }
  const CertifyOptions defaults;
  EXPECT_LE(static_cast<double>(wrong), MostOf(kSets, defaults.delta));
  EXPECT_GE(static_cast<double>(wrong), 0.3 * defaults.delta * kSets);
}

}  // namespace
}  // namespace bregboost
