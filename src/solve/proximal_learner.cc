#include "bregboost/solve/proximal_learner.h"

#include <stdexcept>

namespace bregboost {

ConstraintValues ProximalLearner::ReadValues(const ConstraintSet& constraints) const {
  // As numbers and back.
  const std::vector<double> numbers = Read([&](std::span<const double> scores) {
    const ConstraintValues values = constraints.Evaluate(scores);
    std::vector<double> all = {values.worst_exact_violation};
    all.insert(all.end(), values.surrogate.begin(), values.surrogate.end());
    all.insert(all.end(), values.exact.begin(), values.exact.end());
    all.insert(all.end(), values.measured.begin(), values.measured.end());
    return all;
  });
  const auto size = static_cast<std::ptrdiff_t>(constraints.size());
  const auto surrogate = numbers.begin() + 1;
  const auto exact = surrogate + size;
  const auto measured = exact + size;
  return {.surrogate = {surrogate, exact},
          .exact = {exact, measured},
          .worst_exact_violation = numbers.front(),
          .measured = {measured, numbers.end()}};
}

void ProximalLearner::EndSegment(std::span<ModelState* const> /*kept*/,
                                 detail::ByteWriter& /*out*/) {
  throw std::logic_error("this learner has no segments");
}

std::vector<std::unique_ptr<ModelState>> ProximalLearner::TakeUp(detail::ByteReader& /*in*/) {
  throw std::logic_error("this learner has no segments");
}

}  // namespace bregboost
