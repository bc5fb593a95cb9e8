#include "learners/detail/booster.h"

namespace bregboost::detail {

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
  snapshot.scores.resize(in.Count());
  for (std::vector<double>& of_set : snapshot.scores) of_set = in.Numbers<double>();
  return snapshot;
}

}  // namespace bregboost::detail
