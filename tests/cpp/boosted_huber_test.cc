// Huber loss with residuals far beyond its delta, where its second derivative is 0.
#include <gtest/gtest.h>

#include <cmath>

#include "boosted_kits.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::XgboostKit;

template <class Kit>
class BoostedHuber : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(BoostedHuber, Kits);

TYPED_TEST(BoostedHuber, TheObjectiveFallsWhereTheLossIsLinear) {
  GeneratedData data = testing::NoisyLine(1200, 1);
  for (double& target : data.rows.targets) target *= 100.0;
  const LossOptions loss{.kind = LossKind::kHuber, .huber_delta = 1.0};
  const Objective objective(data.rows, {.loss = loss});
  RateConstraints constraints({ParseConstraint("loss(group=b) <= 20")}, data.rows, {}, loss);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  const double before = learner->objective();
  AbppOptions options;
  options.termination.max_iterations = 60;
  options.termination.stationarity_tolerance = 0.0;
  SolveAbpp(*learner, constraints, options);
  EXPECT_EQ(learner->num_rounds(), 60);
  EXPECT_LT(learner->objective(), 0.6 * before);
}

}  // namespace
}  // namespace bregboost
