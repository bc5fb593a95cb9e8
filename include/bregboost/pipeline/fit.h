// The whole pipeline on a data set: split, train, calibrate, certify, explain. What comes out is a
// plain model of the stock library (or linear coefficients), what was measured on unseen rows, and
// a certificate where rows were set aside for one.
//
//   AutoFit fit = AutoFit::LightGbm({.training = {dataset, rows}}, {ParseConstraint("fnr <= 5%")},
//                                   boosting, options);
//   fit.report();  fit.Model();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/certify/fixed_sequence.h"
#include "bregboost/certify/rate_intervals.h"
#include "bregboost/data/feature_matrix.h"
#include "bregboost/data/row_data.h"
#include "bregboost/learners/boosted_options.h"
#include "bregboost/learners/checkpoint.h"
#include "bregboost/learners/linear_folds.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/pipeline/auto.h"
#include "bregboost/pipeline/cautious_path.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost {

class LightGbmDataset;
class XgboostDataset;

// The same rows as features (a data set of the library, or a matrix) and as everything else; both
// outlive the fit.
template <class Features>
struct FitRows {
  const Features& features;
  const RowData& rows;
};

// Rows of the user's own take the place of rows that would be drawn from the training data. Their
// labels and groups are matched by name. A LightGBM data set among them is binned like the training
// data (`reference`).
template <class Features>
struct FitData {
  FitRows<Features> training;
  std::optional<FitRows<Features>> evaluation = std::nullopt;     // unseen, never trained on
  std::optional<FitRows<Features>> certification = std::nullopt;  // for the certificate alone
};

// Which rows are unseen.
enum class Validation {
  kByCells,  // a hold-out if it has rows enough of every cell that a limit names, else folds
  kFolds,    // every row, by a model that was trained on the other folds
  kHoldOut,  // a share of the rows, which is never trained on
  kOwnRows,  // the evaluation rows, chosen by giving them
};
std::string_view Name(Validation validation);

// What is deployed after folds.
enum class Deploy {
  kFoldMean,  // the mean of the fold models: one plain model with the trees of all of them
  kRefit,     // one model trained anew on all rows by the same steps, thresholds carried over
};
std::string_view Name(Deploy deploy);

struct FitOptions {
  std::string objective =
      {};  // a rate, e.g. "balanced_error"; empty: accuracy (numeric target: loss)
  AutoOptions solver = {};
  Validation validation = Validation::kByCells;
  std::size_t num_folds = 5;
  double hold_out_share = 0.2;  // in (0, 1)
  // The rows of its smallest cell that a hold-out must have to be chosen by itself.
  std::size_t hold_out_rows = 2000;
  // The share of rows to set aside for a certificate; in [0, 1), and 0 where rows are given for it.
  double certify = 0.0;
  // Of it `joint` and `rows_are_separate` stay true, the expected groups are those of the training
  // data, and row digests, if any, are one per row of the data that certification rows are of.
  CertifyOptions certification = {};
  Deploy deploy = Deploy::kFoldMean;
  LossOptions loss = {};
  std::uint64_t seed = 0;             // of splits and searches
  CheckpointOptions checkpoint = {};  // of boosted learners; a refit after folds has none
};
void Validate(const FitOptions& options);

// The stock library's own decision: of two classes the likelier, of more the likeliest; a numeric
// target as it is predicted.
struct UnlimitedDecision {
  double objective = 0.0;  // as the user named it
  std::vector<Measurement> measurements;
  std::vector<std::vector<RateOnRows>> rates;
};

struct FitReport {
  std::vector<Constraint> constraints;
  std::string objective;  // the rate that was optimised, e.g. "accuracy"
  bool maximise = true;
  std::vector<std::string> classes;  // none for a numeric target
  std::string positive_class;        // of two

  AutoResult unseen;  // before certification
  // Of the deployed decision, on unseen rows: as in `unseen`, or what a certified one, which may be
  // more cautious, has of it.
  double objective_value = 0.0;
  std::vector<Measurement> measurements;
  std::vector<std::vector<RateOnRows>> rates;  // of `measurements`
  double total_violation = 0.0;
  // What the limits are compared with: where the model was trained without them, its decision
  // without offsets, on the same rows. None on the constrained path.
  std::optional<UnlimitedDecision> unlimited;

  ModelAdjustment adjustment;                  // of the deployed model
  Validation validation = Validation::kFolds;  // the one taken
  Deploy deploy = Deploy::kFoldMean;
  std::size_t num_models = 1;  // whose trees the deployed model holds
  std::size_t training_rows = 0, unseen_rows = 0, certification_rows = 0;
  // One verdict per constraint: that of the deployed point, or "estimated" without rows for it.
  Certificate certificate;
  // Rows were set aside: the decisions that were tried, and which were tested.
  std::vector<CautiousDecision> path;
  std::optional<PathCertificate> tested;
  double certification_seconds = 0.0;  // the path of decisions and its tests
  std::vector<std::string> warnings;
};

// Sees the scores of the unseen rows after every step of the training, with the problem that judges
// them.
using ScoreObserver =
    std::function<void(std::span<const double> scores, const RateProblem& unseen)>;

class AutoFit {
 public:
  // `boosting.rounds_per_step` is the number of rounds between moves of the multipliers. Throws
  // what the parts throw: LibraryError, ConstraintError, std::invalid_argument.
  static AutoFit LightGbm(const FitData<LightGbmDataset>& data,
                          const std::vector<Constraint>& constraints,
                          const BoostedOptions& boosting, const FitOptions& options,
                          const SolveHooks& hooks = {}, const ScoreObserver& observer = {});
  static AutoFit Xgboost(const FitData<XgboostDataset>& data,
                         const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                         const FitOptions& options, const SolveHooks& hooks = {},
                         const ScoreObserver& observer = {});
  static AutoFit Linear(const FitData<FeatureMatrix>& data,
                        const std::vector<Constraint>& constraints, const LinearOptions& linear,
                        const FitOptions& options, const SolveHooks& hooks = {},
                        const ScoreObserver& observer = {});
  ~AutoFit();
  AutoFit(AutoFit&&) noexcept;
  AutoFit& operator=(AutoFit&&) noexcept;

  const FitReport& report() const;

  // The deployed model as a file of the stock library, offsets and temperature folded in; or with
  // another adjustment. Not for linear fits, which have coefficients.
  std::string Model() const;
  std::string Model(const ModelAdjustment& adjustment) const;
  LinearModel Coefficients() const;
  LinearModel Coefficients(const ModelAdjustment& adjustment) const;

  // Unseen rows and their scores: what calibration saw.
  std::span<const double> UnseenScores() const;
  const RowData& unseen_rows() const;

  // New limits on the same model: offsets only, no training. What it says is an estimate. rho is
  // chosen unless given, whatever the fit had.
  Calibration Recalibrate(const std::vector<Constraint>& constraints,
                          std::optional<double> rho = {}) const;

  // Why limits were not met on the unseen rows: what each reaches alone, how far all must be
  // loosened together, which cells stand in the way. Searches, so it takes a few calibrations'
  // time.
  Reachability Diagnose() const;

  class State;

 private:
  explicit AutoFit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bregboost
