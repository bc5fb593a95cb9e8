#include "bregboost/learners/linear_model.h"

#include <fmt/format.h>

#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {

LinearModel Adjusted(LinearModel model, const ModelAdjustment& adjustment) {
  detail::RequirePositive("temperature", adjustment.temperature);
  model.coefficients /= adjustment.temperature;
  model.intercept /= adjustment.temperature;
  if (adjustment.offsets.empty()) return model;
  const auto size = static_cast<Eigen::Index>(adjustment.offsets.size());
  if (size != model.intercept.size()) {
    throw std::invalid_argument(
        fmt::format("offsets: {} values; allowed: none, or one for each score, {}", size,
                    model.intercept.size()));
  }
  model.intercept += Eigen::Map<const Eigen::VectorXd>(adjustment.offsets.data(), size);
  return model;
}

}  // namespace bregboost
