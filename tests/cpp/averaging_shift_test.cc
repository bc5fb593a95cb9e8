#include "solve/detail/averaging_shift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/solve/abpp.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::Scores;
using testing::XgboostKit;

template <class Kit>
class AveragingShift : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(AveragingShift, Kits);

// Trees that follow noise, so that models of different rows differ.
template <class Kit>
std::unique_ptr<LockstepLearner> Trained(const typename Kit::Dataset& all,
                                         const Objective& objective,
                                         const RateConstraints& constraints) {
  auto learner =
      Kit::Lockstep(all, objective, constraints, {.boosting = {.parameters = Kit::Parameters()}});
  detail::NoConstraints none;
  SolveAbpp(*learner, none, testing::Iterations(60));
  return learner;
}

// The truth is known from many fresh rows: what the mean of the models has less errors than each.
TYPED_TEST(AveragingShift, IsWhatFreshRowsShow) {
  const GeneratedData fresh = testing::TwoGroups(20000, 1000);
  const RateConstraints on_fresh(Parse({"error <= 10%"}), fresh.rows);
  const auto error = [&](const Scores& scores) { return on_fresh.Measure(scores).front().value; };
  constexpr unsigned kSets = 6;
  double expected = 0.0, found = 0.0;
  for (unsigned seed = 0; seed < kSets; ++seed) {
    const GeneratedData data = testing::TwoGroups(1500, seed);
    const Objective objective(data.rows, {});
    const RateConstraints constraints(Parse({"error <= 10%"}), data.rows);
    const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const auto learner = Trained<TypeParam>(all, objective, constraints);
    double single = 0.0;
    for (std::size_t k = 0; k < 5; ++k) {
      single += error(TypeParam::Predict(learner->fold(k).Model(), fresh)) / 5.0;
    }
    expected += (error(TypeParam::Predict(learner->Model(), fresh)) - single) / kSets;
    const std::vector<double> shift = detail::AveragingShift(*learner, constraints);
    found += constraints.compiled().constraints.front().rates.front().value.Dot(shift) / kSets;
  }
  EXPECT_LT(expected, -0.002);
  EXPECT_NEAR(found, expected, 0.4 * std::abs(expected));
}

// Of two folds, one model was trained on each row: there is nothing to tell them apart by.
TYPED_TEST(AveragingShift, OfTwoFoldsIsNone) {
  const GeneratedData data = testing::TwoGroups(600, 3);
  const Objective objective(data.rows, {});
  const RateConstraints constraints(Parse({"error <= 10%"}), data.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Lockstep(all, objective, constraints,
                          {.boosting = {.parameters = TypeParam::Parameters()}, .num_folds = 2});
  detail::NoConstraints none;
  SolveAbpp(*learner, none, testing::Iterations(5));
  for (const double change : detail::AveragingShift(*learner, constraints)) {
    EXPECT_EQ(change, 0.0);
  }
}

}  // namespace
}  // namespace bregboost
