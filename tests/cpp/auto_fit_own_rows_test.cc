// Evaluation and certification rows of the user's own, in place of rows drawn from the data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "boosted_kits.h"
#include "bregboost/data/folds.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

const std::vector<Constraint> kMisses = {ParseConstraint("fnr <= 20%")};
const std::vector<Constraint> kGap = {ParseConstraint("gap(error, by=group) <= 10%")};

// Features with few values, whose bins do not depend on which rows are binned.
GeneratedData Coarse(std::size_t n, unsigned seed) {
  GeneratedData data = TwoGroups(n, seed);
  for (double& value : data.features) value = std::clamp(std::round(2.0 * value), -5.0, 5.0);
  return data;
}

GeneratedData Take(const GeneratedData& data, const std::vector<std::int32_t>& rows) {
  GeneratedData taken{.rows = TakeRows(data.rows, rows), .num_features = data.num_features};
  for (const std::int32_t row : rows) {
    const double* first = &data.features[static_cast<std::size_t>(row) * data.num_features];
    taken.features.insert(taken.features.end(), first, first + data.num_features);
  }
  return taken;
}

// Draws as the pipeline documents them: strata are the cells of the limits.
std::pair<GeneratedData, GeneratedData> Split(const GeneratedData& data,
                                              const std::vector<Constraint>& limits, double share,
                                              std::uint64_t seed) {
  const RateProblem problem(limits, ParseObjective("accuracy"), data.rows);
  const auto drawn = DrawShare(problem.compiled().cells.cell_of_row, share, seed);
  std::vector<std::int32_t> rest, taken;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    (drawn[i] != 0 ? taken : rest).push_back(static_cast<std::int32_t>(i));
  }
  return {Take(data, rest), Take(data, taken)};
}

// The same rows, other codes: levels in the opposite order, and one that no row has.
RowData Reversed(RowData rows) {
  const auto reverse = [](CategoricalColumn& column) {
    const auto last = static_cast<std::int32_t>(column.levels.size()) - 1;
    std::reverse(column.levels.begin(), column.levels.end());
    for (std::int32_t& code : column.codes) code = last - code;
  };
  reverse(rows.labels);
  rows.positive_class = 1 - rows.positive_class;
  for (CategoricalColumn& group : rows.groups) {
    reverse(group);
    group.levels.emplace_back("nobody");
  }
  return rows;
}

FeatureMatrix Matrix(const GeneratedData& data) {
  return FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features);
}

template <class Kit>
class OwnRowsTest : public GbmTest<typename Kit::Api> {
 protected:
  using Dataset = typename Kit::Dataset;

  const Dataset& Binned(const GeneratedData& data, const Dataset* reference = nullptr) {
    datasets_.push_back(
        Dataset::FromArray(FeatureArray::RowMajor(std::span<const double>(data.features),
                                                  data.rows.num_rows(), data.num_features),
                           Parameters(), reference));
    return datasets_.back();
  }

  AutoFit Fit(const FitData<Dataset>& data, const std::vector<Constraint>& limits,
              const FitOptions& options) {
    const BoostedOptions boosting{.parameters = Parameters(), .rounds_per_step = 2};
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return AutoFit::LightGbm(data, limits, boosting, options);
    } else {
      return AutoFit::Xgboost(data, limits, boosting, options);
    }
  }

  static GbmParameters Parameters() {
    GbmParameters parameters = Kit::Parameters();
    parameters.emplace(Kit::kNumTrees, "20");
    return parameters;
  }

  std::deque<Dataset> datasets_;
};

using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(OwnRowsTest, Kits);

// The rows that the pipeline would draw, given as the user's own: the same fit.
TYPED_TEST(OwnRowsTest, EqualRowsThatWouldBeDrawn) {
  const GeneratedData data = Coarse(4000, 1);
  for (const auto& limits : {kMisses, kGap}) {
    FitOptions options;
    options.validation = Validation::kHoldOut;
    options.certify = 0.25;
    const AutoFit drawn = this->Fit({.training = {this->Binned(data), data.rows}}, limits, options);
    const auto [rest, reserved] = Split(data, limits, options.certify, options.seed);
    const auto [training, unseen] = Split(rest, limits, options.hold_out_share, options.seed + 1);
    const auto& binned = this->Binned(training);
    const auto& binned_unseen = this->Binned(unseen, &binned);
    const auto& binned_reserved = this->Binned(reserved, &binned);
    options = {};
    const RowData other_codes = Reversed(unseen.rows), other_reserved = Reversed(reserved.rows);
    const AutoFit own = this->Fit(
        {.training = {binned, training.rows},
         .evaluation = FitRows<typename TypeParam::Dataset>{binned_unseen, other_codes},
         .certification = FitRows<typename TypeParam::Dataset>{binned_reserved, other_reserved}},
        limits, options);
    const FitReport &by_draw = drawn.report(), &by_user = own.report();
    EXPECT_EQ(by_user.validation, Validation::kOwnRows);
    EXPECT_EQ(by_user.training_rows, by_draw.training_rows);
    EXPECT_EQ(by_user.unseen_rows, by_draw.unseen_rows);
    EXPECT_EQ(by_user.certification_rows, by_draw.certification_rows);
    EXPECT_NEAR(by_user.unseen.objective, by_draw.unseen.objective, 1e-9);
    EXPECT_NEAR(by_user.unseen.measurements[0].value, by_draw.unseen.measurements[0].value, 1e-9);
    EXPECT_EQ(by_user.path.size(), by_draw.path.size());
    EXPECT_EQ(by_user.certificate.constraints[0].verdict,
              by_draw.certificate.constraints[0].verdict);
    EXPECT_EQ(by_user.certificate.constraints[0].value, by_draw.certificate.constraints[0].value);
    EXPECT_LT(LargestDifference(TypeParam::Predict(own.Model(), data),
                                TypeParam::Predict(drawn.Model(), data)),
              1e-4);
  }
}

// Whoever was scored for the certificate, it was by the model that is deployed.
TYPED_TEST(OwnRowsTest, CertificatesAreOfTheDeployedModel) {
  const GeneratedData data = Coarse(2500, 2), evaluation = Coarse(1500, 3),
                      certification = Coarse(1500, 4);
  const auto& binned = this->Binned(data);
  const auto& binned_evaluation = this->Binned(evaluation, &binned);
  const auto& binned_certification = this->Binned(certification, &binned);
  using Rows = FitRows<typename TypeParam::Dataset>;
  const Rows training{binned, data.rows}, unseen{binned_evaluation, evaluation.rows},
      reserved{binned_certification, certification.rows};
  FitOptions refit;
  refit.deploy = Deploy::kRefit;
  for (const auto& limits : {kMisses, kGap}) {
    for (const bool own_evaluation : {false, true}) {
      for (const FitOptions& options : {FitOptions{}, refit}) {
        std::optional<Rows> given;
        if (own_evaluation) given.emplace(unseen);
        const AutoFit fit =
            this->Fit({.training = training, .evaluation = given, .certification = reserved},
                      limits, options);
        EXPECT_EQ(fit.report().training_rows, 2500);
        EXPECT_EQ(fit.report().certification_rows, 1500);
        EXPECT_EQ(fit.report().unseen_rows, own_evaluation ? 1500 : 2500);
        const RateConstraints on_reserved(limits, certification.rows);
        EXPECT_NEAR(fit.report().certificate.constraints[0].value,
                    on_reserved.Measure(TypeParam::Predict(fit.Model(), certification))[0].value,
                    1e-12);
      }
    }
  }
}

// A share for the certificate comes from the training data, whoever brought the evaluation rows.
TYPED_TEST(OwnRowsTest, GoWithASharePutAside) {
  const GeneratedData data = Coarse(3000, 5), evaluation = Coarse(1500, 6);
  const auto& binned = this->Binned(data);
  const auto& binned_evaluation = this->Binned(evaluation, &binned);
  FitOptions options;
  options.certify = 0.3;
  const AutoFit fit = this->Fit(
      {.training = {binned, data.rows},
       .evaluation = FitRows<typename TypeParam::Dataset>{binned_evaluation, evaluation.rows}},
      kMisses, options);
  EXPECT_EQ(fit.report().training_rows, 2100);
  EXPECT_EQ(fit.report().unseen_rows, 1500);
  EXPECT_EQ(fit.report().certification_rows, 900);
  const auto [rest, reserved] = Split(data, kMisses, options.certify, options.seed);
  const RateConstraints on_reserved(kMisses, reserved.rows);
  EXPECT_NEAR(fit.report().certificate.constraints[0].value,
              on_reserved.Measure(TypeParam::Predict(fit.Model(), reserved))[0].value, 1e-12);
  const RateConstraints on_unseen(kMisses, evaluation.rows);
  EXPECT_NEAR(
      TypeParam::Predict(fit.Model(fit.report().unseen.calibration->adjustment), evaluation)[0],
      (fit.UnseenScores()[0] / fit.report().unseen.calibration->adjustment.temperature) +
          fit.report().unseen.calibration->adjustment.offsets[0],
      1e-4);
}

TYPED_TEST(OwnRowsTest, ThatDoNotFitAreRefused) {
  const GeneratedData data = Coarse(600, 7), other = Coarse(300, 8);
  const auto& binned = this->Binned(data);
  const auto& binned_other = this->Binned(other, &binned);
  using Rows = FitRows<typename TypeParam::Dataset>;
  const auto fit = [&](const RowData& rows, const std::vector<Constraint>& limits,
                       const FitOptions& options, bool certifies = false) {
    FitData<typename TypeParam::Dataset> sets{
        .training = {binned, data.rows},
        .evaluation = certifies ? std::nullopt : std::optional<Rows>({binned_other, rows}),
        .certification = certifies ? std::optional<Rows>({binned_other, rows}) : std::nullopt};
    return this->Fit(sets, limits, options);
  };
  const auto message = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  RowData label = other.rows;
  label.labels.levels[1] = "perhaps";
  EXPECT_NE(message([&] { fit(label, kMisses, {}); }).find("evaluation rows: labels: 'perhaps'"),
            std::string::npos);
  EXPECT_NE(message([&] { fit(label, kMisses, {}, true); }).find("certification rows: labels"),
            std::string::npos);
  RowData renamed = other.rows;
  renamed.groups[0].levels[1] = "c";
  EXPECT_NE(message([&] { fit(renamed, kGap, {}); }).find("no unseen rows of group"),
            std::string::npos);
  // A level that the training data names, though no row has it.
  RowData lone = other.rows;
  lone.groups[0].levels.emplace_back("lone");
  lone.groups[0].codes[3] = 2;
  RowData named = data.rows;
  named.groups[0].levels.emplace_back("lone");
  EXPECT_EQ(
      message([&] {
        this->Fit({.training = {binned, named}, .evaluation = Rows{binned_other, lone}}, kGap, {});
      }),
      "constraint 'gap(error, by=group) <= 10%': no training rows of group group=lone; "
      "allowed: every group on both sides");
  RowData numbers;
  numbers.targets.assign(300, 1.0);
  EXPECT_EQ(message([&] { fit(numbers, kMisses, {}); }),
            "evaluation rows: targets: numbers in one of the two; allowed: the same kind");
  const RowData half = TakeRows(other.rows, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  for (const bool certifies : {false, true}) {
    EXPECT_EQ(message([&] { fit(half, {}, {}, certifies); }),
              fmt::format("features of the {} rows: 300 rows; allowed: as many as labels or "
                          "targets, 8",
                          certifies ? "certification" : "evaluation"));
  }
  RowData without = other.rows;
  without.groups.clear();
  EXPECT_THROW(fit(without, kGap, {}), ConstraintError);
  RowData one_class = other.rows;
  for (std::int32_t& code : one_class.labels.codes) code = 0;
  EXPECT_THROW(fit(one_class, kMisses, {}), ConstraintError);
  FitOptions folds;
  folds.validation = Validation::kFolds;
  EXPECT_NE(message([&] { fit(other.rows, kMisses, folds); }).find("validation: folds"),
            std::string::npos);
  FitOptions own;
  own.validation = Validation::kOwnRows;
  EXPECT_NE(message([&] { fit(other.rows, kMisses, own, true); }).find("validation: own_rows"),
            std::string::npos);
  FitOptions share;
  share.certify = 0.2;
  EXPECT_NE(message([&] { fit(other.rows, kMisses, share, true); }).find("certify: 0.2"),
            std::string::npos);
}

TEST(OwnRowsLinear, AreScoredByTheDeployedModel) {
  const GeneratedData data = TwoGroups(2000, 9), evaluation = TwoGroups(1000, 10),
                      certification = TwoGroups(1000, 11);
  const FeatureMatrix features = Matrix(data), unseen = Matrix(evaluation),
                      reserved = Matrix(certification);
  for (const auto& limits : {kMisses, kGap}) {
    for (const bool own_evaluation : {false, true}) {
      std::optional<FitRows<FeatureMatrix>> given;
      if (own_evaluation) given.emplace(FitRows<FeatureMatrix>{unseen, evaluation.rows});
      const AutoFit fit =
          AutoFit::Linear({.training = {features, data.rows},
                           .evaluation = given,
                           .certification = FitRows<FeatureMatrix>{reserved, certification.rows}},
                          limits, {.l2 = 1e-3}, {});
      const LinearModel model = fit.Coefficients();
      std::vector<double> scores(1000);
      reserved.Multiply(model.coefficients, model.intercept, scores);
      const RateConstraints on_reserved(limits, certification.rows);
      EXPECT_EQ(fit.report().validation,
                own_evaluation ? Validation::kOwnRows : Validation::kFolds);
      EXPECT_NEAR(fit.report().certificate.constraints[0].value,
                  on_reserved.Measure(scores)[0].value, 1e-12);
    }
  }
}

TEST(OwnRowsLinear, HoldOutsAreDrawnToo) {
  const GeneratedData data = TwoGroups(2000, 12);
  const FeatureMatrix features = Matrix(data);
  FitOptions options;
  options.validation = Validation::kHoldOut;
  options.certify = 0.25;
  const AutoFit fit =
      AutoFit::Linear({.training = {features, data.rows}}, kMisses, {.l2 = 1e-3}, options);
  EXPECT_EQ(fit.report().training_rows, 1200);
  EXPECT_EQ(fit.report().unseen_rows, 300);
  EXPECT_EQ(fit.report().certification_rows, 500);
  EXPECT_EQ(fit.report().num_models, 1);
  EXPECT_TRUE(fit.report().unseen.measurements[0].satisfied);
}

}  // namespace
}  // namespace bregboost
