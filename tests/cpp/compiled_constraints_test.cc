// Values of constraints as the user wrote them, against plain loops over the rows.
#include "bregboost/problem/compiled_constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/problem/rate_constraints.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::BinaryRows;
using test::FourClassRows;
using test::ParseAll;
using test::RandomScores;
using test::RegressionRows;
using test::RowsWithHoles;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using OfRow = std::function<double(std::size_t)>;
using IsIn = std::function<bool(std::size_t)>;

// Rates by their definition: one loop over the rows for each.
class Loop {
 public:
  Loop(const RowData& rows, const std::vector<double>& scores) : rows_(rows), scores_(scores) {}

  double Average(const OfRow& event, const IsIn& inside) const {
    double total = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < rows_.num_rows(); ++i) {
      if (!inside(i)) continue;
      total += rows_.rate_weights[i] * event(i);
      weight += rows_.rate_weights[i];
    }
    return total / weight;
  }

  // Events
  double Error(std::size_t i) const { return Predicted(i) != rows_.labels.codes[i] ? 1.0 : 0.0; }
  double Churn(std::size_t i) const { return Predicted(i) != rows_.baseline[i] ? 1.0 : 0.0; }
  double Loss(std::size_t i) const {
    return test::CrossEntropyOf(rows_, scores_, static_cast<std::size_t>(rows_.labels.codes[i]), i);
  }
  OfRow Selected(std::int32_t k) const {
    return [this, k](std::size_t i) { return Predicted(i) == k ? 1.0 : 0.0; };
  }

  // Subsets
  IsIn Label(std::int32_t k) const {
    return [this, k](std::size_t i) { return rows_.labels.codes[i] == k; };
  }
  IsIn Group(std::size_t column, std::int32_t k) const {
    return [this, column, k](std::size_t i) { return rows_.groups[column].codes[i] == k; };
  }

  double ErrorOf(const IsIn& inside) const {
    return Average([this](std::size_t i) { return Error(i); }, inside);
  }
  double LossOf(const IsIn& inside) const {
    return Average([this](std::size_t i) { return Loss(i); }, inside);
  }
  double ChurnOf(const IsIn& inside) const {
    return Average([this](std::size_t i) { return Churn(i); }, inside);
  }
  double SelectedOf(std::int32_t k, const IsIn& inside) const {
    return Average(Selected(k), inside);
  }
  double PrecisionOf(std::int32_t k, const IsIn& inside) const {
    const auto chosen = [&](std::size_t i) { return inside(i) && Predicted(i) == k; };
    return 1.0 - ErrorOf(chosen);
  }

 private:
  // The larger score wins, the first of equals.
  std::int32_t Predicted(std::size_t i) const {
    if (rows_.task() == Task::kBinary) return scores_[i] > 0.0 ? 1 : 0;
    std::size_t best = 0;
    for (std::size_t k = 1; k < rows_.num_scores(); ++k) {
      if (test::ScoreOf(rows_, scores_, k, i) > test::ScoreOf(rows_, scores_, best, i)) best = k;
    }
    return static_cast<std::int32_t>(best);
  }

  const RowData& rows_;
  const std::vector<double>& scores_;
};

bool All(std::size_t) { return true; }

IsIn Both(IsIn a, IsIn b) {
  return [a = std::move(a), b = std::move(b)](std::size_t i) { return a(i) && b(i); };
}

constexpr std::size_t kSex = 0;   // F, M
constexpr std::size_t kRace = 1;  // A, B, C

std::vector<Measurement> MeasureAll(const std::vector<std::string>& texts, const RowData& rows,
                                    const std::vector<double>& scores,
                                    EmptySubsetPolicy policy = EmptySubsetPolicy::kError) {
  return RateConstraints(ParseAll(texts), rows, {}, {}, policy).Measure(scores);
}

// Each text's value is the loop's, and its violation follows from the bound.
void ExpectValues(const std::vector<std::pair<std::string, double>>& expected, const RowData& rows,
                  const std::vector<double>& scores) {
  std::vector<std::string> texts;
  for (const auto& [text, value] : expected) texts.push_back(text);
  const std::vector<Measurement> measured = MeasureAll(texts, rows, scores);
  ASSERT_EQ(measured.size(), expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    SCOPED_TRACE(texts[j]);
    const Constraint constraint = ParseConstraint(texts[j]);
    const double value = expected[j].second;
    EXPECT_EQ(measured[j].text, ToText(constraint));
    EXPECT_NEAR(measured[j].value, value, 1e-12);
    const double excess = constraint.relation == Relation::kAtMost ? value - constraint.bound
                                                                   : constraint.bound - value;
    EXPECT_NEAR(measured[j].violation, std::max(0.0, excess), 1e-12);
    EXPECT_EQ(measured[j].satisfied, excess <= 1e-12);
  }
}

TEST(Measure, BinaryRates) {
  for (const std::int32_t positive : {0, 1}) {
    SCOPED_TRACE(positive);
    RowData rows = BinaryRows(300, 1);
    rows.positive_class = positive;
    const std::vector<double> scores = RandomScores(rows, 1.5, 2);
    const Loop loop(rows, scores);
    const double fnr = loop.ErrorOf(loop.Label(positive));
    const double fpr = loop.ErrorOf(loop.Label(1 - positive));
    ExpectValues({{"error <= 40%", loop.ErrorOf(All)},
                  {"accuracy >= 60%", 1.0 - loop.ErrorOf(All)},
                  {"balanced_error <= 55%", 0.5 * (fnr + fpr)},
                  {"loss <= 0.7", loop.LossOf(All)},
                  {"disagreement <= 10%", loop.ChurnOf(All)},
                  {"selection_rate <= 45%", loop.SelectedOf(positive, All)},
                  {"selection_rate(predicted=no) >= 45%", loop.SelectedOf(0, All)},
                  {"selection_rate(predicted=yes) <= 90%", loop.SelectedOf(1, All)},
                  {"recall >= 80%", 1.0 - fnr},
                  {"recall(class=no) >= 10%", 1.0 - loop.ErrorOf(loop.Label(0))},
                  {"precision >= 40%", loop.PrecisionOf(positive, All)},
                  {"precision(predicted=no) >= 70%", loop.PrecisionOf(0, All)},
                  {"fnr <= 30%", fnr},
                  {"fpr <= 60%", fpr},
                  {"tpr >= 30%", 1.0 - fnr},
                  {"tnr >= 60%", 1.0 - fpr}},
                 rows, scores);
  }
}

TEST(Measure, BinaryRatesOfSubsets) {
  RowData rows = BinaryRows(400, 3);
  rows.positive_class = 0;
  const std::vector<double> scores = RandomScores(rows, 1.0, 4);
  const Loop loop(rows, scores);
  const IsIn female = loop.Group(kSex, 0);
  const IsIn male_b = Both(loop.Group(kSex, 1), loop.Group(kRace, 1));
  ExpectValues(
      {{"error(sex=F) <= 40%", loop.ErrorOf(female)},
       {"fnr(sex=F) <= 40%", loop.ErrorOf(Both(loop.Label(0), female))},
       {"fpr(sex=M, race=B) <= 60%", loop.ErrorOf(Both(loop.Label(1), male_b))},
       {"error(class=yes, race=B, sex=M) <= 60%", loop.ErrorOf(Both(loop.Label(1), male_b))},
       {"loss(class=no) <= 0.9", loop.LossOf(loop.Label(0))},
       {"disagreement(sex=F) <= 60%", loop.ChurnOf(female)},
       {"selection_rate(class=yes) <= 40%", loop.SelectedOf(0, loop.Label(1))},
       {"precision(sex=F) >= 70%", loop.PrecisionOf(0, female)},
       {"balanced_error(sex=F) <= 50%", 0.5 * (loop.ErrorOf(Both(loop.Label(0), female)) +
                                               loop.ErrorOf(Both(loop.Label(1), female)))}},
      rows, scores);
}

TEST(Measure, FourClassRates) {
  const RowData rows = FourClassRows(500, 5);
  const std::vector<double> scores = RandomScores(rows, 1.5, 6);
  const Loop loop(rows, scores);
  double balanced = 0.0;
  for (std::int32_t k = 0; k < 4; ++k) balanced += loop.ErrorOf(loop.Label(k)) / 4.0;
  const IsIn male = loop.Group(kSex, 1);
  ExpectValues({{"error <= 70%", loop.ErrorOf(All)},
                {"accuracy >= 60%", 1.0 - loop.ErrorOf(All)},
                {"balanced_error <= 75%", balanced},
                {"loss <= 1.5", loop.LossOf(All)},
                {"loss(class=c, sex=M) <= 1.5", loop.LossOf(Both(loop.Label(2), male))},
                {"disagreement <= 10%", loop.ChurnOf(All)},
                {"disagreement(class=a) <= 90%", loop.ChurnOf(loop.Label(0))},
                {"error(class=b) <= 70%", loop.ErrorOf(loop.Label(1))},
                {"recall(class=d) >= 20%", 1.0 - loop.ErrorOf(loop.Label(3))},
                {"selection_rate(predicted=a) <= 20%", loop.SelectedOf(0, All)},
                {"selection_rate(predicted=c, class=a) <= 30%", loop.SelectedOf(2, loop.Label(0))},
                {"precision(predicted=b) >= 20%", loop.PrecisionOf(1, All)},
                {"precision(predicted=d, sex=M) >= 40%", loop.PrecisionOf(3, male)}},
               rows, scores);
}

TEST(Measure, RegressionLosses) {
  const RowData rows = RegressionRows(200, 7);
  const std::vector<double> scores = RandomScores(rows, 1.0, 8);
  const Loop loop(rows, scores);
  const auto squared = [&](std::size_t i) { return std::pow(scores[i] - rows.targets[i], 2); };
  const auto huber = [&](std::size_t i) {
    const double size = std::abs(scores[i] - rows.targets[i]);
    return size <= 0.5 ? 0.5 * size * size : 0.5 * (size - 0.25);
  };
  const auto constraints = ParseAll({"loss <= 1", "loss(sex=F) <= 1", "gap(loss, by=sex) <= 0.1"});
  const auto expect = [&](const LossOptions& loss, const OfRow& event) {
    const auto measured = RateConstraints(constraints, rows, {}, loss).Measure(scores);
    const double female = loop.Average(event, loop.Group(kSex, 0));
    const double male = loop.Average(event, loop.Group(kSex, 1));
    EXPECT_NEAR(measured[0].value, loop.Average(event, All), 1e-12);
    EXPECT_NEAR(measured[1].value, female, 1e-12);
    EXPECT_NEAR(measured[2].value, std::abs(female - male), 1e-12);
  };
  expect({.kind = LossKind::kSquared}, squared);
  expect({.kind = LossKind::kHuber, .huber_delta = 0.5}, huber);
}

// Largest and smallest of a rate over groups, by the loop.
struct Spread {
  double low = kInfinity, high = -kInfinity;
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

TEST(Measure, AggregatesOverOneColumn) {
  const RowData rows = BinaryRows(400, 9);
  const std::vector<double> scores = RandomScores(rows, 1.0, 10);
  const Loop loop(rows, scores);
  Spread fnr, selected, precision, sum;
  for (std::int32_t race = 0; race < 3; ++race) {
    const IsIn inside = loop.Group(kRace, race);
    const double miss = loop.ErrorOf(Both(loop.Label(1), inside));
    const double alarm = loop.ErrorOf(Both(loop.Label(0), inside));
    fnr.Add(miss);
    selected.Add(loop.SelectedOf(1, inside));
    precision.Add(loop.PrecisionOf(1, inside));
    sum.Add(2.0 * miss - alarm + 0.1);
  }
  ExpectValues({{"gap(fnr, by=race) <= 1%", fnr.high - fnr.low},
                {"gap(tpr, by=race) <= 50%", fnr.high - fnr.low},
                {"ratio(selection_rate, by=race) >= 80%", selected.low / selected.high},
                {"ratio(tpr, by=race) >= 99.9%", (1.0 - fnr.high) / (1.0 - fnr.low)},
                {"max(fnr, by=race) <= 45%", fnr.high},
                {"min(tpr, by=race) >= 40%", 1.0 - fnr.high},
                {"min(precision, by=race) >= 55%", precision.low},
                {"gap(2 * fnr - fpr + 10%, by=race) <= 1%", sum.high - sum.low},
                {"max(2 * fnr - fpr + 10%, by=race) <= 90%", sum.high}},
               rows, scores);
}

TEST(Measure, AggregatesOverClassesAndTwoColumns) {
  const RowData rows = FourClassRows(900, 11);
  const std::vector<double> scores = RandomScores(rows, 1.0, 12);
  const Loop loop(rows, scores);
  Spread by_class, by_both, by_class_and_sex;
  for (std::int32_t k = 0; k < 4; ++k) {
    by_class.Add(loop.ErrorOf(loop.Label(k)));
    for (std::int32_t sex = 0; sex < 2; ++sex) {
      by_class_and_sex.Add(loop.ErrorOf(Both(loop.Label(k), loop.Group(kSex, sex))));
    }
  }
  for (std::int32_t race = 0; race < 3; ++race) {
    for (std::int32_t sex = 0; sex < 2; ++sex) {
      by_both.Add(loop.LossOf(Both(loop.Group(kRace, race), loop.Group(kSex, sex))));
    }
  }
  ExpectValues(
      {{"gap(error, by=class) <= 1%", by_class.high - by_class.low},
       {"max(error, by=class) <= 70%", by_class.high},
       {"min(recall, by=class) >= 30%", 1.0 - by_class.high},
       {"ratio(error, by=class) >= 80%", by_class.low / by_class.high},
       {"gap(loss, by=(race, sex)) <= 0.01", by_both.high - by_both.low},
       {"max(loss, by=(sex, race)) <= 1.5", by_both.high},
       {"gap(error, by=(class, sex)) <= 1%", by_class_and_sex.high - by_class_and_sex.low}},
      rows, scores);
}

TEST(Measure, LinearExpressions) {
  const RowData rows = BinaryRows(400, 13);
  const std::vector<double> scores = RandomScores(rows, 1.0, 14);
  const Loop loop(rows, scores);
  const double fpr_f = loop.ErrorOf(Both(loop.Label(0), loop.Group(kSex, 0)));
  const double fpr_m = loop.ErrorOf(Both(loop.Label(0), loop.Group(kSex, 1)));
  const double fnr = loop.ErrorOf(loop.Label(1));
  ExpectValues({{"fpr(sex=F) - fpr(sex=M) <= 1%", fpr_f - fpr_m},
                {"fpr(sex=M) - fpr(sex=F) <= 1%", fpr_m - fpr_f},
                {"0.25 * fnr + 3 * fpr(sex=F) <= 1.2", 0.25 * fnr + 3.0 * fpr_f},
                {"tpr - 2 * fpr(sex=M) >= -20%", 1.0 - fnr - 2.0 * fpr_m},
                {"loss - accuracy >= 0.1", loop.LossOf(All) - 1.0 + loop.ErrorOf(All)},
                {"fnr <= fpr(sex=F) + 2%", fnr - fpr_f}},
               rows, scores);
}

TEST(Measure, NamesEveryGroupWithItsRate) {
  const RowData rows = BinaryRows(400, 15);
  const std::vector<double> scores = RandomScores(rows, 1.0, 16);
  const Loop loop(rows, scores);
  const auto measured =
      MeasureAll({"gap(error, by=(sex, race)) <= 1%", "error <= 50%"}, rows, scores);
  std::map<std::string, double> expected;
  for (std::size_t sex = 0; sex < 2; ++sex) {
    for (std::size_t race = 0; race < 3; ++race) {
      const std::string name =
          "sex=" + rows.groups[kSex].levels[sex] + ", race=" + rows.groups[kRace].levels[race];
      expected[name] = loop.ErrorOf(Both(loop.Group(kSex, static_cast<std::int32_t>(sex)),
                                         loop.Group(kRace, static_cast<std::int32_t>(race))));
    }
  }
  ASSERT_EQ(measured[0].groups.size(), expected.size());
  for (const auto& [name, value] : measured[0].groups) {
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_NEAR(value, expected[name], 1e-12) << name;
  }
  EXPECT_TRUE(measured[1].groups.empty());
}

// A rate of exactly its bound holds it: k errors in n rows, whose weights of 0.1 do not add up
// exactly.
TEST(Measure, AtTheBoundIsSatisfied) {
  for (std::size_t n = 2; n < 40; ++n) {
    RowData rows;
    rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = std::vector<std::int32_t>(n, 1)};
    rows.weights.assign(n, 0.1);
    std::vector<double> scores(n, 1.0);
    for (std::size_t k = 1; k < n; ++k) {
      scores[k - 1] = -1.0;
      std::vector<Constraint> both = ParseAll({"error <= 1", "error >= 0"});
      for (Constraint& c : both) c.bound = static_cast<double>(k) / static_cast<double>(n);
      for (const Measurement& m : RateConstraints(both, rows).Measure(scores)) {
        EXPECT_TRUE(m.satisfied) << m.text;
        EXPECT_EQ(m.violation, 0.0) << m.text;
      }
      for (Constraint& c : both) c.bound += c.relation == Relation::kAtMost ? -1e-6 : 1e-6;
      for (const Constraint& c : both) {
        EXPECT_FALSE(RateConstraints({c}, rows).Measure(scores)[0].satisfied) << ToText(c);
      }
    }
  }
}

TEST(Measure, TiesSelectTheFirstClass) {
  for (const RowData& rows : {BinaryRows(10, 17), FourClassRows(10, 17)}) {
    const std::string text = "selection_rate(predicted=" + rows.labels.levels[0] + ") <= 1";
    const std::vector<double> equal(rows.num_scores() * 10, 0.0);
    EXPECT_NEAR(MeasureAll({text}, rows, equal)[0].value, 1.0, 1e-12);
  }
}

// --- The rows g = A S - b against the user's unit ---

// Every constraint's largest row has the sign of its violation; both signs occur for each.
void ExpectSignsAgree(const std::vector<std::string>& texts, const RowData& rows) {
  const RateConstraints constraints(ParseAll(texts), rows);
  std::vector<int> held(texts.size(), 0), broken(texts.size(), 0);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    // Scores that lean towards the labels or away from them, and towards some class.
    std::vector<double> scores = RandomScores(rows, 1.0, seed);
    const double lean = (static_cast<double>(seed % 7) - 2.0) * 0.4;
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      const std::int32_t label = rows.labels.codes[i];
      if (rows.task() == Task::kBinary) {
        scores[i] += (label == 1 ? lean : -lean) + (static_cast<double>(seed % 5) - 2.0) * 0.4;
      } else {
        scores[static_cast<std::size_t>(label) * rows.num_rows() + i] += lean;
        scores[seed % 4 * rows.num_rows() + i] += 0.5;
      }
    }
    const ConstraintValues values = constraints.Evaluate(scores);
    const std::vector<Measurement> measured = constraints.Measure(scores);
    double worst = 0.0;
    for (std::size_t j = 0; j < texts.size(); ++j) {
      const CompiledConstraint& compiled = constraints.compiled().constraints[j];
      double largest = -kInfinity;
      for (std::size_t r = 0; r < compiled.num_rows; ++r) {
        largest = std::max(largest, values.exact[compiled.first_row + r]);
      }
      ++(measured[j].satisfied ? held : broken)[j];
      worst = std::max(worst, measured[j].violation);
      if (std::isnan(measured[j].value)) continue;  // 0 / 0, which the rows cannot tell
      EXPECT_EQ(largest > 1e-12, measured[j].violation > 0.0)
          << texts[j] << ": " << largest << " and " << measured[j].violation;
      if (compiled.source.aggregate != Aggregate::kRatio &&
          compiled.source.expression.terms[0].rate.kind != RateKind::kPrecision) {
        EXPECT_NEAR(std::max(0.0, largest), measured[j].violation, 1e-12) << texts[j];
      }
    }
    EXPECT_EQ(values.worst_exact_violation, worst);
  }
  for (std::size_t j = 0; j < texts.size(); ++j) {
    EXPECT_GT(held[j], 0) << texts[j] << ": never held, the test is void";
    EXPECT_GT(broken[j], 0) << texts[j] << ": always held, the test is void";
  }
}

TEST(ExactRows, AgreeInSignWithBinaryViolations) {
  for (const std::int32_t positive : {0, 1}) {
    RowData rows = BinaryRows(80, 18);
    rows.positive_class = positive;
    ExpectSignsAgree({"fnr <= 40%", "tpr >= 50%", "selection_rate >= 50%", "selection_rate <= 50%",
                      "precision >= 50%", "min(precision, by=sex) >= 45%",
                      "gap(fnr, by=sex) <= 10%", "ratio(selection_rate, by=sex) >= 80%",
                      "ratio(tpr, by=race) >= 70%", "max(error, by=race) <= 50%",
                      "min(recall, by=sex) >= 40%", "fpr(sex=F) - fpr(sex=M) <= 1%",
                      "error - 2 * tpr <= -60%", "disagreement <= 50%", "loss(sex=F) <= 0.8"},
                     rows);
  }
}

TEST(ExactRows, AgreeInSignWithFourClassViolations) {
  ExpectSignsAgree({"error(class=b) <= 65%", "accuracy >= 35%",
                    "selection_rate(predicted=a) <= 25%", "selection_rate(predicted=a) >= 25%",
                    "precision(predicted=c) >= 30%", "min(precision(predicted=a), by=sex) >= 25%",
                    "gap(error, by=class) <= 30%", "ratio(error, by=(sex, race)) >= 70%",
                    "max(error, by=class) <= 80%", "disagreement <= 75%", "balanced_error <= 65%"},
                   FourClassRows(120, 19));
}

TEST(ExactRows, ArePairsOfGroupsForGapsAndOneRowElsewhere) {
  const RowData rows = BinaryRows(200, 20);
  const auto compiled = Compile(
      ParseAll({"gap(fnr, by=race) <= 5%", "max(fnr, by=race) <= 5%", "fnr - fpr <= 5%"}), rows);
  EXPECT_EQ(compiled.constraints[0].num_rows, 6U);
  EXPECT_EQ(compiled.constraints[1].num_rows, 3U);
  EXPECT_EQ(compiled.constraints[2].num_rows, 1U);
  EXPECT_EQ(compiled.constraints[2].first_row, 9U);
  EXPECT_EQ(compiled.bounds.size(), 10U);
  EXPECT_EQ(compiled.matrix.rows(), 10);
  EXPECT_EQ(static_cast<std::size_t>(compiled.matrix.cols()), compiled.num_sums());
}

// The number of cells, and with it the cost of a pass, is the data's: not the constraints'.
TEST(ExactRows, CellsDoNotGrowWithTheConstraints) {
  const RowData rows = BinaryRows(500, 21);
  const auto one = Compile(ParseAll({"gap(fnr, by=(sex, race)) <= 5%"}), rows);
  const auto many = Compile(ParseAll({"gap(fnr, by=(sex, race)) <= 5%", "fpr <= 50%",
                                      "gap(error, by=sex) <= 6%", "error(race=A) <= 70%"}),
                            rows);
  EXPECT_EQ(one.cells.cells.size(), 12U);  // 2 labels, 2 sexes, 3 races
  EXPECT_EQ(many.cells.cells.size(), 12U);
  EXPECT_EQ(one.num_sums(), many.num_sums());
}

// --- Undefined is never satisfied ---

void ExpectUndefined(const Measurement& m) {
  EXPECT_TRUE(std::isnan(m.value)) << m.text << ": " << m.value;
  EXPECT_EQ(m.violation, kInfinity) << m.text;
  EXPECT_FALSE(m.satisfied) << m.text;
}

// Both sides of every bound are undefined, so that no direction of comparison passes by accident.
void ExpectAllUndefined(const std::vector<std::string>& texts, const RowData& rows,
                        const std::vector<double>& scores) {
  const RateConstraints constraints(ParseAll(texts), rows, {}, {}, EmptySubsetPolicy::kUndefined);
  for (const Measurement& m : constraints.Measure(scores)) ExpectUndefined(m);
  EXPECT_EQ(constraints.Evaluate(scores).worst_exact_violation, kInfinity);
}

TEST(Undefined, NoRows) {
  const RowData rows = RowsWithHoles();
  ExpectAllUndefined(
      {"error(sex=X) <= 100%", "accuracy(sex=X) >= 0%", "loss(sex=X) >= 0", "fnr(sex=F) <= 100%",
       "tpr(sex=F) >= 0%", "selection_rate(sex=X) <= 100%", "precision(sex=X) >= 0%",
       "balanced_error(sex=F) <= 100%", "fnr(sex=F) - fnr(sex=M) <= 1", "gap(fnr, by=sex) <= 100%",
       "ratio(fnr, by=sex) >= 0%", "max(fnr, by=sex) <= 100%", "min(tpr, by=sex) >= 0%"},
      rows, {1.0, 1.0, -1.0, 2.0});
}

TEST(Undefined, RowsThatWeighNothing) {
  RowData rows = RowsWithHoles();
  rows.rate_weights = {0.0, 1.0, 0.0, 1.0};  // F counts for nothing
  ExpectAllUndefined({"error(sex=F) <= 100%", "precision(sex=F) >= 0%"}, rows,
                     {1.0, 1.0, -1.0, 2.0});
}

TEST(Undefined, NothingSelected) {
  const RowData rows = RowsWithHoles();
  ExpectAllUndefined(
      {"precision >= 0%", "precision(predicted=yes) >= 50%", "min(precision, by=sex) >= 0%"}, rows,
      {-1.0, -2.0, -3.0, -4.0});
  ExpectAllUndefined({"min(precision, by=sex) >= 0%"}, rows, {-1.0, 2.0, -3.0, 4.0});  // no F is
  ExpectAllUndefined({"ratio(selection_rate, by=sex) >= 0%"}, rows, {-1.0, -2.0, -3.0, -4.0});
}

// 1 - fnr is 0 up to rounding in every group: a ratio of what rounding left is no ratio.
TEST(Undefined, RatioOfRatesThatRoundToZero) {
  RowData rows = BinaryRows(200, 24);
  const std::vector<double> never(200, -1.0), always(200, 1.0);
  ExpectAllUndefined({"ratio(tpr, by=race) >= 0%", "ratio(recall, by=(sex, race)) >= 0%",
                      "ratio(selection_rate, by=race) >= 0%"},
                     rows, never);
  ExpectAllUndefined({"ratio(tnr, by=race) >= 0%", "ratio(fnr, by=race) >= 0%"}, rows, always);
}

TEST(Undefined, GroupsWithRowsAreStillReported) {
  const auto measured = MeasureAll({"gap(fnr, by=sex) <= 100%"}, RowsWithHoles(),
                                   {1.0, 1.0, -1.0, 2.0}, EmptySubsetPolicy::kUndefined);
  ASSERT_EQ(measured[0].groups.size(), 2U);  // X has no rows at all, so it is no group
  EXPECT_EQ(measured[0].groups[0].first, "sex=F");
  EXPECT_TRUE(std::isnan(measured[0].groups[0].second));
  EXPECT_EQ(measured[0].groups[1].first, "sex=M");
  EXPECT_EQ(measured[0].groups[1].second, 0.0);
}

bool SomeRowIsNaN(const CompiledConstraint& constraint, const std::vector<double>& g) {
  const auto first = g.begin() + static_cast<std::ptrdiff_t>(constraint.first_row);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(constraint.num_rows),
                     [](double value) { return std::isnan(value); });
}

// One NaN among the scores spoils every rate that sees its row, whatever the surrogate.
TEST(Undefined, NaNScores) {
  const std::vector<std::string> any = {"error <= 100%",
                                        "error >= 0%",
                                        "loss <= 1000",
                                        "selection_rate(predicted=P) <= 100%",
                                        "selection_rate(predicted=P) >= 0%",
                                        "disagreement <= 100%",
                                        "precision(predicted=P) >= 0%",
                                        "gap(error, by=sex) <= 100%",
                                        "ratio(error, by=sex) >= 0%",
                                        "max(error, by=sex) <= 100%"};
  for (const RowData& rows : {BinaryRows(60, 22), FourClassRows(60, 22)}) {
    std::vector<std::string> texts = any;
    for (std::string& text : texts) {
      if (const auto at = text.find("=P)"); at != std::string::npos) {
        text.replace(at + 1, 1, rows.labels.levels[0]);
      }
    }
    for (const SurrogateKind kind :
         {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2, SurrogateKind::kHingeSquared,
          SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}) {
      SCOPED_TRACE(Name(kind));
      const RateConstraints constraints(ParseAll(texts), rows, {.kind = kind});
      for (std::size_t k = 0; k < rows.num_scores(); ++k) {  // in each of the row's scores
        std::vector<double> scores = RandomScores(rows, 1.0, 23);
        scores[k * rows.num_rows() + 30] = kNaN;
        for (const Measurement& m : constraints.Measure(scores)) ExpectUndefined(m);
        const ConstraintValues values = constraints.Evaluate(scores);
        EXPECT_EQ(values.worst_exact_violation, kInfinity);
        for (const CompiledConstraint& c : constraints.compiled().constraints) {
          EXPECT_TRUE(SomeRowIsNaN(c, values.exact)) << ToText(c.source);
          EXPECT_TRUE(SomeRowIsNaN(c, values.surrogate)) << ToText(c.source);
        }
      }
    }
  }
}

TEST(Undefined, NaNScoresOutsideOfTheSubsetDoNotMatter) {
  const RowData rows = RowsWithHoles();
  const auto measured = MeasureAll({"error(sex=M) <= 50%"}, rows, {kNaN, 1.0, kNaN, 2.0});
  EXPECT_EQ(measured[0].value, 0.0);
  EXPECT_TRUE(measured[0].satisfied);
}

// --- Values as text ---

TEST(ValuesAsText, IntegersMatch) {
  RowData rows;
  rows.labels = EncodeColumn("y", {"2", "10", "1", "2"});
  rows.groups = {EncodeColumn("age", {"7", "8", "8", "7"})};
  // Scores of classes 1, 2, 10 in turn: all rows are predicted 10.
  const std::vector<double> scores = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  const auto measured = MeasureAll({"error(class=2) <= 1", "error(class=10) <= 1",
                                    "error(age=8) <= 1", "selection_rate(predicted=10) <= 1"},
                                   rows, scores);
  EXPECT_EQ(measured[0].value, 1.0);
  EXPECT_EQ(measured[1].value, 0.0);
  EXPECT_EQ(measured[2].value, 0.5);
  EXPECT_EQ(measured[3].value, 1.0);
}

TEST(ValuesAsText, OddTexts) {
  const std::string odd = "a \"b\", (c)=\\ \xC3\xA9\t1%";
  RowData rows;
  rows.labels = EncodeColumn("y", {odd, "", odd, "x"});
  Constraint constraint = ParseConstraint("error(class=x) <= 50%");
  for (const auto& [value, expected] : {std::pair{odd, 1.0}, {std::string(), 1.0}, {"x", 0.0}}) {
    constraint.expression.terms[0].rate.where[0].value = value;
    const Constraint parsed = ParseConstraint(ToText(constraint));
    // Levels are "", the odd text and "x"; all rows are predicted "x".
    const std::vector<double> scores = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    EXPECT_EQ(RateConstraints({parsed}, rows).Measure(scores)[0].value, expected) << value;
  }
}

// Multiplied out, "precision >= 50%" with nothing selected would read 0 <= 0.
TEST(Undefined, RowsOfAnUndefinedConstraintAreNaN) {
  const RowData rows = BinaryRows(40, 31);
  const RateConstraints constraints(ParseAll({"precision >= 50%", "fnr <= 50%"}), rows);
  const ConstraintValues values = constraints.Evaluate(std::vector<double>(40, -1.0));
  EXPECT_TRUE(std::isnan(values.exact[0]));
  EXPECT_NEAR(values.exact[1], 0.5, 1e-12);  // every positive is missed
  EXPECT_TRUE(std::isinf(values.worst_exact_violation));
}

}  // namespace
}  // namespace bregboost
