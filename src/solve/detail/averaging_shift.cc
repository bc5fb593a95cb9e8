#include "solve/detail/averaging_shift.h"

#include <cstddef>

namespace bregboost::detail {

std::vector<double> AveragingShift(const CrossFitLearner& learner, const RateConstraints& rates) {
  const std::size_t models = learner.models_per_row();
  if (models == 0) return {};
  const double share = 1.0 / static_cast<double>(models);
  std::vector<double> mean, shift;
  for (std::size_t m = 0; m < models; ++m) {
    const std::vector<double> scores = learner.TrainedScores(m);
    mean.resize(scores.size(), 0.0);
    for (std::size_t i = 0; i < scores.size(); ++i) mean[i] += share * scores[i];
    const std::vector<double> sums = rates.ExactSums(scores);
    shift.resize(sums.size(), 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) shift[i] -= share * sums[i];
  }
  const std::vector<double> of_mean = rates.ExactSums(mean);
  for (std::size_t i = 0; i < shift.size(); ++i) shift[i] += of_mean[i];
  return shift;
}

}  // namespace bregboost::detail
