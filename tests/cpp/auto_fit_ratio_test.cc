// Limits on ratios: what they rest on.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "auto_fit_kit.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

// Positives are rare, and the later a group in the alphabet the less so.
GeneratedData RareAmongFourGroups(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  GeneratedData data;
  data.num_features = 3;
  std::vector<std::string> labels, groups;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t group = random() % 4;
    const double merit = normal(random), giveaway = 0.7 * static_cast<double>(group);
    data.features.insert(data.features.end(), {merit, giveaway + normal(random), normal(random)});
    const double p = 1.0 / (1.0 + std::exp(-(2.5 * merit + giveaway - 4.5)));
    labels.emplace_back(uniform(random) < p ? "1" : "0");
    groups.emplace_back(1, static_cast<char>('a' + group));
  }
  data.rows.labels = EncodeColumn("label", labels);
  data.rows.groups.push_back(EncodeColumn("group", groups));
  return data;
}

template <class Kit>
class AutoFitRatio : public AutoFitTest<Kit> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(AutoFitRatio, Kits);

// Selection is rare and four groups differ in it: a ratio is to be held as for two, not put down to
// few rows, and not by selecting next to nobody, where any ratio is luck.
TYPED_TEST(AutoFitRatio, RatiosAreHeldAmongSeveralGroups) {
  const GeneratedData data = RareAmongFourGroups(4000, 31), fresh = RareAmongFourGroups(40'000, 32);
  const std::string limit = "ratio(selection_rate, by=group) >= 80%";
  const AutoFit fit = this->Fit(data, {limit}, {});
  const Measurement& measured = fit.report().unseen.measurements[0];
  EXPECT_TRUE(measured.satisfied);
  EXPECT_TRUE(fit.report().unseen.notes.empty());
  for (const auto& [group, rate] : measured.groups) EXPECT_GT(rate, 0.02) << group;
  EXPECT_GT(this->OnFreshRows(fit, fresh, {limit})[0].value, 0.65);
}

// What a ratio of a handful of rows is worth is said: without a margin some decision holds it by
// luck.
TYPED_TEST(AutoFitRatio, RatiosOfAHandfulOfRowsAreNoted) {
  GeneratedData data = TwoGroups(1500, 33);
  std::size_t positives = 0;
  for (std::int32_t& label : data.rows.labels.codes) {
    if (label == 1 && positives++ % 12 != 0) label = 0;
  }
  FitOptions options;
  options.solver.training.margin = 0.0;
  const AutoFit fit = this->Fit(data, {"ratio(selection_rate, by=group) >= 80%"}, options);
  const Measurement& measured = fit.report().unseen.measurements[0];
  ASSERT_TRUE(measured.satisfied);
  for (const auto& [group, rate] : measured.groups) ASSERT_LT(rate, 0.01) << group;
  const std::vector<std::string>& notes = fit.report().unseen.notes;
  ASSERT_EQ(notes.size(), 1);
  EXPECT_NE(notes[0].find("so few rows show no ratio: its standard error is"), std::string::npos);
}

}  // namespace
}  // namespace bregboost
