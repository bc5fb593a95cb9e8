// Simulated certificates of every kind of constraint; the full table comes from
// benchmarks/end_to_end/certificate_coverage.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "certify_simulation.h"

namespace bregboost {
namespace {

class CertificateCoverage : public testing::TestWithParam<std::size_t> {};

// True rates at the limit: at most delta of the sets are certified, up to 4 standard errors.
TEST_P(CertificateCoverage, IsFalseNoMoreOftenThanDelta) {
  const simulation::Scenario scenario = simulation::Scenarios()[GetParam()];
  constexpr std::size_t kSets = 400;
  const double delta = scenario.options.delta;
  const double most = kSets * delta + 4.0 * std::sqrt(kSets * delta * (1.0 - delta));
  EXPECT_LE(static_cast<double>(simulation::CountCertified(scenario, scenario.rows, 1.0, kSets)),
            most);
}

TEST_P(CertificateCoverage, IsFoundWithTheRowsThatItAsksFor) {
  const simulation::Scenario scenario = simulation::Scenarios()[GetParam()];
  const std::size_t rows = 10 * simulation::RowsAskedFor(scenario, /*level=*/0.6);
  EXPECT_GE(simulation::CountCertified(scenario, rows, /*level=*/0.6, /*sets=*/20), 19U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CertificateCoverage,
                         testing::Range(std::size_t{0}, simulation::Scenarios().size()),
                         [](const auto& instance) {
                           std::string name = simulation::Scenarios()[instance.param].name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace bregboost
