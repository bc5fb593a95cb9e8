#include "bregboost/solve/termination.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace bregboost {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

IterationStats Converged() {
  IterationStats stats;
  stats.k = 5;
  stats.stationarity = 1e-8;
  return stats;
}

TEST(Termination, ConvergesOnlyWhenEveryResidualIsSmall) {
  const TerminationCriteria criteria;
  EXPECT_EQ(CheckTermination(criteria, Converged(), false), TerminationReason::kConverged);
  for (double IterationStats::*field :
       {&IterationStats::surrogate_violation, &IterationStats::complementarity,
        &IterationStats::stationarity}) {
    IterationStats stats = Converged();
    stats.*field = 1e-3;
    EXPECT_EQ(CheckTermination(criteria, stats, false), std::nullopt);
  }
}

TEST(Termination, NaNIsAnErrorNeverConvergence) {
  for (double IterationStats::*field :
       {&IterationStats::objective, &IterationStats::surrogate_violation,
        &IterationStats::exact_violation, &IterationStats::complementarity,
        &IterationStats::stationarity, &IterationStats::max_multiplier}) {
    IterationStats stats = Converged();
    stats.*field = kNaN;
    EXPECT_EQ(CheckTermination({}, stats, false), TerminationReason::kNumericalError);
    EXPECT_EQ(CheckTermination({}, stats, true), TerminationReason::kNumericalError);
  }
}

TEST(Termination, AnUndefinedRateIsNoNumericalError) {
  IterationStats stats = Converged();
  stats.exact_violation = kInfinity;
  EXPECT_EQ(CheckTermination({}, stats, false), TerminationReason::kConverged);
}

TEST(Termination, TheStartingPointNeverCountsAsConverged) {
  const IterationStats start;  // stationarity is infinite
  EXPECT_EQ(CheckTermination({}, start, false), std::nullopt);
}

TEST(Termination, LimitsAndInterruption) {
  IterationStats stats;
  stats.k = 10;
  stats.seconds = 2.0;
  EXPECT_EQ(CheckTermination({.max_iterations = 10}, stats, false),
            TerminationReason::kIterationLimit);
  EXPECT_EQ(CheckTermination({.max_iterations = 11}, stats, false), std::nullopt);
  EXPECT_EQ(CheckTermination({.max_seconds = 2.0}, stats, false), TerminationReason::kTimeLimit);
  EXPECT_EQ(CheckTermination({}, stats, true), TerminationReason::kInterrupted);
}

TEST(Termination, BadCriteriaNameTheFieldTheValueAndTheRange) {
  const auto message = [](const TerminationCriteria& criteria) {
    try {
      Validate(criteria);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.feasibility_tolerance = -1.0}),
            "feasibility_tolerance: -1; allowed: a finite number, at least 0");
  EXPECT_EQ(message({.complementarity_tolerance = -0.5}),
            "complementarity_tolerance: -0.5; allowed: a finite number, at least 0");
  EXPECT_NE(message({.stationarity_tolerance = kNaN}).find("stationarity_tolerance: nan"),
            std::string::npos);
  EXPECT_EQ(message({.max_iterations = -3}), "max_iterations: -3; allowed: at least 0");
  EXPECT_EQ(message({.max_seconds = 0.0}), "max_seconds: 0; allowed: above 0");
  EXPECT_EQ(message({}), "");
}

}  // namespace
}  // namespace bregboost
