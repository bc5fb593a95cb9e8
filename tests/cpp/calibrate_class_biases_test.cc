#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "calibrate/detail/class_biases.h"
#include "calibrate_problems.h"
#include "detail/thread_scope.h"

namespace bregboost {
namespace {

using detail::FitClassBiases;
using test::Random;
using test::ScoredRows;

const std::vector<std::string> kClasses = {"a", "b", "c", "d", "e"};

ScoredRows DrawnRows(std::size_t n, bool weighted, std::uint64_t seed) {
  return test::RandomScoredRows(kClasses, n, weighted, false, seed);
}

// Of softmax(F / temperature + biases), summed up over the rows.
std::vector<double> SumOfProbabilities(const ScoredRows& data, double temperature,
                                       const std::vector<double>& biases) {
  const std::size_t n = data.rows.num_rows();
  std::vector<double> sums(biases.size(), 0.0), p(biases.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < p.size(); ++k) {
      p[k] = std::exp(data.scores[k * n + i] / temperature + biases[k]);
    }
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (std::size_t k = 0; k < p.size(); ++k) sums[k] += data.rows.rate_weight(i) * p[k] / total;
  }
  return sums;
}

// That the derivatives of the loss are 0: it is convex, so this is its minimum.
TEST(ClassBiases, ProbabilitiesSumUpToTheWeightOfEachClass) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ScoredRows data = DrawnRows(300, /*weighted=*/seed % 2 == 0, seed);
    const double temperature = 0.5 * static_cast<double>(seed);
    const std::vector<double> biases = FitClassBiases(data.scores, data.rows, temperature);
    EXPECT_NEAR(std::accumulate(biases.begin(), biases.end(), 0.0), 0.0, 1e-12);
    std::vector<double> weights(kClasses.size(), 0.0);
    double all = 0.0;
    for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
      weights[static_cast<std::size_t>(data.rows.labels.codes[i])] += data.rows.rate_weight(i);
      all += data.rows.rate_weight(i);
    }
    const std::vector<double> sums = SumOfProbabilities(data, temperature, biases);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      EXPECT_NEAR(sums[k] / all, weights[k] / all, 1e-4) << seed << " class " << k;
    }
  }
}

TEST(ClassBiases, OfScoresThatTellNothingAreLogSharesOfTheClasses) {
  ScoredRows data = DrawnRows(100, false, 3);
  for (std::size_t i = 0; i < 100; ++i) {
    data.rows.labels.codes[i] = i < 40 ? 0 : i < 70 ? 1 : i < 90 ? 2 : i < 98 ? 3 : 4;
  }
  const std::vector<double> same(500, 2.5);
  const std::vector<double> biases = FitClassBiases(same, data.rows, 1.0);
  EXPECT_NEAR(biases[0] - biases[1], std::log(40.0 / 30.0), 1e-3);
  EXPECT_NEAR(biases[0] - biases[2], std::log(40.0 / 20.0), 1e-3);
  EXPECT_NEAR(biases[0] - biases[3], std::log(40.0 / 8.0), 1e-3);
  EXPECT_NEAR(biases[0] - biases[4], std::log(40.0 / 2.0), 1e-2);
}

TEST(ClassBiases, UndoAConstantThatWasAddedToTheScores) {
  ScoredRows data = DrawnRows(400, true, 5);
  const std::vector<double> before = FitClassBiases(data.scores, data.rows, 2.0);
  for (std::size_t i = 0; i < 400; ++i) data.scores[400 + i] += 3.0;  // class b
  const std::vector<double> after = FitClassBiases(data.scores, data.rows, 2.0);
  for (const std::size_t k : {0U, 2U, 3U, 4U}) {
    EXPECT_NEAR((after[k] - after[1]) - (before[k] - before[1]), 1.5, 1e-4);
  }
}

TEST(ClassBiases, WeightsCountAsRepeatedRows) {
  ScoredRows data = DrawnRows(80, false, 7);
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < 80; ++i) {
    data.rows.weights.push_back(static_cast<double>(i % 3));
    for (std::size_t copy = 0; copy < i % 3; ++copy) {
      indices.push_back(static_cast<std::int32_t>(i));
    }
  }
  RowData repeated = TakeRows(data.rows, indices);
  repeated.weights.clear();
  std::vector<double> scores;
  for (std::size_t k = 0; k < kClasses.size(); ++k) {
    for (const std::int32_t i : indices) {
      scores.push_back(data.scores[k * 80 + static_cast<std::size_t>(i)]);
    }
  }
  const std::vector<double> once = FitClassBiases(data.scores, data.rows, 1.0);
  const std::vector<double> often = FitClassBiases(scores, repeated, 1.0);
  for (std::size_t k = 0; k < once.size(); ++k) EXPECT_NEAR(once[k], often[k], 1e-9);
}

TEST(ClassBiases, AreFiniteWhereAClassHasNoRowsOrNothingHasWeight) {
  ScoredRows data = DrawnRows(60, false, 9);
  for (std::int32_t& code : data.rows.labels.codes) code = code == 4 ? 0 : code;
  const std::vector<double> biases = FitClassBiases(data.scores, data.rows, 1.0);
  for (const double bias : biases) EXPECT_TRUE(std::isfinite(bias));
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LT(biases[4], biases[k] - 3.0);
  data.rows.weights.assign(60, 0.0);
  for (const double bias : FitClassBiases(data.scores, data.rows, 1.0)) EXPECT_EQ(bias, 0.0);
}

TEST(ClassBiases, AreTheSameOnAnyNumberOfThreads) {
  const ScoredRows data = DrawnRows(20'000, true, 11);
  const detail::ThreadScope one(1);
  const std::vector<double> alone = FitClassBiases(data.scores, data.rows, 1.3);
  const detail::ThreadScope five(5);
  EXPECT_EQ(FitClassBiases(data.scores, data.rows, 1.3), alone);
}

// Normal clouds around five centres; log-densities that are off by a constant for each class.
ScoredRows Clouds(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  ScoredRows data;
  data.rows.labels = test::RandomColumn("y", kClasses, n, random);
  data.scores = test::RandomNormal(kClasses.size() * n, 1.0, random);
  constexpr double kApart = 1.5;
  for (std::size_t i = 0; i < n; ++i) {
    data.scores[static_cast<std::size_t>(data.rows.labels.codes[i]) * n + i] += kApart;
  }
  for (std::size_t j = 0; j < data.scores.size(); ++j) {
    data.scores[j] = kApart * data.scores[j] + 0.3 * static_cast<double>(j / n);
  }
  return data;
}

RateProblem TwoBounds(const RowData& rows) {
  return {test::ParseAll({"error(class=a) <= 10%", "error(class=d) <= 15%"}),
          ParseObjective("accuracy"), rows};
}

TEST(FewOffsets, OthersPutProbabilitiesRight) {
  const ScoredRows data = Clouds(500, 21);
  const RateProblem problem = TwoBounds(data.rows);
  const Calibration found = Calibrate(data.scores, problem, {.rho = 5.0});
  const double temperature = found.adjustment.temperature;
  const std::vector<double>& offsets = found.adjustment.offsets;
  const std::vector<double> biases = FitClassBiases(data.scores, data.rows, temperature);
  EXPECT_NEAR(offsets[1] - offsets[2], biases[1] - biases[2], 1e-9);
  EXPECT_NEAR(offsets[1] - offsets[4], biases[1] - biases[4], 1e-9);
  EXPECT_GT(offsets[0] - offsets[1], biases[0] - biases[1]);
  EXPECT_GT(offsets[3] - offsets[1], biases[3] - biases[1]);

  // Without a temperature offsets are as many times as large, and decide alike.
  const Calibration unscaled =
      Calibrate(data.scores, problem, {.rho = 5.0, .fit_temperature = false});
  const std::vector<double>& large = unscaled.adjustment.offsets;
  EXPECT_NEAR(large[1] - large[2], temperature * (biases[1] - biases[2]), 1e-9);
}

TEST(FewOffsets, HoldWhatAllOffsetsHoldAndNeverHaveLessMeritOnTheirOwnRows) {
  for (std::uint64_t seed = 31; seed < 41; ++seed) {
    const ScoredRows data = Clouds(300, seed);
    const RateProblem problem = TwoBounds(data.rows);
    const Calibrator calibrator(data.scores, data.rows);
    const Calibration few = calibrator.Solve(problem, {.rho = 1000.0});
    const Calibration all = calibrator.Solve(problem, {.rho = 1000.0, .all_offsets = true});
    EXPECT_NEAR(few.total_violation, all.total_violation, 1e-12) << seed;
    EXPECT_GE(few.merit, all.merit - 1e-12) << seed;
  }
}

// What they are for. Means over 40 draws of 300 rows, each judged on rows of its own.
TEST(FewOffsets, DoBetterOnOtherRows) {
  constexpr double kRho = 5.0;
  double advantage = 0.0;
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    const ScoredRows data = Clouds(300, seed), fresh = Clouds(5000, 10'000 + seed);
    const RateProblem problem = TwoBounds(data.rows), unseen = TwoBounds(fresh.rows);
    const Calibrator calibrator(data.scores, data.rows);
    const auto merit_on_fresh = [&](bool all_offsets) {
      const ModelAdjustment adjustment =
          calibrator.Solve(problem, {.rho = kRho, .all_offsets = all_offsets}).adjustment;
      const auto predicted =
          test::Predictions(fresh.rows, fresh.scores, adjustment.temperature, adjustment.offsets);
      return unseen.Merit(test::SumsOfPredictions(unseen, fresh.scores, predicted), kRho);
    };
    advantage += (merit_on_fresh(true) - merit_on_fresh(false)) / 40.0;
  }
  EXPECT_GT(advantage, 0.005);
}

// A class whose errors are free and that no limit names would never be predicted again.
TEST(FewOffsets, OnlyWhereNoErrorIsFree) {
  const ScoredRows data = Clouds(400, 61);
  const Calibrator calibrator(data.scores, data.rows);
  for (const char* objective : {"recall(class=c)", "error(class=a)"}) {
    const RateProblem problem(test::ParseAll({"error(class=a) <= 10%", "error(class=b) <= 20%"}),
                              ParseObjective(objective), data.rows);
    EXPECT_EQ(calibrator.Solve(problem).adjustment.offsets,
              calibrator.Solve(problem, {.all_offsets = true}).adjustment.offsets)
        << objective;
  }
}

TEST(FewOffsets, OnlyWhereErrorsOfClassesAreAllThatCounts) {
  const ScoredRows data = DrawnRows(400, false, 51);
  for (const char* text : {"selection_rate(predicted=a) <= 10%", "gap(error, by=sex) <= 1%"}) {
    const RateProblem problem(test::ParseAll({text}), ParseObjective("accuracy"), data.rows);
    const Calibrator calibrator(data.scores, data.rows);
    EXPECT_EQ(calibrator.Solve(problem).adjustment.offsets,
              calibrator.Solve(problem, {.all_offsets = true}).adjustment.offsets)
        << text;
  }
}

}  // namespace
}  // namespace bregboost
