// Paths of decisions tested in order, and the log of rows that have certified.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/certify/fixed_sequence.h"
#include "certify_rows.h"

namespace bregboost {
namespace {

using test::CountedRows;
using test::MakeRows;

constexpr std::size_t kYes = 200, kNo = 300;

RowData PathRows() {
  return MakeRows({{.rows = kYes, .label = 1}, {.rows = kNo, .label = 0, .sex = 1}}).rows;
}

// A decision that misses the first `misses` yes and selects the last `alarms` no.
Predictions Decision(std::size_t misses, std::size_t alarms) {
  Predictions predictions;
  for (std::size_t i = 0; i < kYes; ++i) predictions.classes.push_back(i < misses ? 0 : 1);
  for (std::size_t i = 0; i < kNo; ++i) predictions.classes.push_back(i + alarms < kNo ? 0 : 1);
  return predictions;
}

PathCertificate TestPath(const std::vector<std::size_t>& misses, std::vector<std::size_t>& asked,
                         const CertifyOptions& options = {}) {
  const std::vector<Constraint> constraints = {ParseConstraint("fnr <= 5%"),
                                               ParseConstraint("fpr <= 50%")};
  return CertifyPath(
      misses.size(),
      [&](std::size_t point) {
        asked.push_back(point);
        return Decision(misses[point], 100);
      },
      PathRows(), constraints, options);
}

// Five misses of 200 rows have an upper bound of 4.6% at 90%, six of 5.2%.
TEST(FixedSequence, DeploysTheLastPointBeforeTheFirstFailure) {
  ASSERT_LE(BinomialUpperBound(5, kYes, 0.1), 0.05);
  ASSERT_GT(BinomialUpperBound(6, kYes, 0.1), 0.05);
  std::vector<std::size_t> asked;
  const PathCertificate path = TestPath({0, 2, 5, 8, 1, 0}, asked);
  EXPECT_EQ(path.deployed, 2U);
  // The points beyond the failure would pass, but are not looked at.
  EXPECT_EQ(asked, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(path.tested, 4U);
  ASSERT_TRUE(path.first_failure.has_value());
  EXPECT_FALSE(path.first_failure->all_certified);
  EXPECT_TRUE(path.certificate.all_certified);
  EXPECT_DOUBLE_EQ(path.certificate.constraints[0].value, 0.025);
}

TEST(FixedSequence, CanReachTheEnd) {
  std::vector<std::size_t> asked;
  const PathCertificate path = TestPath({0, 1, 3, 5}, asked);
  EXPECT_EQ(path.deployed, 3U);
  EXPECT_EQ(path.tested, 4U);
  EXPECT_FALSE(path.first_failure.has_value());
}

TEST(FixedSequence, DeploysNothingIfTheMostCautiousFails) {
  std::vector<std::size_t> asked;
  const PathCertificate path = TestPath({6, 0, 0}, asked);
  EXPECT_FALSE(path.deployed.has_value());
  EXPECT_EQ(path.tested, 1U);
  EXPECT_EQ(path.certificate.constraints[0].verdict, Verdict::kNotCertified);
  EXPECT_EQ(path.certificate.constraints[0].needs.rows_needed, RowsNeeded(0.03, 0.05, 0.1));
}

TEST(FixedSequence, EveryConstraintMustPass) {
  const std::vector<Constraint> constraints = {ParseConstraint("fnr <= 5%"),
                                               ParseConstraint("fpr <= 20%")};
  const PathCertificate path = CertifyPath(
      3, [](std::size_t point) { return Decision(0, 40 * point); }, PathRows(), constraints);
  EXPECT_EQ(path.deployed, 1U);  // 13% false alarms pass, 27% do not
}

TEST(FixedSequence, RefusesWhatIsNoTest) {
  std::vector<std::size_t> asked;
  EXPECT_THROW(TestPath({}, asked), std::invalid_argument);
  EXPECT_THROW(TestPath({0}, asked, {.joint = false}), std::invalid_argument);
  EXPECT_THROW(TestPath({0}, asked, {.rows_are_separate = false}), std::invalid_argument);
  EXPECT_THROW(CertifyPath(1, [](std::size_t) { return Decision(0, 0); }, PathRows(), {}),
               std::invalid_argument);
  EXPECT_TRUE(asked.empty());
}

TEST(CertificationLog, WarnsOfTheSecondUse) {
  CertificationLog log;
  const CertifyOptions options{.log = &log};
  std::vector<std::size_t> asked;
  EXPECT_TRUE(TestPath({0, 1, 2}, asked, options).warnings.empty());  // many points, one use
  const Certificate again =
      Certify(Decision(0, 0), PathRows(), {ParseConstraint("fnr <= 5%")}, options);
  ASSERT_EQ(again.warnings.size(), 1U);
  EXPECT_NE(again.warnings[0].find("500 rows"), std::string::npos);
  EXPECT_TRUE(again.all_certified);  // a warning, not a verdict
}

TEST(CertificationLog, KnowsRowsInAnyOrder) {
  const RowData rows = PathRows();
  std::vector<double> digests;
  std::vector<std::int32_t> indices;
  for (std::int32_t i = 0; i < 500; ++i) {
    digests.push_back(0.25 * i);
    indices.push_back((i * 7) % 500);
  }
  std::vector<double> reordered;
  for (const std::int32_t i : indices) reordered.push_back(digests[static_cast<std::size_t>(i)]);
  EXPECT_EQ(Fingerprint(rows, digests), Fingerprint(TakeRows(rows, indices), reordered));
  EXPECT_NE(Fingerprint(rows, digests), Fingerprint(rows));
  digests[17] += 1e-9;
  EXPECT_NE(Fingerprint(rows, digests), Fingerprint(TakeRows(rows, indices), reordered));
  EXPECT_THROW(Fingerprint(rows, std::vector<double>{1.0}), std::invalid_argument);
}

TEST(CertificationLog, SeesLabelsGroupsAndWeights) {
  const std::uint64_t base = Fingerprint(PathRows());
  RowData label = PathRows(), group = PathRows(), weight = PathRows(), baseline = PathRows();
  label.labels.codes[3] = 0;
  group.groups[0].codes[3] = 1;
  weight.weights[3] = 2.0;
  baseline.baseline[3] = 1;
  for (const RowData* rows : {&label, &group, &weight, &baseline}) {
    EXPECT_NE(Fingerprint(*rows), base);
  }
  // Codes are not values: one more level in front of the others changes nothing.
  RowData recoded = PathRows();
  recoded.groups[0].levels = {"A", "F", "M"};
  for (std::int32_t& code : recoded.groups[0].codes) ++code;
  EXPECT_EQ(Fingerprint(recoded), base);
}

TEST(CertificationLog, SurvivesJson) {
  CertificationLog log;
  log.Remember(0);
  log.Remember(0xFEDCBA9876543210U);
  const CertificationLog read = CertificationLog::FromJson(log.ToJson());
  EXPECT_EQ(read, log);
  EXPECT_TRUE(read.Contains(0xFEDCBA9876543210U));
  EXPECT_FALSE(read.Contains(1));
  for (const std::string text :
       {"", "[]", "{}", R"({"certification_rows": 1})", R"({"certification_rows": [1]})",
        R"({"certification_rows": ["12"]})", R"({"certification_rows": ["000000000000000g"]})"}) {
    EXPECT_THROW(CertificationLog::FromJson(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace bregboost
