#include "bregboost/solve/proximal_learner.h"

#include <stdexcept>

namespace bregboost {

ConstraintValues ProximalLearner::ReadValues(const ConstraintSet& constraints) const {
  // As numbers and back: how many there are of each comes first.
  const std::vector<double> numbers = Read([&](std::span<const double> scores) {
    const ConstraintValues values = constraints.Evaluate(scores);
    std::vector<double> all = {static_cast<double>(values.surrogate.size()),
                               static_cast<double>(values.exact.size()),
                               values.worst_exact_violation};
    all.insert(all.end(), values.surrogate.begin(), values.surrogate.end());
    all.insert(all.end(), values.exact.begin(), values.exact.end());
    all.insert(all.end(), values.measured.begin(), values.measured.end());
    return all;
  });
  const auto exact = numbers.begin() + 3 + static_cast<std::ptrdiff_t>(numbers.at(0));
  const auto measured = exact + static_cast<std::ptrdiff_t>(numbers.at(1));
  return {.surrogate = {numbers.begin() + 3, exact},
          .exact = {exact, measured},
          .worst_exact_violation = numbers.at(2),
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
