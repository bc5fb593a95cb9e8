// What JSON says about rates, against counts over the unseen rows.
#include "bregboost/report/fit_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/problem/parser.h"
#include "generated_data.h"

namespace bregboost {
namespace {

using nlohmann::json;
using namespace testing;  // NOLINT: the data

std::vector<Constraint> Parse(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

class FitJson : public ::testing::Test {
 protected:
  AutoFit Fit(const std::vector<std::string>& limits, const FitOptions& options = {}) const {
    return AutoFit::Linear({.training = {features_, data_.rows}}, Parse(limits), {}, options);
  }

  // How many rows of a label (-1: any) and a group (-1: any) there are, and how many of them are
  // misjudged by scores / temperature + offset.
  struct Tally {
    std::int64_t rows = 0, errors = 0;
  };
  static Tally Count(const AutoFit& fit, int label, int group, const ModelAdjustment& adjustment) {
    const RowData& rows = fit.unseen_rows();
    Tally tally;
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      if (label >= 0 && rows.labels.codes[i] != label) continue;
      if (group >= 0 && rows.groups[0].codes[i] != group) continue;
      const double offset = adjustment.offsets.empty() ? 0.0 : adjustment.offsets[0];
      const double score = fit.UnseenScores()[i] / adjustment.temperature + offset;
      ++tally.rows;
      if ((score > 0.0 ? 1 : 0) != rows.labels.codes[i]) ++tally.errors;
    }
    return tally;
  }

  static void ExpectRate(const json& told, const Tally& tally) {
    const double share = static_cast<double>(tally.errors) / static_cast<double>(tally.rows);
    EXPECT_NEAR(told.at("value").get<double>(), share, 1e-12);
    EXPECT_EQ(told.at("rows"), tally.rows);
    EXPECT_EQ(told.at("interval").at(0), BinomialLowerBound(tally.errors, tally.rows, 0.025));
    EXPECT_EQ(told.at("interval").at(1), BinomialUpperBound(tally.errors, tally.rows, 0.025));
  }

  GeneratedData data_ = TwoGroups(800, 21);
  FeatureMatrix features_ = FeatureMatrix::DenseRowMajor(data_.features, 800, data_.num_features);
};

TEST_F(FitJson, CountsTheRowsOfEveryRate) {
  const AutoFit fit = Fit({"fnr <= 20%", "gap(error, by=group) <= 30%", "fnr + fpr <= 90%"});
  const json told = json::parse(ToJson(fit.report()));
  const ModelAdjustment& adjustment = fit.report().adjustment;
  const json& limits = told.at("constraints");
  ExpectRate(limits.at(0), Count(fit, 1, -1, adjustment));
  const json& groups = limits.at(1).at("groups");
  ASSERT_EQ(groups.size(), 2);
  for (int group = 0; group < 2; ++group) {
    ExpectRate(groups.at(static_cast<std::size_t>(group)), Count(fit, -1, group, adjustment));
  }
  EXPECT_FALSE(limits.at(1).contains("interval"));  // a gap is no share of rows
  EXPECT_TRUE(limits.at(2).at("interval").is_null());
  EXPECT_EQ(limits.at(2).at("rows"), 800);
}

TEST_F(FitJson, MarksRatesThatAreTooSmall) {
  const AutoFit fit = Fit({"fnr <= 0.1%", "fnr <= 20%"});
  const json limits = json::parse(ToJson(fit.report())).at("constraints");
  EXPECT_EQ(limits.at(0).at("small"), true);  // fewer than 1,000 positives
  EXPECT_EQ(limits.at(1).at("small"), false);
}

TEST_F(FitJson, ComparesWithTheDecisionWithoutOffsets) {
  const AutoFit fit = Fit({"fnr <= 5%"});
  ASSERT_TRUE(fit.report().unlimited.has_value());
  const json told = json::parse(ToJson(*fit.report().unlimited));
  const Tally all = Count(fit, -1, -1, {});
  EXPECT_NEAR(told.at("objective").get<double>(),
              1.0 - static_cast<double>(all.errors) / static_cast<double>(all.rows), 1e-12);
  ExpectRate(told.at("constraints").at(0), Count(fit, 1, -1, {}));
  EXPECT_GT(told.at("objective"), fit.report().objective_value);
}

// Limits on groups change the training, so the decision without them is another training's.
TEST_F(FitJson, ComparesWithAPlainTrainingWhereLimitsChangeTheModel) {
  const std::vector<std::string> limits = {"gap(selection_rate, by=group) <= 2%"};
  EXPECT_FALSE(Fit(limits).report().unlimited.has_value());
  FitOptions plain;
  plain.solver.path = TrainingPath::kCalibration;
  const AutoFit fit = Fit(limits, plain);
  ASSERT_TRUE(fit.report().unlimited.has_value());
  const Tally all = Count(fit, -1, -1, {});
  EXPECT_NEAR(fit.report().unlimited->objective,
              1.0 - static_cast<double>(all.errors) / static_cast<double>(all.rows), 1e-12);
}

TEST_F(FitJson, ComparesNumericTargetsWithAPlainTraining) {
  const GeneratedData line = NoisyLine(300, 5);
  const FeatureMatrix features = FeatureMatrix::DenseRowMajor(line.features, 300, 2);
  FitOptions plain;
  plain.solver.path = TrainingPath::kCalibration;
  const AutoFit fit = AutoFit::Linear({.training = {features, line.rows}},
                                      Parse({"max(loss, by=group) <= 0.3"}), {}, plain);
  ASSERT_TRUE(fit.report().unlimited.has_value());
  EXPECT_EQ(fit.report().unlimited->objective, fit.report().objective_value);
  EXPECT_FALSE(fit.report().rates.at(0).at(0).interval.has_value());
  EXPECT_EQ(fit.report().rates.at(0).at(0).rows + fit.report().rates.at(0).at(1).rows, 300);
}

TEST_F(FitJson, TellsRatesAndPricesOfEveryPointOfAFrontier) {
  const std::vector<Constraint> limits = Parse({"fnr <= 10%", "max(fpr, by=group) <= 95%"});
  FitOptions options;
  options.solver.path = TrainingPath::kCalibration;
  const Frontier frontier = SweepLinear({.training = {features_, data_.rows}}, limits, {}, options,
                                        {.constraint = 0, .bounds = {0.05, 0.10, 0.20}});
  const json told = json::parse(ToJson(frontier));
  EXPECT_EQ(told.at("swept"), "bound");
  EXPECT_EQ(told.at("constraint"), 0);
  ASSERT_EQ(told.at("points").size(), 3);
  const AutoFit fit = AutoFit::Linear({.training = {features_, data_.rows}}, limits, {}, options);
  for (std::size_t p = 0; p < 3; ++p) {
    const json& point = told.at("points").at(p);
    const ModelAdjustment& adjustment = frontier.points[p].adjustment;
    ExpectRate(point.at("measurements").at(0), Count(fit, 1, -1, adjustment));
    const json& groups = point.at("measurements").at(1).at("groups");
    for (int group = 0; group < 2; ++group) {
      ExpectRate(groups.at(static_cast<std::size_t>(group)), Count(fit, 0, group, adjustment));
    }
    ASSERT_EQ(point.at("prices").size(), 2);
    EXPECT_EQ(point.at("prices").at(0).at("text"), point.at("measurements").at(0).at("text"));
  }
  // A tighter bound is the dearer one.
  EXPECT_GT(told.at("points").at(0).at("prices").at(0).at("price"),
            told.at("points").at(2).at("prices").at(0).at("price"));
}

}  // namespace
}  // namespace bregboost
