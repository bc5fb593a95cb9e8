// Derivatives without constraints, bit for bit as in the stock libraries. The formulas below are
// written after LightGBM 4.x (binary_objective.hpp, multiclass_objective.hpp,
// regression_objective.hpp) and XGBoost 2.x and 3.x (regression_loss.h, multiclass_obj.cu).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "boosting_pass_problems.h"

namespace bregboost::test {
namespace {

struct Pair {
  float gradient, hessian;
};

Pair LightGbmBinary(int is_positive, double score, float weight) {
  const int label = is_positive != 0 ? 1 : -1;
  const double response = -label * 1.0 / (1.0 + std::exp(label * 1.0 * score));
  const double abs_response = std::fabs(response);
  return {
      static_cast<float>(response * 1.0 * static_cast<double>(weight)),
      static_cast<float>(abs_response * (1.0 - abs_response) * 1.0 * static_cast<double>(weight))};
}

std::vector<Pair> LightGbmSoftmax(std::size_t label, std::vector<double> rec, double factor,
                                  float weight) {
  double wmax = rec[0];
  for (std::size_t k = 1; k < rec.size(); ++k) wmax = std::max(rec[k], wmax);
  double wsum = 0.0;
  for (double& value : rec) {
    value = std::exp(value - wmax);
    wsum += value;
  }
  for (double& value : rec) value /= wsum;
  std::vector<Pair> result;
  for (std::size_t k = 0; k < rec.size(); ++k) {
    const double p = rec[k];
    const double towards = label == k ? p - 1.0 : p;
    result.push_back({static_cast<float>(towards * static_cast<double>(weight)),
                      static_cast<float>((factor * p * (1.0 - p)) * static_cast<double>(weight))});
  }
  return result;
}

Pair LightGbmL2(float target, double score, float weight) {
  const auto residual = static_cast<float>(score - static_cast<double>(target));
  return {residual * weight, weight};
}

Pair XgboostLogistic(float label, float margin, float weight) {
  constexpr float kEps = 1e-16F;
  const float x = std::min(-margin, 88.7F);
  const float denominator = expf(x) + 1.0F + kEps;
  const float p = 1.0F / denominator;
  return {(p - label) * weight, std::fmax(p * (1.0F - p), kEps) * weight};
}

std::vector<Pair> XgboostSoftmax(std::size_t label, const std::vector<float>& point, float weight) {
  float wmax = std::numeric_limits<float>::min();
  for (const float value : point) wmax = std::fmax(value, wmax);
  double wsum = 0.0;
  for (const float value : point) wsum += static_cast<double>(expf(value - wmax));
  std::vector<Pair> result;
  for (std::size_t k = 0; k < point.size(); ++k) {
    const float p = expf(point[k] - wmax) / static_cast<float>(wsum);
    const float h = std::fmax(2.0F * p * (1.0F - p) * weight, 1e-16F);
    result.push_back({(label == k ? p - 1.0F : p) * weight, h});
  }
  return result;
}

// Plain, and with the far ends of what scores can be.
std::vector<double> WideScores(const RowData& rows) {
  std::vector<double> values = RandomScores(rows, 3.0, 1);
  values[0] = 1e4;
  values[1] = -1e4;
  values[2] = 0.0;
  values[3] = 60.0;
  values[4] = -60.0;
  return values;
}

float WeightOf(const RowData& rows, std::size_t i) { return static_cast<float>(rows.weight(i)); }

class NativeGradients : public ::testing::TestWithParam<Weights> {};

TEST_P(NativeGradients, LogLoss) {
  const RowData rows = PassRows(2, 3000, GetParam(), 2);
  const Objective objective(rows, {});
  const detail::BoostingPass pass(objective, {});
  const auto lightgbm = Typed(WideScores(rows), rows.num_rows(), kLightGbm);
  const auto xgboost = Typed(WideScores(rows), rows.num_rows(), kXgboost);
  const Derivatives doubles = Derive(pass, {}, lightgbm->view());
  const Derivatives floats = Derive(pass, {}, xgboost->view());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const double score = lightgbm->ClassMajor()[i];
    const std::int32_t label = rows.labels.codes[i];
    const Pair a = LightGbmBinary(label, score, WeightOf(rows, i));
    EXPECT_EQ(doubles.gradient[i], a.gradient);
    EXPECT_EQ(doubles.hessian[i], a.hessian);
    const Pair b =
        XgboostLogistic(static_cast<float>(label), static_cast<float>(score), WeightOf(rows, i));
    EXPECT_EQ(floats.gradient[i], b.gradient);
    EXPECT_EQ(floats.hessian[i], b.hessian);
  }
}

TEST_P(NativeGradients, Softmax) {
  for (const std::size_t num_classes : {3UL, 7UL}) {
    const RowData rows = PassRows(num_classes, 1000, GetParam(), 3);
    const Objective objective(rows, {});
    const auto k_classes = static_cast<double>(num_classes);
    const double factor = k_classes / (k_classes - 1.0);
    const detail::BoostingPass of_lightgbm(objective, {.softmax_hessian_factor = factor});
    const detail::BoostingPass of_xgboost(objective, {.softmax_hessian_factor = 2.0});
    std::vector<double> values = WideScores(rows);
    values[0] = values[1] = 90.0;  // XGBoost's softmax has no room for -1e4
    const auto lightgbm = Typed(values, rows.num_rows(), kLightGbm);
    const auto xgboost = Typed(values, rows.num_rows(), kXgboost);
    const Derivatives doubles = Derive(of_lightgbm, {}, lightgbm->view());
    const Derivatives floats = Derive(of_xgboost, {}, xgboost->view());
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      std::vector<double> row;
      for (std::size_t k = 0; k < num_classes; ++k) row.push_back(ScoreOf(rows, values, k, i));
      const auto label = static_cast<std::size_t>(rows.labels.codes[i]);
      const std::vector<Pair> a = LightGbmSoftmax(label, row, factor, WeightOf(rows, i));
      const std::vector<Pair> b =
          XgboostSoftmax(label, std::vector<float>(row.begin(), row.end()), WeightOf(rows, i));
      for (std::size_t k = 0; k < num_classes; ++k) {
        EXPECT_EQ(doubles.gradient[lightgbm->IndexOf(i, k)], a[k].gradient);
        EXPECT_EQ(doubles.hessian[lightgbm->IndexOf(i, k)], a[k].hessian);
        EXPECT_EQ(floats.gradient[xgboost->IndexOf(i, k)], b[k].gradient);
        EXPECT_EQ(floats.hessian[xgboost->IndexOf(i, k)], b[k].hessian);
      }
    }
  }
}

TEST_P(NativeGradients, SquaredLoss) {
  RowData rows = RegressionRows(1000, 4);
  rows.rate_weights.clear();
  if (GetParam() == Weights::kNone) rows.weights.clear();
  const Objective objective(rows, {.loss = {.kind = LossKind::kSquared}});
  const detail::BoostingPass pass(objective, {});
  const auto lightgbm = Typed(WideScores(rows), rows.num_rows(), kLightGbm);
  const auto xgboost = Typed(WideScores(rows), rows.num_rows(), kXgboost);
  const Derivatives doubles = Derive(pass, {}, lightgbm->view());
  const Derivatives floats = Derive(pass, {}, xgboost->view());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const auto target = static_cast<float>(rows.targets[i]);
    const double score = lightgbm->ClassMajor()[i];
    const Pair a = LightGbmL2(target, score, WeightOf(rows, i));
    EXPECT_EQ(doubles.gradient[i], a.gradient);
    EXPECT_EQ(doubles.hessian[i], a.hessian);
    EXPECT_EQ(floats.gradient[i], (static_cast<float>(score) - target) * WeightOf(rows, i));
    EXPECT_EQ(floats.hessian[i], WeightOf(rows, i));
  }
  // f is the mean of r^2, the libraries' loss r^2 / 2.
  ExpectSame(doubles, ReferenceOf(objective, {}, *lightgbm), *lightgbm, 1e-6);
}

TEST_P(NativeGradients, AreTheFactorTimesPsi) {
  for (const std::size_t num_classes : {2UL, 4UL}) {
    const RowData rows = PassRows(num_classes, 500, GetParam(), 5);
    const Objective objective(rows, {});
    const detail::BoostingPass pass(objective, {});
    const detail::Lagrangian lagrangian{.objective_weight = 0.25};
    for (const Layout& layout : kLayouts) {
      const auto scores = Typed(RandomScores(rows, 2.0, 6), rows.num_rows(), layout);
      ExpectSame(Derive(pass, lagrangian, scores->view()),
                 ReferenceOf(objective, lagrangian, *scores), *scores, 1e-5, 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, NativeGradients,
                         ::testing::Values(Weights::kNone, Weights::kLoss),
                         [](const auto& instance) {
                           return instance.param == Weights::kNone ? "Unweighted" : "Weighted";
                         });

TEST(NativeGradientsOfNan, AreNan) {
  for (const std::size_t num_classes : {2UL, 3UL}) {
    const RowData rows = PassRows(num_classes, 300, Weights::kNone, 7);
    const Objective objective(rows, {});
    const detail::BoostingPass pass(objective, {});
    for (const Layout& layout : kLayouts) {
      std::vector<double> values = RandomScores(rows, 2.0, 8);
      values[17] = std::numeric_limits<double>::quiet_NaN();
      const auto scores = Typed(values, rows.num_rows(), layout);
      const Derivatives derived = Derive(pass, {}, scores->view());
      for (std::size_t k = 0; k < rows.num_scores(); ++k) {
        EXPECT_TRUE(std::isnan(derived.gradient[scores->IndexOf(17, k)]));
        EXPECT_TRUE(std::isnan(derived.hessian[scores->IndexOf(17, k)]));
        EXPECT_TRUE(std::isfinite(derived.gradient[scores->IndexOf(18, k)]));
      }
    }
  }
}

}  // namespace
}  // namespace bregboost::test
