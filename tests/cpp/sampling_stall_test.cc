// A first round without a split is drawn anew, not repeated.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/problem/objective.h"
#include "bregboost/solve/abpp.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Scores;
using testing::XgboostKit;

template <class Kit>
class SamplingStall : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(SamplingStall, Kits);

// The label is the sign of the last feature; the others are noise.
GeneratedData OneUsefulFeature(std::size_t n, std::size_t num_features) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  GeneratedData data;
  data.num_features = num_features;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < num_features; ++j) data.features.push_back(normal(random));
    labels.emplace_back(data.features.back() > 0.0 ? "1" : "0");
  }
  data.rows.labels = EncodeColumn("label", labels);
  return data;
}

// Half of the features in a tree, and a least gain that splits on noise do not reach.
GbmParameters HalfOfTheFeatures(const LightGbmKit&) {
  GbmParameters parameters = LightGbmKit::Parameters();
  parameters.insert({{"feature_fraction", "0.5"}, {"min_gain_to_split", "100"}});
  return parameters;
}
GbmParameters HalfOfTheFeatures(const XgboostKit&) {
  GbmParameters parameters = XgboostKit::Parameters();
  parameters.insert({{"colsample_bytree", "0.5"}, {"gamma", "100"}});
  return parameters;
}

// The seeds whose first round found no split in ten draws.
template <class Kit>
std::vector<int> Stalls(const GeneratedData& data, const char* seed_name) {
  const Objective objective(data.rows, {});
  std::vector<int> stalls;
  for (int seed = 0; seed < 20; ++seed) {
    GbmParameters parameters = HalfOfTheFeatures(Kit());
    parameters[seed_name] = std::to_string(seed);
    const auto train = MakeDataset<Kit>(data, parameters);
    const auto learner = Kit::Learner(train, objective, {.parameters = parameters});
    AbppOptions options;
    options.termination.max_iterations = 1;
    detail::NoConstraints none;
    SolveAbpp(*learner, none, options);
    if (learner->num_rounds() == 0) stalls.push_back(seed);
  }
  return stalls;
}

// XGBoost 2.1 draws features without regard to the seed.
template <class Kit>
bool SeedDecidesFeatures(const GeneratedData& data) {
  GbmParameters parameters = HalfOfTheFeatures(Kit());
  const auto train = MakeDataset<Kit>(data, parameters);
  std::set<Scores> models;
  for (int seed = 0; seed < 20; ++seed) {
    parameters["seed"] = std::to_string(seed);
    models.insert(Kit::Predict(Kit::NativeModel(train, data.rows, parameters, 1), data));
  }
  return models.size() > 1;
}

// Ten independent draws miss the feature once in 1024 seeds.
TYPED_TEST(SamplingStall, TheFirstRoundHasTenDifferentDraws) {
  for (const std::size_t num_features : {2U, 8U}) {
    const GeneratedData data = OneUsefulFeature(1000, num_features);
    if (!SeedDecidesFeatures<TypeParam>(data)) GTEST_SKIP() << "no seed for features here";
    EXPECT_EQ(Stalls<TypeParam>(data, "seed"), std::vector<int>());
    EXPECT_EQ(Stalls<TypeParam>(data, "random_state"), std::vector<int>());
  }
}

using LightGbmSamplingStall = testing::LightGbmTest;

TEST_F(LightGbmSamplingStall, ASeedOfItsOwnMovesAsWell) {
  for (const std::size_t num_features : {2U, 8U}) {
    const GeneratedData data = OneUsefulFeature(1000, num_features);
    EXPECT_EQ(Stalls<LightGbmKit>(data, "feature_fraction_seed"), std::vector<int>());
  }
}

}  // namespace
}  // namespace bregboost
