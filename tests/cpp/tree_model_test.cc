#include "bregboost/model/tree_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/detail/export_plan.h"
#include "model_texts.h"

namespace bregboost {
namespace {

using detail::CheckExport;
using detail::ExportPlan;
using detail::PlanExport;
using testing::Contains;
using testing::MessageOf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string ErrorOf(const std::vector<ModelPart>& parts, const ExportSpec& spec) {
  return MessageOf([&] { CheckExport(parts, spec); });
}

TEST(TreeModel, FieldsOutOfRangeAreNamed) {
  const std::vector<ModelPart> parts(2);
  EXPECT_EQ(ErrorOf(parts, {}), "no error");
  EXPECT_EQ(ErrorOf({}, {}), "parts: none; allowed: at least 1");
  EXPECT_EQ(ErrorOf(parts, {.num_scores = 2}), "num_scores: 2 for binary; allowed: 1");
  EXPECT_EQ(ErrorOf(parts, {.objective = ModelObjective::kMulticlass}),
            "num_scores: 1 for multiclass; allowed: at least 2");
  EXPECT_EQ(ErrorOf(parts, {.inverse_temperature = 0.0}),
            "inverse_temperature: 0; allowed: a finite number above 0");
  EXPECT_EQ(ErrorOf(parts, {.offsets = {1.0, 2.0}}),
            "offsets: 2 values; allowed: none, or one for each of 1");
  EXPECT_EQ(ErrorOf(parts, {.offsets = {kNan}}), "offsets: nan at 0; allowed: finite numbers");
  EXPECT_TRUE(Contains(ErrorOf(parts, {.huber_delta = -1.0}), "huber_delta: -1"));
  EXPECT_TRUE(Contains(ErrorOf({{}, {.weight = 0.0}}, {}), "parts[1].weight: 0"));
  EXPECT_EQ(ErrorOf({{.round_weights = {1.0, -0.5}}}, {}),
            "parts[0].round_weights: -0.5 at 1; allowed: finite numbers, at least 0");
  EXPECT_EQ(ErrorOf({{.start = {0.0, 0.0}}}, {}),
            "parts[0].start: 2 values; allowed: none, or one for each of 1");
  EXPECT_EQ(ErrorOf({{.start = {kNan}}}, {}), "parts[0].start: nan at 0; allowed: finite numbers");
  EXPECT_EQ(ErrorOf(parts, {.objective = static_cast<ModelObjective>(9)}),
            "objective: 9; allowed: one of ModelObjective");
}

TEST(TreeModel, RoundsAreInterleaved) {
  const std::vector<ModelPart> parts = {{.weight = 3.0, .start = {1.0, 2.0}},
                                        {.round_weights = {1.0, 0.0, 0.5}, .start = {5.0, 6.0}},
                                        {}};
  const ExportSpec spec{.objective = ModelObjective::kMulticlass,
                        .num_scores = 2,
                        .inverse_temperature = 10.0,
                        .offsets = {0.5, 0.25}};
  const ExportPlan plan = PlanExport(parts, std::vector<std::size_t>{2, 3, 0}, spec);
  std::vector<std::string> order;
  for (const detail::PlannedRound& round : plan.rounds) {
    order.push_back(std::to_string(round.part) + ":" + std::to_string(round.round));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"0:0", "1:0", "0:1", "1:2"}));
  EXPECT_DOUBLE_EQ(plan.rounds[0].factor, 6.0);
  EXPECT_DOUBLE_EQ(plan.rounds[1].factor, 2.0);
  EXPECT_DOUBLE_EQ(plan.rounds[3].factor, 1.0);
  // Temperature first, then offsets.
  EXPECT_DOUBLE_EQ(plan.constants[0], 10.0 * (0.6 * 1.0 + 0.2 * 5.0) + 0.5);
  EXPECT_DOUBLE_EQ(plan.constants[1], 10.0 * (0.6 * 2.0 + 0.2 * 6.0) + 0.25);
}

TEST(TreeModel, ConstantsMustBeFinite) {
  const std::vector<ModelPart> parts = {{.start = {1e200}}};
  const ExportSpec spec{.inverse_temperature = 1e200};
  EXPECT_EQ(MessageOf([&] { PlanExport(parts, std::vector<std::size_t>{1}, spec); }),
            "inverse_temperature * start + offsets: inf at 0; allowed: finite numbers");
}

TEST(TreeModel, TheSumOfWeightsMustBeFinite) {
  const std::vector<ModelPart> parts(2, {.weight = 1e308});
  EXPECT_EQ(MessageOf([&] {
              PlanExport(parts, std::vector<std::size_t>{1, 1}, {});
            }),
            "sum of the parts' weights: inf; allowed: a finite number above 0");
}

TEST(TreeModel, WeightsMustFitTheRounds) {
  const std::vector<ModelPart> parts = {{}, {.round_weights = {1.0, 1.0}}};
  EXPECT_EQ(
      MessageOf([&] {
        PlanExport(parts, std::vector<std::size_t>{3, 3}, {});
      }),
      "parts[1].round_weights: 2 values; allowed: none, or one for each of the model's 3 rounds");
}

}  // namespace
}  // namespace bregboost
