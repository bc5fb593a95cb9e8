// Simulated certificates of every kind of constraint; the full table comes from
// benchmarks/end_to_end/certificate_coverage.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bregboost/problem/constraint_error.h"
#include "certify_scenarios.h"

namespace bregboost {
namespace {

using simulation::MostOf;
using simulation::Scenario;

std::string TestName(const testing::TestParamInfo<Scenario>& instance) {
  std::string name = instance.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// True rates are at the limit, so that whatever is said about it is false by a hair.
class CertificateCoverage : public testing::TestWithParam<Scenario> {};

TEST_P(CertificateCoverage, IsFalseNoMoreOftenThanDelta) {
  constexpr std::size_t kSets = 2000;
  const std::size_t certified = simulation::CountCertified(GetParam(), kSets);
  RecordProperty("certified", static_cast<int>(certified));
  EXPECT_LE(static_cast<double>(certified), MostOf(kSets, GetParam().options.delta));
}

TEST_P(CertificateCoverage, CallsViolatedNoMoreOftenThanDelta) {
  constexpr std::size_t kSets = 50;
  const Scenario& scenario = GetParam();
  std::size_t violated = 0;
  for (std::uint64_t seed = 1; seed <= kSets; ++seed) {
    const simulation::Draw draw(scenario, scenario.rows, /*level=*/1.0, seed);
    const bool passes = simulation::Passes(scenario, draw);
    try {
      const Certificate certificate = Certify(draw.sample.predictions, draw.sample.rows,
                                              simulation::ConstraintsOf(scenario), draw.options);
      EXPECT_EQ(certificate.all_certified, passes) << "seed " << seed;
      if (certificate.constraints.front().verdict == Verdict::kViolated) ++violated;
    } catch (const ConstraintError&) {
      EXPECT_FALSE(passes) << "seed " << seed;
    }
  }
  EXPECT_LE(static_cast<double>(violated), MostOf(kSets, scenario.options.delta));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CertificateCoverage, testing::ValuesIn(simulation::Scenarios()),
                         TestName);
INSTANTIATE_TEST_SUITE_P(FewRows, CertificateCoverage, testing::ValuesIn(simulation::FewRows()),
                         TestName);

class CertificatePower : public testing::TestWithParam<Scenario> {};

TEST_P(CertificatePower, IsFoundWithTheRowsThatItAsksFor) {
  const Scenario& scenario = GetParam();
  constexpr std::size_t kFewSets = 20;
  const std::size_t rows = 10 * simulation::RowsAskedFor(scenario, /*level=*/0.6);
  EXPECT_GE(simulation::Simulate(scenario, rows, /*level=*/0.6, kFewSets).certified, 19U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CertificatePower, testing::ValuesIn(simulation::Scenarios()),
                         TestName);

}  // namespace
}  // namespace bregboost
