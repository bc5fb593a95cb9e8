#include "learners/detail/booster.h"

#include <stdexcept>

namespace bregboost::detail {
namespace {

// More than anybody waits for; numbers of draws are made of it.
constexpr std::int64_t kMostEmptyRounds = 1'000'000'000;

}  // namespace

void RequireOfOneTraining(bool fits) {
  if (!fits) throw std::runtime_error("numbers that do not belong to one training");
}

void BoosterSnapshot::WriteTo(ByteWriter& out) const {
  out.Put(num_rounds);
  out.Put(num_empty_rounds);
  out.Put(trees);
  out.Put(static_cast<std::int64_t>(scores.size()));
  for (const std::vector<double>& of_set : scores) out.Put(of_set);
}

BoosterSnapshot BoosterSnapshot::ReadFrom(ByteReader& in) {
  BoosterSnapshot snapshot;
  snapshot.num_rounds = in.Integer();
  snapshot.num_empty_rounds = in.Integer();
  snapshot.trees = in.Text();
  RequireOfOneTraining(snapshot.num_rounds >= 0 && snapshot.num_empty_rounds >= 0 &&
                       snapshot.num_empty_rounds <= kMostEmptyRounds);
  snapshot.scores.resize(in.Count(sizeof(std::int64_t)));
  for (std::vector<double>& of_set : snapshot.scores) of_set = in.Numbers<double>();
  return snapshot;
}

}  // namespace bregboost::detail
