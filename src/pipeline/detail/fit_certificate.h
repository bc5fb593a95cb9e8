// The fourth stage of a fit: verdicts about the deployed model, from the rows that were kept for
// them; or estimates.
#pragma once

#include <functional>
#include <span>

#include "bregboost/learners/cross_fit.h"
#include "bregboost/pipeline/cautious_path.h"
#include "bregboost/pipeline/fit.h"
#include "pipeline/detail/fit_split.h"

namespace bregboost::detail {

class FitCertificate {
 public:
  // Everything about the certificate that can be wrong without a model is found here, before there
  // is one. `data` is the training data; `split` outlives the certificate.
  FitCertificate(const FitSplit& split, const RowData& data, const FitOptions& options);

  // After the deployed model is known: `scores` are its scores of the reserved rows, `learner` has
  // those of the unseen ones. Chooses the adjustment among those of a path, and fills in what the
  // report says of certification.
  void Run(const CrossFitLearner& learner, std::span<const double> scores, FitReport& report) const;

 private:
  void FindVerdicts(const CrossFitLearner& learner, std::span<const double> scores,
                    FitReport& report) const;
  void FindEstimates(const CrossFitLearner& learner, FitReport& report) const;
  std::function<bool(const CautiousDecision&, double)> RehearsalOnUnseenRows(
      const CrossFitLearner& learner) const;

  const FitSplit& split_;
  FitOptions options_;
};

}  // namespace bregboost::detail
