// The paper's solvers as one call: what they train, against the parts they are made of.
#include "bregboost/pipeline/paper_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "boosted_kits.h"
#include "bregboost/problem/parser.h"
#include "bregboost/report/fit_json.h"
#include "error_text.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

template <class Kit>
class PaperFitTest : public GbmTest<typename Kit::Api> {
 protected:
  using Dataset = typename Kit::Dataset;

  static GbmParameters Parameters() {
    GbmParameters parameters = Kit::Parameters();
    parameters.emplace(Kit::kNumTrees, "15");
    return parameters;
  }
  static Dataset Binned(const GeneratedData& data) {
    return Dataset::FromArray(FeatureArray::RowMajor(std::span<const double>(data.features),
                                                     data.rows.num_rows(), data.num_features),
                              Parameters());
  }
  static PaperFit Fit(const FitData<Dataset>& data, const std::vector<Constraint>& constraints,
                      const PaperOptions& options, const SolveHooks& hooks = {}) {
    const BoostedOptions boosting{.parameters = Parameters()};
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return PaperFit::LightGbm(data, constraints, boosting, options, hooks);
    } else {
      return PaperFit::Xgboost(data, constraints, boosting, options, hooks);
    }
  }
};

using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(PaperFitTest, Kits);

TYPED_TEST(PaperFitTest, WithoutConstraintsIsTheStockTraining) {
  const GeneratedData data = TwoGroups(800, 1);
  const auto dataset = this->Binned(data);
  const PaperFit fit = this->Fit({.training = {dataset, data.rows}}, {}, {});
  const std::string stock = TypeParam::NativeModel(dataset, data.rows, this->Parameters(), 15);
  EXPECT_LT(
      LargestDifference(TypeParam::Predict(fit.Model(), data), TypeParam::Predict(stock, data)),
      1e-6);
  EXPECT_EQ(fit.report().training_rows, 800);
  EXPECT_TRUE(fit.report().multipliers.empty());
}

// A round cannot be made shorter by smaller steps, so none is made twice: limits cost no trees.
TYPED_TEST(PaperFitTest, GrowsOneTreeForEveryStep) {
  const GeneratedData data = TwoGroups(2000, 7);
  const auto dataset = this->Binned(data);
  for (const char* limit : {"fnr <= 1%", "fnr <= 10%", "gap(fnr, by=group) <= 2%"}) {
    const PaperFit fit =
        this->Fit({.training = {dataset, data.rows}}, {ParseConstraint(limit)}, {});
    for (const IterationStats& row : fit.report().history) {
      EXPECT_EQ(row.evaluations, row.k) << limit;
    }
  }
}

TYPED_TEST(PaperFitTest, IsTheSolverOnOneBooster) {
  const GeneratedData data = TwoGroups(800, 2);
  const auto dataset = this->Binned(data);
  const std::vector<Constraint> limits = {ParseConstraint("fnr <= 10%")};
  const PaperFit fit = this->Fit({.training = {dataset, data.rows}}, limits, {});

  const Objective objective(data.rows, {});
  RateConstraints constraints(limits, data.rows);
  const auto learner = TypeParam::Learner(dataset, objective, {.parameters = this->Parameters()});
  const AbppResult result = SolveAbpp(*learner, constraints, AbppOfSteps({}, 15));
  EXPECT_EQ(fit.report().multipliers, result.multipliers);
  EXPECT_EQ(fit.Model(), learner->Model());
  ASSERT_EQ(fit.report().history.size(), result.history.size());
  EXPECT_EQ(fit.report().history.back().multipliers, result.history.back().multipliers);
  EXPECT_EQ(fit.report().measurements[0].value, constraints.Measure(learner->scores())[0].value);
  ASSERT_EQ(fit.report().history.back().values.size(), 1);
  EXPECT_EQ(fit.report().history.back().values[0], fit.report().measurements[0].value);
  EXPECT_GT(fit.report().multipliers[0], 0.0);

  const auto told = nlohmann::json::parse(ToJson(fit.report(), limits));
  EXPECT_EQ(told["solver"], "abpp");
  EXPECT_EQ(told["constraints"][0]["bound"], 0.1);
  EXPECT_EQ(told["history"].size(), result.history.size());
}

TYPED_TEST(PaperFitTest, StopsWhenAsked) {
  const GeneratedData data = TwoGroups(400, 3);
  const auto dataset = this->Binned(data);
  SolveHooks hooks;
  hooks.on_iteration = [](const IterationStats& stats) { return stats.k < 4; };
  const PaperFit fit =
      this->Fit({.training = {dataset, data.rows}}, {ParseConstraint("fnr <= 10%")}, {}, hooks);
  EXPECT_EQ(fit.report().reason, TerminationReason::kInterrupted);
  EXPECT_EQ(TypeParam::NumRounds(fit.Model()), 4);
  EXPECT_EQ(ErrorOf([&] { fit.Coefficients(); }),
            "coefficients: of a boosted fit; allowed: its model");
}

TEST(PaperFitLinear, IsTheSolverOnOneModel) {
  const GeneratedData data = TwoGroups(500, 4);
  const FeatureMatrix features =
      FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features);
  const std::vector<Constraint> limits = {ParseConstraint("fnr <= 20%")};
  PaperOptions options;
  options.surrogate.kind = SurrogateKind::kLogisticBase2;
  const PaperFit fit =
      PaperFit::Linear({.training = {features, data.rows}}, limits, {.l2 = 1e-2}, options);
  EXPECT_EQ(fit.report().reason, TerminationReason::kConverged);
  EXPECT_TRUE(fit.report().measurements[0].satisfied);  // the surrogate is an upper bound
  EXPECT_EQ(fit.Coefficients().coefficients.rows(), 4);
  EXPECT_EQ(ErrorOf([&] { fit.Model(); }), "model: of a linear fit; allowed: its coefficients");
  options.use_average = true;
  options.solver = PaperSolver::kCbpr;
  EXPECT_THROW(PaperFit::Linear({.training = {features, data.rows}}, limits, {.l2 = 1e-2}, options),
               std::invalid_argument);
}

TEST(CbprOfSteps, NeedsInnerSteps) {
  EXPECT_EQ(ErrorOf([] { CbprOfSteps({.inner_steps = 0}, 10); }),
            "inner_steps: 0; allowed: at least 1");
}

}  // namespace
}  // namespace bregboost
