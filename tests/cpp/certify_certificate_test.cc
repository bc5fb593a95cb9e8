// Certificates of rows written as counts: which bound answers which constraint, every verdict, and
// what is never certified.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/certify/certificate.h"
#include "bregboost/certify/linear_bounds.h"
#include "bregboost/problem/constraint_error.h"
#include "certify_rows.h"
#include "error_text.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using test::CertifyText;
using test::CertifyTexts;
using test::CountedRows;
using test::MakeRows;
using testing::ErrorOf;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Women: 200 yes (10 missed), 300 no (30 false alarms). Men: 100 yes (8), 400 no (20).
CountedRows Survey() {
  return MakeRows({{.rows = 190, .label = 1, .predicted = 1, .sex = 0},
                   {.rows = 10, .label = 1, .predicted = 0, .sex = 0},
                   {.rows = 270, .label = 0, .predicted = 0, .sex = 0, .baseline = 1},
                   {.rows = 30, .label = 0, .predicted = 1, .sex = 0},
                   {.rows = 92, .label = 1, .predicted = 1, .sex = 1},
                   {.rows = 8, .label = 1, .predicted = 0, .sex = 1},
                   {.rows = 380, .label = 0, .predicted = 0, .sex = 1},
                   {.rows = 20, .label = 0, .predicted = 1, .sex = 1}});
}

struct OneRate {
  std::string text;
  std::int64_t events, rows;  // of the rate that is bounded
  bool is_complement = false;
};

TEST(Certificate, BoundsOneRateByClopperAndPearson) {
  const std::vector<OneRate> rates = {
      {"error <= 10%", 68, 1000},
      {"accuracy >= 90%", 68, 1000, true},
      {"error(class=yes, sex=F) <= 8%", 10, 200},
      {"fnr <= 9%", 18, 300},
      {"fpr <= 9%", 50, 700},
      {"tpr >= 90%", 18, 300, true},
      {"tnr(sex=M) >= 90%", 20, 400, true},
      {"recall >= 90%", 18, 300, true},
      {"recall(class=no) >= 90%", 50, 700, true},
      {"selection_rate <= 40%", 332, 1000},
      {"selection_rate(predicted=no, sex=M) <= 90%", 388, 500},
      {"precision >= 80%", 50, 332, true},
      {"precision(predicted=no, sex=F) >= 90%", 10, 280, true},
      // 332 are selected where the baseline says no, 270 are not where it says yes.
      {"churn <= 70%", 332 + 270, 1000},
  };
  for (const OneRate& rate : rates) {
    const ConstraintVerdict verdict = CertifyText(Survey(), rate.text);
    const double upper = BinomialUpperBound(rate.events, rate.rows, 0.1);
    const double lower = BinomialLowerBound(rate.events, rate.rows, 0.1);
    const double value = static_cast<double>(rate.events) / static_cast<double>(rate.rows);
    const auto shown = [&](double x) { return rate.is_complement ? 1.0 - x : x; };
    EXPECT_EQ(verdict.verdict, Verdict::kCertified) << rate.text;
    EXPECT_NEAR(verdict.value, shown(value), 1e-12) << rate.text;
    EXPECT_NEAR(verdict.confidence_bound, shown(upper), 1e-12) << rate.text;
    EXPECT_NEAR(verdict.other_bound, shown(lower), 1e-12) << rate.text;
    EXPECT_EQ(verdict.rows, static_cast<std::size_t>(rate.rows)) << rate.text;
    EXPECT_EQ(verdict.method, "binomial") << rate.text;
    EXPECT_DOUBLE_EQ(verdict.confidence, 0.9);
    EXPECT_FALSE(verdict.needs.rows_needed.has_value());
    EXPECT_TRUE(verdict.too_small.empty());
  }
}

TEST(Certificate, BoundsDifferencesOfDisjointSubsets) {
  const std::vector<BinomialTerm> terms = {{1.0, 40, 500}, {-1.0, 28, 500}};
  for (const std::string text : {"error(sex=F) - error(sex=M) <= 6%", "gap(error, by=sex) <= 6%"}) {
    const ConstraintVerdict verdict = CertifyText(Survey(), text);
    EXPECT_EQ(verdict.verdict, Verdict::kCertified);
    EXPECT_EQ(verdict.method, "two binomials");
    EXPECT_NEAR(verdict.value, 0.024, 1e-12);
    EXPECT_NEAR(verdict.confidence_bound, LinearUpperBound(terms, 0.1), 1e-12);
    EXPECT_EQ(verdict.rows, 1000U);
  }
}

TEST(Certificate, SplitsBalancedErrorIntoClasses) {
  const std::vector<BinomialTerm> terms = {{0.5, 50, 700}, {0.5, 18, 300}};
  const ConstraintVerdict verdict = CertifyText(Survey(), "balanced_error <= 10%");
  EXPECT_EQ(verdict.verdict, Verdict::kCertified);
  EXPECT_NEAR(verdict.confidence_bound, LinearUpperBound(terms, 0.1), 1e-12);
}

// All rows hold the women as well, so the two are not independent; each has half of delta, up to
// the rule that gives more to the smaller set.
TEST(Certificate, BoundsOverlappingSubsetsByUnion) {
  const ConstraintVerdict verdict = CertifyText(Survey(), "error(sex=F) - error <= 6%");
  EXPECT_EQ(verdict.method, "union");
  const double small = std::sqrt(2.0) / (1.0 + std::sqrt(2.0)) * 0.1;
  EXPECT_NEAR(verdict.confidence_bound,
              BinomialUpperBound(40, 500, small) - BinomialLowerBound(68, 1000, 0.1 - small), 1e-9);
}

TEST(Certificate, ComparesAllGroups) {
  const ConstraintVerdict most = CertifyText(Survey(), "max(fnr, by=sex) <= 15%");
  EXPECT_EQ(most.verdict, Verdict::kCertified);
  EXPECT_NEAR(most.confidence_bound, BinomialUpperBound(8, 100, 0.1), 1e-12);
  // Which group is worst is read from the data, so its lower bound pays for both.
  EXPECT_NEAR(most.other_bound, BinomialLowerBound(8, 100, 0.05), 1e-12);
  const ConstraintVerdict least = CertifyText(Survey(), "min(precision, by=sex) >= 75%");
  EXPECT_EQ(least.verdict, Verdict::kCertified);
  EXPECT_NEAR(least.confidence_bound,
              1.0 - std::max(BinomialUpperBound(30, 220, 0.1), BinomialUpperBound(20, 112, 0.1)),
              1e-12);
  EXPECT_EQ(least.rows, 332U);
}

TEST(Certificate, BoundsRatiosOfTheWorstPair) {
  const ConstraintVerdict verdict = CertifyText(Survey(), "ratio(selection_rate, by=sex) >= 40%");
  EXPECT_EQ(verdict.verdict, Verdict::kCertified);
  EXPECT_NEAR(verdict.value, 112.0 / 220.0, 1e-12);
  EXPECT_NEAR(verdict.confidence_bound, RatioLowerBound({112, 500}, {220, 500}, 0.4, 0.1), 1e-12);
  EXPECT_GT(verdict.other_bound, verdict.value);
  EXPECT_EQ(CertifyText(Survey(), "ratio(selection_rate, by=sex) >= 80%").verdict,
            Verdict::kViolated);
}

// The bound is searched for up to a tolerance; what is tested is the limit itself, and a path of
// decisions relies on it.
TEST(Certificate, VerdictsAreThoseOfTheTest) {
  const CountedRows few = MakeRows({
      {.rows = 3, .label = 1, .predicted = 0, .sex = 0},
      {.rows = 6, .label = 1, .predicted = 1, .sex = 0},
      {.rows = 44, .label = 1, .predicted = 1, .sex = 1},
  });
  const std::vector<BinomialTerm> difference = {{.coefficient = 1.0, .events = 3, .rows = 9},
                                                {.coefficient = -1.0, .events = 0, .rows = 44}};
  ASSERT_TRUE(LinearSumIsBelow(difference, 0.6, 0.1));
  ASSERT_GT(LinearUpperBound(difference, 0.1), 0.6);
  const ConstraintVerdict verdict = CertifyText(few, "gap(error, by=sex) <= 60%");
  EXPECT_EQ(verdict.verdict, Verdict::kCertified);
  EXPECT_EQ(verdict.confidence_bound, 0.6);
}

TEST(Certificate, HasEveryVerdict) {
  EXPECT_EQ(CertifyText(Survey(), "fnr <= 10%").verdict, Verdict::kCertified);
  EXPECT_EQ(CertifyText(Survey(), "fnr <= 7%").verdict, Verdict::kNotCertified);
  EXPECT_EQ(CertifyText(Survey(), "fnr <= 3%").verdict, Verdict::kViolated);
  EXPECT_EQ(CertifyText(Survey(), "tpr >= 97%").verdict, Verdict::kViolated);
  EXPECT_EQ(CertifyText(Survey(), "gap(selection_rate, by=sex) <= 5%").verdict, Verdict::kViolated);
  const ConstraintVerdict estimated =
      CertifyText(Survey(), "fnr <= 10%", {.rows_are_separate = false});
  EXPECT_EQ(estimated.verdict, Verdict::kEstimated);
  EXPECT_DOUBLE_EQ(estimated.value, 0.06);
  EXPECT_TRUE(std::isnan(estimated.confidence_bound));
  EXPECT_EQ(Name(Verdict::kNotCertified), "not certified");
}

TEST(Certificate, SaysHowManyRowsOfWhichSubset) {
  const ConstraintVerdict one = CertifyText(Survey(), "fnr <= 7%");
  EXPECT_EQ(one.needs.subset, "class=yes");
  EXPECT_EQ(one.needs.rows, 300U);
  EXPECT_EQ(one.needs.rows_needed, RowsNeeded(0.06, 0.07, 0.1));

  const ConstraintVerdict gap = CertifyText(Survey(), "gap(fnr, by=sex) <= 5%");
  EXPECT_EQ(gap.verdict, Verdict::kNotCertified);
  EXPECT_EQ(gap.needs.subset, "sex=M, class=yes");
  ASSERT_TRUE(gap.needs.rows_needed.has_value());
  // With so many rows, and the same rates, it is certified; with half of them it is not.
  const auto fold = [&](double factor) {
    const double times = factor * static_cast<double>(*gap.needs.rows_needed) / 100.0;
    const std::vector<BinomialTerm> terms = {
        {1.0, std::llround(8 * times), std::llround(100 * times)},
        {-1.0, std::llround(10 * times), std::llround(200 * times)}};
    return LinearUpperBound(terms, 0.1);
  };
  EXPECT_LE(fold(1.1), 0.05);
  EXPECT_GT(fold(0.5), 0.05);

  EXPECT_FALSE(CertifyText(Survey(), "fnr <= 6%").needs.rows_needed.has_value());
}

TEST(Certificate, ListsSubsetsThatAreTooSmall) {
  const CountedRows few = MakeRows({{.rows = 15, .label = 1, .predicted = 1, .sex = 0},
                                    {.rows = 80, .label = 1, .predicted = 1, .sex = 1},
                                    {.rows = 50, .label = 0, .predicted = 0, .sex = 1}});
  const ConstraintVerdict verdict = CertifyText(few, "max(fnr, by=sex) <= 5%");
  EXPECT_EQ(verdict.verdict, Verdict::kNotCertified);
  ASSERT_EQ(verdict.too_small.size(), 1U);
  EXPECT_EQ(verdict.too_small[0].subset, "sex=F, class=yes");
  EXPECT_EQ(verdict.too_small[0].rows, 15U);
  EXPECT_EQ(verdict.too_small[0].rows_needed, 45);  // 0.95^45 < 0.1 < 0.95^44
  const ConstraintVerdict gap = CertifyText(few, "gap(fnr, by=sex) <= 5%");
  ASSERT_EQ(gap.too_small.size(), 1U);
  EXPECT_EQ(gap.too_small[0].subset, "sex=F, class=yes");
}

TEST(Certificate, NeverCertifiesUndefinedRates) {
  const CountedRows men_only = MakeRows({{.rows = 5000, .label = 0, .predicted = 0, .sex = 0},
                                         {.rows = 5000, .label = 1, .predicted = 0, .sex = 1}});
  for (const std::string text :
       {"fnr(sex=F) <= 90%", "precision >= 1%", "max(fnr, by=sex) <= 90%",
        "gap(fnr, by=sex) <= 90%", "ratio(selection_rate, by=sex) >= 1%", "tpr(sex=F) >= 0%",
        "error + fnr(sex=F) <= 190%", "balanced_error(sex=M) <= 90%"}) {
    const Certificate certificate = CertifyTexts(men_only, {text});
    const ConstraintVerdict& verdict = certificate.constraints.front();
    EXPECT_FALSE(certificate.all_certified) << text;
    EXPECT_EQ(verdict.verdict, Verdict::kNotCertified) << text;
    EXPECT_TRUE(std::isnan(verdict.value)) << text;
    EXPECT_TRUE(std::isnan(verdict.confidence_bound)) << text;
    EXPECT_EQ(verdict.method, "none") << text;
  }
  const ConstraintVerdict verdict = CertifyText(men_only, "fnr(sex=F) <= 10%");
  EXPECT_EQ(verdict.needs.subset, "sex=F, class=yes");
  EXPECT_EQ(verdict.needs.rows, 0U);
  EXPECT_EQ(verdict.needs.rows_needed, 22);
}

// The level is known, so unseen rows may have it, and nothing is known about those.
TEST(Certificate, NeverCertifiesGroupsWithoutRows) {
  CountedRows survey = Survey();
  survey.rows.groups.front().levels.push_back("X");
  const ConstraintVerdict verdict = CertifyText(survey, "max(error, by=sex) <= 50%");
  EXPECT_EQ(verdict.verdict, Verdict::kNotCertified);
  ASSERT_EQ(verdict.too_small.size(), 1U);
  EXPECT_EQ(verdict.too_small[0].subset, "sex=X");
  EXPECT_EQ(CertifyText(survey, "error <= 50%").verdict, Verdict::kCertified);
}

TEST(Certificate, AnswersOneClassPredictions) {
  const CountedRows all_yes = MakeRows({{.rows = 300, .label = 1, .predicted = 1},
                                        {.rows = 300, .label = 0, .predicted = 1, .sex = 1}});
  EXPECT_EQ(CertifyText(all_yes, "fnr <= 1%").verdict, Verdict::kCertified);
  EXPECT_EQ(CertifyText(all_yes, "fpr <= 50%").verdict, Verdict::kViolated);
  EXPECT_EQ(CertifyText(all_yes, "precision >= 40%").verdict, Verdict::kCertified);
  EXPECT_EQ(CertifyText(all_yes, "precision(predicted=no) >= 0%").verdict, Verdict::kNotCertified);
}

TEST(Certificate, AnswersThreeClasses) {
  const CountedRows rows = MakeRows({{.rows = 95, .label = 0, .predicted = 0},
                                     {.rows = 5, .label = 0, .predicted = 2},
                                     {.rows = 90, .label = 1, .predicted = 1, .sex = 1},
                                     {.rows = 10, .label = 1, .predicted = 2},
                                     {.rows = 80, .label = 2, .predicted = 2, .sex = 1},
                                     {.rows = 20, .label = 2, .predicted = 0}},
                                    3);
  EXPECT_NEAR(CertifyText(rows, "error(class=perhaps) <= 30%").confidence_bound,
              BinomialUpperBound(20, 100, 0.1), 1e-12);
  EXPECT_NEAR(CertifyText(rows, "selection_rate(predicted=perhaps) <= 50%").confidence_bound,
              BinomialUpperBound(95, 300, 0.1), 1e-12);
  EXPECT_NEAR(CertifyText(rows, "precision(predicted=perhaps) >= 50%").confidence_bound,
              1.0 - BinomialUpperBound(15, 95, 0.1), 1e-12);
  EXPECT_NEAR(CertifyText(rows, "max(error, by=class) <= 50%").confidence_bound,
              BinomialUpperBound(20, 100, 0.1), 1e-12);
  const std::vector<BinomialTerm> terms(
      {{1.0 / 3.0, 5, 100}, {1.0 / 3.0, 10, 100}, {1.0 / 3.0, 20, 100}});
  const ConstraintVerdict balanced = CertifyText(rows, "balanced_error <= 20%");
  EXPECT_EQ(balanced.method, "chernoff");
  EXPECT_NEAR(balanced.confidence_bound, LinearUpperBound(terms, 0.1), 1e-12);
}

TEST(Certificate, SharesDeltaAmongSeparateVerdicts) {
  const std::vector<std::string> texts = {"fnr <= 10%", "fpr <= 10%"};
  const Certificate joint = CertifyTexts(Survey(), texts);
  const Certificate separate = CertifyTexts(Survey(), texts, {.joint = false});
  EXPECT_DOUBLE_EQ(joint.constraints[0].confidence_bound, BinomialUpperBound(18, 300, 0.1));
  EXPECT_DOUBLE_EQ(separate.constraints[0].confidence_bound, BinomialUpperBound(18, 300, 0.05));
  EXPECT_DOUBLE_EQ(separate.constraints[0].confidence, 0.95);
  EXPECT_TRUE(joint.all_certified);
  EXPECT_TRUE(separate.all_certified);
  EXPECT_FALSE(CertifyTexts(Survey(), {"fnr <= 10%", "fpr <= 6%"}).all_certified);
  EXPECT_FALSE(CertifyTexts(Survey(), {}).all_certified);
}

TEST(Certificate, EqualWeightsAreNoWeights) {
  const auto weighted = [](double yes, double no) {
    return MakeRows({{.rows = 190, .label = 1, .predicted = 1, .weight = yes},
                     {.rows = 10, .label = 1, .predicted = 0, .sex = 1, .weight = yes},
                     {.rows = 100, .label = 0, .predicted = 0, .weight = no}});
  };
  for (const double weight : {0.1, 1.0, 50.0}) {
    const ConstraintVerdict verdict = CertifyText(weighted(weight, 1.0), "fnr <= 10%");
    EXPECT_DOUBLE_EQ(verdict.confidence_bound, BinomialUpperBound(10, 200, 0.1));
  }
  // Rows without weight are not there.
  EXPECT_DOUBLE_EQ(CertifyText(weighted(1.0, 0.0), "error <= 10%").confidence_bound,
                   BinomialUpperBound(10, 200, 0.1));
  // Weights that differ within the subset need a known maximum.
  EXPECT_THROW(CertifyText(weighted(2.0, 1.0), "error <= 10%"), std::invalid_argument);
  const ConstraintVerdict betting =
      CertifyText(weighted(2.0, 1.0), "error <= 10%", {.max_weight = 2.0});
  EXPECT_EQ(betting.method, "betting");
  EXPECT_NEAR(betting.value, 20.0 / 500.0, 1e-12);
  EXPECT_GT(betting.confidence_bound, betting.value);
  EXPECT_LT(betting.other_bound, betting.value);
  EXPECT_EQ(betting.verdict, Verdict::kCertified);
  EXPECT_THROW(CertifyText(weighted(2.0, 1.0), "error <= 10%", {.max_weight = 1.5}),
               std::invalid_argument);
  // All weigh 1, yet rows may come that weigh 9: equal weights of a sample are no proof.
  EXPECT_EQ(CertifyText(weighted(1.0, 1.0), "error <= 10%", {.max_weight = 9.0}).method, "betting");
}

TEST(Certificate, BoundsLosses) {
  const CountedRows rows =
      MakeRows({{.rows = 400, .label = 0, .loss = 0.1},
                {.rows = 100, .label = 1, .predicted = 1, .sex = 1, .loss = 0.9}});
  const CertifyOptions options{.loss_range = LossRange{.low = 0.0, .high = 1.0}};
  const ConstraintVerdict verdict = CertifyText(rows, "loss <= 0.35", options);
  EXPECT_EQ(verdict.verdict, Verdict::kCertified);
  EXPECT_EQ(verdict.method, "betting");
  EXPECT_NEAR(verdict.value, 0.26, 1e-12);
  EXPECT_EQ(CertifyText(rows, "loss <= 0.15", options).verdict, Verdict::kViolated);
  EXPECT_EQ(CertifyText(rows, "gap(loss, by=sex) <= 0.1", options).verdict, Verdict::kViolated);
  const ConstraintVerdict close = CertifyText(rows, "loss <= 0.27", options);
  EXPECT_EQ(close.verdict, Verdict::kNotCertified);
  EXPECT_GT(close.needs.rows_needed.value_or(0), 2000);
}

// Claims need ranges; estimates do not.
TEST(Certificate, EstimatesWithoutRanges) {
  const CountedRows rows =
      MakeRows({{.rows = 30, .label = 0, .weight = 1.0, .loss = 0.5},
                {.rows = 10, .label = 1, .sex = 1, .weight = 2.0, .loss = 2.0}});
  const Certificate certificate =
      CertifyTexts(rows, {"error <= 10%", "loss <= 0.5"}, {.rows_are_separate = false});
  EXPECT_EQ(certificate.constraints[0].verdict, Verdict::kEstimated);
  EXPECT_NEAR(certificate.constraints[0].value, 20.0 / 50.0, 1e-12);
  EXPECT_EQ(certificate.constraints[1].verdict, Verdict::kEstimated);
  EXPECT_NEAR(certificate.constraints[1].value, 55.0 / 50.0, 1e-12);
  EXPECT_FALSE(certificate.all_certified);
}

TEST(Certificate, AnswersRegression) {
  RowData rows;
  rows.targets.assign(300, 1.5);
  const Predictions predictions{.classes = {}, .losses = std::vector<double>(300, 0.2)};
  const std::vector<Constraint> constraints = {ParseConstraint("loss <= 0.5")};
  EXPECT_TRUE(Certify(predictions, rows, constraints, {.loss_range = LossRange{}}).all_certified);
}

TEST(Certificate, RefusesWhatItCannotKnow) {
  CountedRows rows = Survey();
  EXPECT_THROW(CertifyText(rows, "loss <= 0.5"), std::invalid_argument);
  rows.predictions.losses[3] = kNaN;
  EXPECT_THROW(CertifyText(rows, "loss <= 0.5", {.loss_range = LossRange{}}),
               std::invalid_argument);
  EXPECT_EQ(CertifyText(rows, "fnr <= 10%").verdict, Verdict::kCertified);
  rows.predictions.classes[0] = 2;
  EXPECT_THROW(CertifyText(rows, "fnr <= 10%"), std::invalid_argument);
  rows.predictions.classes.clear();
  EXPECT_THROW(CertifyText(rows, "fnr <= 10%"), std::invalid_argument);
  EXPECT_THROW(CertifyText(Survey(), "error(race=A) <= 10%"), ConstraintError);
  rows.predictions.losses.pop_back();
  EXPECT_EQ(ErrorOf([&] { CertifyText(rows, "loss <= 0.5", {.loss_range = LossRange{}}); }),
            "predictions.losses: 999 numbers; allowed: one for each of the 1000 rows");
  EXPECT_EQ(ErrorOf([] {
              CertifyText(Survey(), "fnr <= 9%", {.expected_groups = {1, 2}});
            }),
            "expected_groups: 2 values; allowed: one per constraint, 1");
}

// Bounds of losses and of weighted rates need every row, and no worker has them all.
TEST(Certificate, OnWorkersCountsAreAllThatIsCertified) {
  const auto refusal = [](const std::string& text, const CertifyOptions& options) {
    return ErrorOf([&] {
      test::OnWorkers(1, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
        CountedRows rows = Survey();
        rows.rows.workers = worker;
        CertifyText(rows, text, options);
      });
    });
  };
  const std::string where =
      " over rows that workers have between them; allowed there: rates of "
      "rows that weigh the same";
  EXPECT_EQ(refusal("fnr <= 9%", {}), "no error");
  EXPECT_EQ(refusal("loss <= 0.5", {.loss_range = LossRange{}}),
            "certification rows: a loss" + where);
  EXPECT_EQ(refusal("fnr <= 9%", {.max_weight = 2.0}), "certification rows: weights" + where);
}

TEST(Certificate, RefusesOptionsOutOfRange) {
  const auto refuses = [](const CertifyOptions& options, const std::string& field) {
    try {
      Validate(options);
      ADD_FAILURE() << field << " passed";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).rfind(field + ": ", 0), 0U) << error.what();
    }
  };
  refuses({.delta = 0.0}, "delta");
  refuses({.delta = 0.51}, "delta");
  refuses({.delta = kNaN}, "delta");
  refuses({.max_weight = 0.0}, "max_weight");
  refuses({.max_weight = kNaN}, "max_weight");
  refuses({.loss_range = LossRange{.low = 1.0, .high = 1.0}}, "loss_range");
  refuses({.loss_range = LossRange{.low = 0.0, .high = kNaN}}, "loss_range");
}

TEST(Certificate, DoesNotDependOnTheOrderOfRows) {
  const CountedRows forward = Survey();
  std::vector<std::int32_t> indices;
  for (std::int32_t i = 999; i >= 0; --i) indices.push_back(i);
  CountedRows backward{.rows = TakeRows(forward.rows, indices), .predictions = {}};
  for (const std::int32_t i : indices) {
    backward.predictions.classes.push_back(
        forward.predictions.classes[static_cast<std::size_t>(i)]);
  }
  for (const std::string text : {"fnr <= 7%", "gap(error, by=sex) <= 5%", "precision >= 80%"}) {
    EXPECT_NEAR(CertifyText(forward, text).confidence_bound,
                CertifyText(backward, text).confidence_bound, 1e-12);
  }
}

}  // namespace
}  // namespace bregboost
