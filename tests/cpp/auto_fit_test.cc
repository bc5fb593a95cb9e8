// The pipeline end to end on generated data, with both libraries: what it promises of unseen rows
// is checked on fresh ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <tuple>

#include "auto_fit_kit.h"
#include "bregboost/data/folds.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/pipeline/frontier.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "error_text.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(AutoFitTest, Kits);

TYPED_TEST(AutoFitTest, ClassBoundsAreHeldByOffsetsOfAPlainModel) {
  const GeneratedData data = TwoGroups(3000, 1), fresh = TwoGroups(20000, 2);
  const AutoFit fit = this->Fit(data, {"fnr <= 10%"}, {});
  const FitReport& report = fit.report();
  EXPECT_EQ(report.unseen.path, TrainingPath::kCalibration);
  EXPECT_EQ(report.validation, Validation::kFolds);
  EXPECT_EQ(report.num_models, 5);
  ASSERT_EQ(report.unseen.measurements.size(), 1);
  EXPECT_TRUE(report.unseen.measurements[0].satisfied);
  EXPECT_EQ(report.certificate.constraints.at(0).verdict, Verdict::kEstimated);
  EXPECT_FALSE(report.certificate.all_certified);
  const auto measured = this->OnFreshRows(fit, fresh, {"fnr <= 10%", "accuracy >= 0%"});
  EXPECT_NEAR(measured[0].value, 0.10, 0.025);
  EXPECT_NEAR(measured[1].value, report.unseen.objective, 0.03);
}

// Together, a miss rate and a gap cost offsets far more than training.
TYPED_TEST(AutoFitTest, TrainingHoldsTogetherWhatOffsetsCannot) {
  const std::vector<std::string> limits = {"fnr <= 30%", "gap(selection_rate, by=group) <= 5%"};
  const GeneratedData data = MeritAndGiveaway(6000, 3), fresh = MeritAndGiveaway(40000, 4);
  FitOptions plain, offsets;
  offsets.solver.path = TrainingPath::kCalibration;
  offsets.solver.rho = 50.0;  // insisting
  const auto by_offsets = this->Fit(data, limits, offsets);
  const auto unlimited = this->Fit(data, {}, plain);
  const auto automatic = this->Fit(data, limits, plain);
  EXPECT_EQ(automatic.report().unseen.path, TrainingPath::kConstrained);
  EXPECT_EQ(by_offsets.report().unseen.total_violation, 0.0);
  EXPECT_EQ(automatic.report().unseen.total_violation, 0.0);
  const double lost = unlimited.report().unseen.objective - by_offsets.report().unseen.objective;
  const double regained =
      automatic.report().unseen.objective - by_offsets.report().unseen.objective;
  EXPECT_GE(lost, 0.10);
  EXPECT_GE(regained, 0.08);
  const auto measured = this->OnFreshRows(automatic, fresh, limits);
  EXPECT_LE(measured[0].value, 0.32);
  EXPECT_LE(measured[1].value, 0.07);
}

TYPED_TEST(AutoFitTest, CertificatesComeFromRowsSetAside) {
  const GeneratedData data = TwoGroups(6000, 5);
  FitOptions options;
  options.certify = 0.3;
  const AutoFit fit = this->Fit(data, {"fnr <= 20%"}, options);
  const FitReport& report = fit.report();
  EXPECT_EQ(report.certification_rows, 1800);
  ASSERT_TRUE(report.tested.has_value());
  ASSERT_TRUE(report.tested->deployed.has_value());
  EXPECT_EQ(report.certificate.constraints.at(0).verdict, Verdict::kCertified);
  EXPECT_LE(report.certificate.constraints[0].confidence_bound, 0.20);
  EXPECT_EQ(report.adjustment.offsets, report.path[*report.tested->deployed].adjustment.offsets);
  // Caution costs: the path gets better as it goes, in small steps.
  EXPECT_GT(report.path.size(), 10);
  EXPECT_LT(report.path.front().objective, report.path.back().objective);

  // Whatever the certification rows say, model and path were there before them.
  GeneratedData other = data;
  const RateProblem problem(this->Parse({"fnr <= 20%"}), ParseObjective("accuracy"), data.rows);
  const std::vector<std::uint8_t> drawn =
      DrawShare(problem.compiled().cells.cell_of_row, options.certify, options.seed);
  // Swapping features among set-aside rows of one cell leaves the draw what it is.
  std::size_t last = data.rows.num_rows();
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    if (drawn[i] == 0) continue;
    if (last < i && data.rows.labels.codes[last] == data.rows.labels.codes[i]) {
      for (std::size_t j = 0; j < data.num_features; ++j) {
        std::swap(other.features[last * data.num_features + j],
                  other.features[i * data.num_features + j]);
      }
    }
    last = i;
  }
  const AutoFit again = this->Fit(other, {"fnr <= 20%"}, options);
  ASSERT_EQ(again.report().path.size(), report.path.size());
  for (std::size_t p = 0; p < report.path.size(); ++p) {
    EXPECT_EQ(again.report().path[p].adjustment.offsets, report.path[p].adjustment.offsets);
  }
}

TYPED_TEST(AutoFitTest, TooFewRowsAreNotCertified) {
  const GeneratedData data = TwoGroups(600, 6);
  FitOptions options;
  options.certify = 0.1;
  const AutoFit fit = this->Fit(data, {"fnr <= 2%"}, options, 20);
  const ConstraintVerdict& verdict = fit.report().certificate.constraints.at(0);
  EXPECT_NE(verdict.verdict, Verdict::kCertified);
  EXPECT_FALSE(fit.report().certificate.all_certified);
}

TYPED_TEST(AutoFitTest, HoldOutWhereItHasRowsEnough) {
  const GeneratedData data = TwoGroups(4000, 7), fresh = TwoGroups(20000, 8);
  FitOptions options;
  options.hold_out_rows = 100;
  options.certify = 0.1;
  for (const std::string limit : {"fnr <= 15%", "gap(error, by=group) <= 10%"}) {
    const AutoFit fit = this->Fit(data, {limit}, options);
    const FitReport& report = fit.report();
    EXPECT_EQ(report.validation, Validation::kHoldOut);
    EXPECT_EQ(report.num_models, 1);
    EXPECT_NEAR(static_cast<double>(report.unseen_rows), 0.2 * 3600, 2.0);
    EXPECT_EQ(report.training_rows + report.unseen_rows + report.certification_rows, 4000);
    EXPECT_TRUE(report.unseen.measurements[0].satisfied) << limit;
    // Scores of the certification rows are those of the model that is deployed.
    const auto measured = this->OnFreshRows(fit, fresh, {limit});
    EXPECT_NEAR(measured[0].value, report.unseen.measurements[0].value, 0.07) << limit;
  }
}

TYPED_TEST(AutoFitTest, RefitIsOneModelOfTheSameSteps) {
  const GeneratedData data = TwoGroups(2000, 9), fresh = TwoGroups(20000, 10);
  FitOptions options;
  options.deploy = Deploy::kRefit;
  options.certify = 0.2;
  for (const std::string limit : {"fnr <= 15%", "gap(error, by=group) <= 12%"}) {
    const AutoFit fit = this->Fit(data, {limit}, options);
    EXPECT_EQ(fit.report().deploy, Deploy::kRefit);
    EXPECT_EQ(fit.report().num_models, 1);
    options.deploy = Deploy::kFoldMean;
    const AutoFit mean = this->Fit(data, {limit}, options);
    options.deploy = Deploy::kRefit;
    EXPECT_LT(2 * fit.Model().size(), mean.Model().size());  // a fifth of the trees
    const auto measured = this->OnFreshRows(fit, fresh, {limit});
    EXPECT_NEAR(measured[0].value, fit.report().unseen.measurements[0].value, 0.08) << limit;
  }
}

TYPED_TEST(AutoFitTest, OnlyAMeanOfModelsIsPreparedFor) {
  const GeneratedData data = TwoGroups(1000, 21);
  const auto allowances = [&](Deploy deploy, Validation validation, double margin) {
    FitOptions options;
    options.deploy = deploy;
    options.validation = validation;
    options.solver.training.margin = margin;
    return this->Fit(data, {"gap(selection_rate, by=group) <= 20%"}, options)
        .report()
        .unseen.allowances.front();
  };
  const std::vector<double> none(2, 0.0);
  for (const double margin : {0.5, 1.0}) {
    const std::vector<double> refit = allowances(Deploy::kRefit, Validation::kFolds, margin);
    EXPECT_LT(refit.front(), 0.0);
    EXPECT_NE(allowances(Deploy::kFoldMean, Validation::kFolds, margin), refit);
  }
  EXPECT_EQ(allowances(Deploy::kRefit, Validation::kFolds, 0.0), none);
  EXPECT_EQ(allowances(Deploy::kFoldMean, Validation::kHoldOut, 0.0), none);
}

TYPED_TEST(AutoFitTest, EveryKindOfLimitEndsInAFiniteReport) {
  GeneratedData data = TwoGroups(2400, 11);
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    data.rows.baseline.push_back(data.features[i * data.num_features] > 0.0 ? 1 : 0);
  }
  std::vector<std::string> second;
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i)
    second.emplace_back(i % 3 == 0 ? "x" : "y");
  data.rows.groups.push_back(EncodeColumn("other", second));
  const std::vector<std::vector<std::string>> problems = {
      {"selection_rate <= 30%"},
      {"precision >= 75%"},
      {"balanced_error <= 40%", "fpr <= 20%"},
      {"churn <= 25%"},
      {"ratio(selection_rate, by=group) >= 80%"},
      {"gap(fnr, by=group) <= 8%", "gap(fpr, by=group) <= 8%"},
      {"gap(error, by=(group, other)) <= 12%"},
      {"max(fnr, by=group) <= 30%"},
      {"error(group=b) - error(group=a) <= 8%"},
      {"loss(group=b) <= 0.62"},
      {"fnr <= 20%", "gap(selection_rate, by=group) <= 10%", "precision >= 55%"}};
  for (const auto& limits : problems) {
    const AutoFit fit = this->Fit(data, limits, {}, 20);
    EXPECT_TRUE(std::isfinite(fit.report().unseen.objective)) << limits[0];
    for (const Measurement& measured : fit.report().unseen.measurements) {
      EXPECT_TRUE(std::isfinite(measured.value)) << measured.text;
      EXPECT_LE(measured.violation, 0.06) << measured.text;
    }
    for (const double offset : fit.report().adjustment.offsets) {
      EXPECT_TRUE(std::isfinite(offset)) << limits[0];
    }
  }
}

TYPED_TEST(AutoFitTest, ThreeClasses) {
  const GeneratedData data = ThreeClasses(1500, 12), fresh = ThreeClasses(9000, 13);
  const AutoFit fit = this->Fit(data, {"error(class=1) <= 12%"}, {}, 20);
  EXPECT_TRUE(fit.report().unseen.measurements[0].satisfied);
  const auto measured = this->OnFreshRows(fit, fresh, {"error(class=1) <= 12%"});
  EXPECT_NEAR(measured[0].value, 0.12, 0.04);
}

TYPED_TEST(AutoFitTest, GroupLossOfANumericTarget) {
  const GeneratedData data = NoisyLine(2400, 14);
  const AutoFit plain = this->Fit(data, {}, {}, 60);
  const RateProblem all(this->Parse({"loss(group=b) <= 1"}), ParseObjective("loss"), data.rows,
                        {.kind = LossKind::kSquared});
  const double without = all.Measure(all.rates().ExactSums(plain.UnseenScores()))[0].value;
  const std::string limit = fmt::format("loss(group=b) <= {:.4f}", 0.93 * without);
  const AutoFit fit = this->Fit(data, {limit}, {}, 60);
  EXPECT_EQ(fit.report().unseen.path, TrainingPath::kConstrained);
  EXPECT_FALSE(fit.report().unseen.calibration.has_value());
  EXPECT_LE(fit.report().unseen.measurements[0].value, 0.96 * without);
}

TYPED_TEST(AutoFitTest, NewBoundsNeedNoTraining) {
  const GeneratedData data = TwoGroups(2000, 15);
  const AutoFit fit = this->Fit(data, {"fnr <= 20%"}, {}, 20);
  const Calibration tighter = fit.Recalibrate(this->Parse({"fnr <= 5%"}), 5.0);
  EXPECT_EQ(tighter.total_violation, 0.0);
  EXPECT_GT(tighter.adjustment.offsets[0], fit.report().adjustment.offsets[0]);
  const auto scores = TypeParam::Predict(fit.Model(tighter.adjustment), data);
  EXPECT_EQ(scores.size(), data.rows.num_rows());
}

TYPED_TEST(AutoFitTest, SameSeedSameModel) {
  const GeneratedData data = TwoGroups(1200, 16);
  const std::vector<std::string> limits = {"gap(error, by=group) <= 10%"};
  const std::string first = this->Fit(data, limits, {}, 20).Model();
  EXPECT_EQ(first, this->Fit(data, limits, {}, 20).Model());
  FitOptions other;
  other.seed = 1;
  EXPECT_NE(first, this->Fit(data, limits, other, 20).Model());
}

TYPED_TEST(AutoFitTest, FrontiersShareTheirTrainings) {
  const GeneratedData data = MeritAndGiveaway(3000, 19);
  const auto sweep_as = [&](const std::string& limit, const FrontierOptions& options) {
    FitOptions insisting;
    insisting.solver.rho = 50.0;
    const BoostedOptions boosting{.parameters = this->Parameters(30), .rounds_per_step = 2};
    const auto dataset = TypeParam::Dataset::FromArray(
        FeatureArray::RowMajor(std::span<const double>(data.features), 3000, data.num_features),
        boosting.parameters);
    if constexpr (std::is_same_v<TypeParam, LightGbmKit>) {
      return SweepLightGbm({.training = {dataset, data.rows}}, this->Parse({limit}), boosting,
                           insisting, options);
    } else {
      return SweepXgboost({.training = {dataset, data.rows}}, this->Parse({limit}), boosting,
                          insisting, options);
    }
  };
  const auto sweep = [&](const std::string& limit, const std::vector<double>& bounds) {
    return sweep_as(limit, {.constraint = 0, .bounds = bounds});
  };
  const std::vector<double> misses = {0.02, 0.05, 0.10, 0.15};
  const Frontier by_offsets = sweep("fnr <= 5%", misses);
  EXPECT_EQ(by_offsets.trainings, 1);
  for (std::size_t p = 0; p < misses.size(); ++p) {
    EXPECT_EQ(by_offsets.points[p].bound, misses[p]);
    EXPECT_EQ(by_offsets.points[p].total_violation, 0.0);
    EXPECT_LE(by_offsets.points[p].measurements[0].value, misses[p] + 1e-12);
    if (p == 0) continue;
    EXPECT_GE(by_offsets.points[p].objective, by_offsets.points[p - 1].objective);
  }
  const std::vector<double> gaps = {0.30, 0.20, 0.10, 0.05};
  const Frontier trained = sweep("gap(selection_rate, by=group) <= 10%", gaps);
  EXPECT_EQ(trained.trainings, 2);
  for (std::size_t p = 0; p < gaps.size(); ++p) {
    EXPECT_LE(trained.points[p].measurements[0].value, gaps[p] + 0.01) << gaps[p];
    EXPECT_GT(trained.points[p].objective, 0.70) << gaps[p];
  }
  EXPECT_FALSE(trained.points[3].dominated);
  EXPECT_THROW(sweep("fnr <= 5%", {}), std::invalid_argument);

  // As rho grows, the least of cost + rho * violation violates less and costs more.
  const std::vector<double> rhos = {0.0, 0.5, 2.0, 50.0};
  const Frontier by_rho = sweep_as("fnr <= 2%", {.rhos = rhos});
  EXPECT_EQ(by_rho.trainings, 1);
  for (std::size_t p = 0; p < rhos.size(); ++p) {
    EXPECT_EQ(by_rho.points[p].rho, rhos[p]);
    EXPECT_EQ(by_rho.points[p].bound, 0.02);
    EXPECT_FALSE(by_rho.points[p].dominated && p == 0);
    if (p == 0) continue;
    EXPECT_LE(by_rho.points[p].total_violation, by_rho.points[p - 1].total_violation);
    EXPECT_LE(by_rho.points[p].objective, by_rho.points[p - 1].objective);
  }
  EXPECT_GT(by_rho.points[0].total_violation, 0.0);
  EXPECT_EQ(by_rho.points[3].total_violation, 0.0);
  const Frontier trained_by_rho =
      sweep_as("gap(selection_rate, by=group) <= 5%", {.rhos = {0.1, 1.0, 20.0}});
  EXPECT_EQ(trained_by_rho.trainings, 2);
  EXPECT_LE(trained_by_rho.points[2].total_violation, trained_by_rho.points[0].total_violation);
  EXPECT_THROW(sweep_as("fnr <= 2%", {.bounds = {0.1}, .rhos = {1.0}}), std::invalid_argument);
  EXPECT_THROW(sweep_as("fnr <= 2%", {.rhos = {-1.0}}), std::invalid_argument);
  EXPECT_EQ(ErrorOf([&] { sweep_as("fnr <= 2%", {.constraint = 1, .bounds = {0.1}}); }),
            "constraint: 1; allowed: below their number, 1");
  EXPECT_EQ(ErrorOf([&] { sweep_as("fnr <= 2%", {.bounds = {0.1}, .trainings = 0}); }),
            "trainings: 0; allowed: at least 1");
}

// A combination of groups that the certificate's rows lack is not certified away.
TYPED_TEST(AutoFitTest, GroupsMissingAmongCertificationRowsAreNotCertified) {
  GeneratedData data = TwoGroups(3000, 21);
  std::vector<std::string> rare(3000, "common");
  std::size_t left = 3;  // too few for a share of 10% to draw one
  for (std::size_t i = 0; i < 3000 && left > 0; ++i) {
    if (data.rows.groups[0].codes[i] == 1 &&
        data.rows.labels.codes[i] == static_cast<int>(left % 2)) {
      rare[i] = "rare";
      --left;
    }
  }
  for (std::size_t i = 0; i < 400; ++i) {
    if (data.rows.groups[0].codes[i] == 0) rare[i] = "rare";
  }
  data.rows.groups.push_back(EncodeColumn("other", rare));
  FitOptions options;
  options.certify = 0.1;
  options.certification.delta = 0.5;
  const AutoFit fit = this->Fit(data, {"gap(error, by=(group, other)) <= 60%"}, options, 10);
  EXPECT_EQ(fit.report().certificate.constraints[0].verdict, Verdict::kNotCertified);
}

TYPED_TEST(AutoFitTest, PrecisionCanBeCertified) {
  const GeneratedData data = TwoGroups(6000, 22);
  FitOptions options;
  options.certify = 0.3;
  const AutoFit fit = this->Fit(data, {"precision >= 70%"}, options, 20);
  EXPECT_EQ(fit.report().certificate.constraints[0].verdict, Verdict::kCertified);
}

TYPED_TEST(AutoFitTest, CertificatesThatCannotBeAreRefusedBeforeTraining) {
  GeneratedData data = TwoGroups(300, 23);
  for (std::size_t i = 0; i < 300; ++i)
    data.rows.weights.push_back(1.0 + 0.001 * static_cast<double>(i));
  FitOptions options;
  options.certify = 0.3;
  EXPECT_THROW(this->Fit(data, {"fnr <= 20%"}, options), std::invalid_argument);
  options.certification.max_weight = 2.0;
  EXPECT_NO_THROW(this->Fit(data, {"fnr <= 20%"}, options, 5));
  EXPECT_THROW(this->Fit(data, {"loss(group=a) <= 0.6"}, options), std::invalid_argument);
  options.certification.loss_range = {.low = 0.0, .high = 5.0};
  EXPECT_NO_THROW(this->Fit(data, {"loss(group=a) <= 0.6"}, options, 5));
}

// With no limits there is nothing between the stock library and its model.
TYPED_TEST(AutoFitTest, NumericTargetWithoutLimitsIsTrainedAsItIs) {
  const GeneratedData data = NoisyLine(600, 24);
  FitOptions options;
  options.deploy = Deploy::kRefit;
  const AutoFit fit = this->Fit(data, {}, options, 12);
  const auto dataset = TypeParam::Dataset::FromArray(
      FeatureArray::RowMajor(std::span<const double>(data.features), 600, data.num_features),
      this->Parameters(12));
  const std::string stock = TypeParam::NativeModel(dataset, data.rows, this->Parameters(12), 12);
  EXPECT_LT(
      LargestDifference(TypeParam::Predict(fit.Model(), data), TypeParam::Predict(stock, data)),
      1e-5);
}

TYPED_TEST(AutoFitTest, BadOptionsAreNamed) {
  const GeneratedData data = TwoGroups(200, 17);
  const auto error = [&](const FitOptions& options) {
    return ErrorOf([&] { this->Fit(data, {"fnr <= 5%"}, options); });
  };
  EXPECT_EQ(error({.certify = 1.0}), "certify: 1; allowed: at least 0 and below 1");
  EXPECT_EQ(error({.hold_out_share = 0.0}), "hold_out_share: 0; allowed: above 0 and below 1");
  EXPECT_TRUE(error({.objective = "selection_rate"})
                  .starts_with("objective: 'selection_rate'; allowed: sums of accuracy"));
  const FitOptions separate{.certify = 0.3, .certification = {.joint = false}};
  EXPECT_EQ(error(separate),
            "certification: joint or rows_are_separate is false; allowed in a fit: both true");
  const FitOptions few{.certify = 0.3, .certification = {.row_digests = {1.0, 2.0}}};
  EXPECT_EQ(error(few), "certification.row_digests: 2 values; allowed: none or one per row, 200");
  EXPECT_THROW(this->Fit(data, {"error(nowhere=1) <= 5%"}, {}), ConstraintError);
  EXPECT_EQ(ErrorOf([&] { this->Fit(data, {"fnr <= 5%"}, {}).Coefficients(); }),
            "coefficients: of a boosted fit; allowed: its model");
}

// However rows are put aside: a model of other rows' labels would look like any other.
TYPED_TEST(AutoFitTest, FeaturesAreOfAsManyRowsAsLabels) {
  for (const std::size_t rows : {190U, 210U}) {
    GeneratedData data = TwoGroups(rows, 17);
    data.rows = TwoGroups(200, 17).rows;
    const auto dataset = TypeParam::Dataset::FromArray(
        FeatureArray::RowMajor(std::span<const double>(data.features), rows, data.num_features),
        this->Parameters(10));
    for (const Validation validation : {Validation::kFolds, Validation::kHoldOut}) {
      EXPECT_EQ(ErrorOf([&] {
                  this->FitTo(dataset, data.rows, {"fnr <= 20%"}, {.validation = validation});
                }),
                fmt::format("features of the training rows: {} rows; allowed: as many as labels or "
                            "targets, 200",
                            rows));
    }
  }
}

TYPED_TEST(AutoFitTest, WhatNeedsAllRowsIsRefusedOnWorkers) {
  const auto error = [&](const FitOptions& options) {
    return ErrorOf([&] {
      test::OnWorkers(1, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
        GeneratedData data = TwoGroups(200, 17);
        data.rows.workers = worker;
        this->Fit(data, {"fnr <= 5%"}, options);
      });
    });
  };
  EXPECT_EQ(error({.checkpoint = {.directory = "somewhere"}}),
            "checkpoint_dir: set; allowed on a cluster: none");
  EXPECT_EQ(error({.validation = Validation::kFolds}),
            "validation: folds; allowed where workers have the rows between them: by_cells, "
            "hold_out, own_rows");
}

TEST(AutoFitLinear, HoldsLimitsOnUnseenRows) {
  const GeneratedData data = MeritAndGiveaway(4000, 18);
  const FeatureMatrix features =
      FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features);
  FitOptions options;
  options.certify = 0.25;
  for (const std::string limit : {"fnr <= 10%", "gap(selection_rate, by=group) <= 10%"}) {
    const AutoFit fit = AutoFit::Linear({.training = {features, data.rows}},
                                        {ParseConstraint(limit)}, {.l2 = 1e-3}, options);
    EXPECT_TRUE(fit.report().unseen.measurements[0].satisfied) << limit;
    EXPECT_EQ(fit.report().certificate.constraints.size(), 1);
    EXPECT_EQ(fit.Coefficients().coefficients.rows(), 3);
    EXPECT_EQ(ErrorOf([&] { fit.Model(); }), "model: of a linear fit; allowed: its coefficients");
    EXPECT_GT(fit.report().unseen.objective, 0.70) << limit;
  }
  options.deploy = Deploy::kRefit;
  EXPECT_THROW(AutoFit::Linear({.training = {features, data.rows}}, {}, {}, options),
               std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
