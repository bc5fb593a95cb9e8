#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "bregboost/calibrate/temperature.h"
#include "random_problems.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using test::Random;

double LossAt(const RowData& rows, std::vector<double> scores, double temperature) {
  for (double& score : scores) score /= temperature;
  double total = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const auto label = static_cast<std::size_t>(rows.labels.codes[i]);
    total += rows.weight(i) * test::CrossEntropyOf(rows, scores, label, i);
  }
  return total;
}

// The minimum by its definition: no neighbour is lower, near or far.
void ExpectMinimum(const RowData& rows, const std::vector<double>& scores) {
  const double best = FitTemperature(scores, rows);
  const double loss = LossAt(rows, scores, best);
  for (double step = -3.0; step <= 5.0; step += 0.25) {
    EXPECT_GE(LossAt(rows, scores, std::exp(step)), loss - 1e-9 * loss) << step;
  }
  // The loss is quadratic at its minimum: a move of 1e-3 in log T must cost on both sides alike.
  const double down = LossAt(rows, scores, best * std::exp(-1e-3)) - loss;
  const double up = LossAt(rows, scores, best * std::exp(1e-3)) - loss;
  EXPECT_GT(down, 0.0);
  EXPECT_GT(up, 0.0);
  EXPECT_NEAR(down / up, 1.0, 0.05);
}

RowData LabelsDrawnFrom(const std::vector<double>& scores, std::size_t classes, double temperature,
                        std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = scores.size() / (classes == 2 ? 1 : classes);
  RowData rows;
  for (std::size_t k = 0; k < classes; ++k) rows.labels.levels.push_back(std::to_string(k));
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> p(classes, 1.0);
    if (classes == 2) p[1] = std::exp(scores[i] / temperature);
    double total = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      if (classes > 2) p[k] = std::exp(scores[k * n + i] / temperature);
      total += p[k];
    }
    double draw = uniform(random) * total;
    std::size_t label = 0;
    while (label + 1 < classes && draw > p[label]) draw -= p[label++];
    rows.labels.codes.push_back(static_cast<std::int32_t>(label));
  }
  return rows;
}

TEST(Temperature, MinimisesTheWeightedLoss) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Random random(seed);
    const std::vector<double> binary = test::RandomNormal(5000, 6.0, random);
    RowData rows = LabelsDrawnFrom(binary, 2, 2.5, seed);
    rows.weights = test::RandomUniform(5000, 0.0, 3.0, random);
    ExpectMinimum(rows, binary);
    const std::vector<double> four = test::RandomNormal(4 * 5000, 3.0, random);
    rows = LabelsDrawnFrom(four, 4, 0.7, seed);
    rows.weights = test::RandomUniform(5000, 0.0, 3.0, random);
    ExpectMinimum(rows, four);
  }
}

TEST(Temperature, FindsTheOneThatMadeTheLabels) {
  Random random(7);
  for (const double truth : {0.3, 1.0, 8.0}) {
    const std::vector<double> binary = test::RandomNormal(100'000, 3.0 * truth, random);
    EXPECT_NEAR(FitTemperature(binary, LabelsDrawnFrom(binary, 2, truth, 8)) / truth, 1.0, 0.03);
    const std::vector<double> three = test::RandomNormal(3 * 100'000, 2.0 * truth, random);
    EXPECT_NEAR(FitTemperature(three, LabelsDrawnFrom(three, 3, truth, 9)) / truth, 1.0, 0.03);
  }
}

TEST(Temperature, IsOneWhereThereIsNothingToLearn) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {1, 1, 1}};
  EXPECT_EQ(FitTemperature(std::vector<double>{1.0, -2.0, 3.0}, rows), 1.0);
  rows.labels.codes = {0, 1, 1};
  EXPECT_EQ(FitTemperature(std::vector<double>{2.0, 2.0, 2.0}, rows), 1.0);
  rows.weights = {0.0, 1.0, 1.0};  // the only row of label 0 does not count
  EXPECT_EQ(FitTemperature(std::vector<double>{1.0, -2.0, 3.0}, rows), 1.0);
}

TEST(Temperature, EndsOfTheRange) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 0, 1}};
  EXPECT_NEAR(FitTemperature(std::vector<double>{-1, 1, -2, 2}, rows), std::exp(-3.0), 1e-12);
  EXPECT_NEAR(FitTemperature(std::vector<double>{1, -1, 2, -2}, rows), std::exp(5.0), 1e-9);
}

// Of the same rows, wherever they are.
TEST(Temperature, IsTheSameOnWorkers) {
  Random random(11);
  for (const std::size_t classes : {2UL, 4UL}) {
    const std::size_t columns = classes == 2 ? 1 : classes;
    const std::vector<double> scores = test::RandomNormal(columns * 500, 4.0, random);
    RowData rows = LabelsDrawnFrom(scores, classes, 2.0, 12);
    rows.weights = test::RandomUniform(500, 0.0, 3.0, random);
    const double temperature = FitTemperature(scores, rows);
    const double loss = RefinementLoss(scores, rows);
    for (const std::size_t workers : {1UL, 2UL, 5UL}) {
      test::OnWorkers(workers, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
        const auto places = test::RowsOfWorker(500, *worker);
        RowData own = TakeRows(rows, places);
        own.workers = worker;
        std::vector<double> own_scores;
        for (std::size_t k = 0; k < columns; ++k) {
          for (const std::int32_t i : places) {
            own_scores.push_back(scores[k * 500 + static_cast<std::size_t>(i)]);
          }
        }
        EXPECT_NEAR(FitTemperature(own_scores, own), temperature, 1e-9 * temperature);
        EXPECT_NEAR(RefinementLoss(own_scores, own), loss, 1e-12);
      });
    }
  }
}

// Labels that differ, or scores that do, may be on one worker each.
TEST(Temperature, AWorkerMayHaveNothingToLearnFrom) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 1, 0}};
  const std::vector<double> scores = {-1.0, 2.0, -0.5, 0.5};
  const double expected = FitTemperature(scores, rows);
  ASSERT_NE(expected, 1.0);
  test::OnWorkers(4, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
    const auto place = static_cast<std::int32_t>(worker->rank());
    RowData own = TakeRows(rows, std::vector<std::int32_t>{place});
    own.workers = worker;
    EXPECT_NEAR(FitTemperature(std::vector<double>{scores[worker->rank()]}, own), expected, 1e-9);
  });
}

TEST(RefinementLoss, IsTheLeastMeanLossAtAnyTemperature) {
  for (const std::uint64_t seed : {1U, 2U}) {
    Random random(seed);
    for (const std::size_t classes : {2UL, 4UL}) {
      const std::size_t columns = classes == 2 ? 1 : classes;
      const std::vector<double> scores = test::RandomNormal(columns * 1000, 5.0, random);
      RowData rows = LabelsDrawnFrom(scores, classes, 3.0, seed);
      rows.weights = test::RandomUniform(1000, 0.0, 3.0, random);
      const double total = std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
      double least = std::numeric_limits<double>::infinity();
      for (double step = -1.0; step <= 3.0; step += 1e-3) {
        least = std::min(least, LossAt(rows, scores, std::exp(step)) / total);
      }
      EXPECT_NEAR(RefinementLoss(scores, rows), least, 1e-6);
      EXPECT_LE(RefinementLoss(scores, rows), least + 1e-12);
    }
  }
}

TEST(RefinementLoss, DoesNotMindHowSureScoresAre) {
  Random random(3);
  std::vector<double> scores = test::RandomNormal(1000, 2.0, random);
  const RowData rows = LabelsDrawnFrom(scores, 2, 1.0, 4);
  const double loss = RefinementLoss(scores, rows);
  for (double& score : scores) score *= 7.0;
  EXPECT_NEAR(RefinementLoss(scores, rows), loss, 1e-12);
}

// Scores of that size come from leaves with hardly any hessian.
TEST(RefinementLoss, IsFiniteForScoresOfAnySize) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1, 0, 1}};
  const double loss = RefinementLoss(std::vector<double>{1e30, 1.0, -1e30, 2.0}, rows);
  EXPECT_TRUE(std::isfinite(loss));
  EXPECT_GT(loss, 1.0);
}

TEST(Temperature, RefusesWhatIsNoScore) {
  RowData rows;
  rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {0, 1}};
  EXPECT_THROW(FitTemperature(std::vector<double>{1.0}, rows), std::invalid_argument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(FitTemperature(std::vector<double>{1.0, nan}, rows), std::invalid_argument);
  RowData numbers;
  numbers.targets = {1.0, 2.0};
  EXPECT_THROW(FitTemperature(std::vector<double>{1.0, 2.0}, numbers), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
