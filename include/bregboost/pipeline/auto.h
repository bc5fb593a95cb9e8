// solver = "auto": limits that hold on unseen rows, without anything to tune. Stages two, three and
// five of the pipeline (train, calibrate, explain) on a learner that scores unseen rows; fit.h puts
// the split before them and the certificate behind.
//
// What the limits name decides how the model is trained, never the data:
//   class bounds and rates of all rows   plain training, of as many rounds as unseen rows gain by;
//                                        temperature and offsets hold the limits
//   rates of groups, churn               training on unseen rates, then temperature and offsets
//   losses of a numeric target           training on unseen losses; nothing to calibrate
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/calibrate/diagnosis.h"
#include "bregboost/calibrate/prices.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/problem/rate_problem.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/rate_training.h"

namespace bregboost {

enum class TrainingPath {
  kByConstraints,  // as above
  kCalibration,    // plain training, whatever the limits
  kConstrained,    // training on unseen rates, whatever the limits
};
std::string_view Name(TrainingPath path);

struct AutoOptions {
  // How many points of the objective a point of violation is worth; >= 0. None: as in
  // calibration.h, DefaultRho() while training.
  std::optional<double> rho = {};
  TrainingPath path = TrainingPath::kByConstraints;
  RateTrainingOptions training = {};  // of the constrained path; its rho is the one above
  // Of a plain training under limits. False: the rounds up to the least RefinementLoss() of unseen
  // rows are kept, unless the learner stops early by a rule of its own. True: all of them.
  bool all_rounds = false;
  std::uint64_t seed = 0;  // of the search for offsets (more than two classes)
};

// What the pipeline did and where it ended, on unseen rows.
struct AutoResult {
  TrainingPath path = TrainingPath::kCalibration;  // the one taken
  RateTrainingResult training;
  std::optional<Calibration> calibration;  // none for a numeric target
  double objective = 0.0;                  // as the user named it
  std::vector<Measurement> measurements;   // against the bounds as given
  double total_violation = 0.0;            // against the bounds as given
  double rho = 0.0;                        // by which decisions were judged
  // What loosening each constraint buys: from the rows near the decision on the calibration path,
  // from the multipliers of the training (their spread over its later half as the error) otherwise;
  // rho for those that are broken.
  std::vector<Price> prices;
  std::vector<SubsetSize> too_small;  // rates that their rows cannot tell finely enough
  double training_seconds = 0.0, calibration_seconds = 0.0;  // prices belong to the latter
  // What each rate of each constraint was granted while training and calibrating: positive, the
  // sampling error of one of many groups; negative, a margin. Empty on the calibration path.
  std::vector<std::vector<double>> allowances;
  std::vector<std::string> notes;  // what was done that the user may not expect
};

// The path that is taken: without limits, plain training whatever was wanted.
TrainingPath ChoosePath(const RateProblem& problem, TrainingPath wanted);

// `unseen` and `training` are the problems whose rates() the learner was made with; allowances of
// `unseen` are set here. The learner ends at the model to be deployed, offsets apart.
AutoResult SolveAuto(CrossFitLearner& learner, RateProblem& unseen, const RateProblem& training,
                     const AutoOptions& options, const SolveHooks& hooks = {});

}  // namespace bregboost
