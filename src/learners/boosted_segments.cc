// Segments of a boosted learner: what it writes at the end of each, and goes on from.
#include <algorithm>
#include <stdexcept>

#include "learners/boosted_impl.h"

namespace bregboost {

using detail::BoosterSnapshot;
using detail::ByteReader;
using detail::ByteWriter;

namespace {

void WriteSnapshot(const std::shared_ptr<const BoosterSnapshot>& snapshot, ByteWriter& out) {
  out.Put(std::int64_t{snapshot != nullptr});
  if (snapshot != nullptr) snapshot->WriteTo(out);
}

std::shared_ptr<const BoosterSnapshot> ReadSnapshot(ByteReader& in) {
  if (in.Integer() == 0) return nullptr;
  return std::make_shared<const BoosterSnapshot>(BoosterSnapshot::ReadFrom(in));
}

void Require(bool fits) {
  if (!fits) throw std::runtime_error("numbers that do not belong to one training");
}

}  // namespace

// ---- parts

void BoostedLearner::Impl::Write(const Best& best, ByteWriter& out) {
  out.Put(best.loss);
  out.Put(best.round);
  WriteSnapshot(best.snapshot, out);
}

BoostedLearner::Impl::Best BoostedLearner::Impl::ReadBest(ByteReader& in) {
  Best best;
  best.loss = in.Real();
  best.round = in.Integer();
  best.snapshot = ReadSnapshot(in);
  return best;
}

void BoostedLearner::Impl::Write(const State& state, ByteWriter& out) {
  out.Put(state.round_weights);
  out.Put(state.round_ids);
  for (const std::vector<double>& shift : state.shifts) out.Put(shift);
  Write(state.best, out);
  WriteSnapshot(state.snapshot, out);
}

std::unique_ptr<BoostedLearner::Impl::State> BoostedLearner::Impl::ReadState(ByteReader& in) const {
  auto state = std::make_unique<State>();
  state->round_weights = in.Numbers<double>();
  state->round_ids = in.Numbers<std::int64_t>();
  Require(state->round_ids.size() == state->round_weights.size());
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    state->shifts.push_back(in.Numbers<double>());
  }
  state->best = ReadBest(in);
  state->snapshot = ReadSnapshot(in);
  return state;
}

void BoostedLearner::Impl::WriteAnchor(ByteWriter& out) {
  out.Put(anchor_constants_);
  std::vector<double> scores;
  if (anchor_.view().num_rows > 0) detail::ToClassMajor(anchor_.view(), scores);
  out.Put(scores);
}

void BoostedLearner::Impl::ReadAnchor(ByteReader& in) {
  anchor_constants_ = in.Numbers<double>();
  anchor_.Clear();
  const std::vector<double> scores = in.Numbers<double>();
  if (scores.empty()) return;
  const detail::ScoreView like = Scores(0);
  Require(scores.size() == like.size());
  anchor_.AssignClassMajor(scores, like);
}

// ---- the whole

void BoostedLearner::Impl::BeginSegment(const BoosterSnapshot& snapshot) {
  booster_->Load(snapshot, segment_);
  ++version_;
  step_end_ = -1;  // the scores that the last step began with are gone
}

// Whatever points to earlier rounds gets a snapshot of them, as the next segment cannot go back.
// The rounds that this takes back come again with the snapshot of now.
void BoostedLearner::Impl::EndSegment(std::span<ModelState* const> kept, ByteWriter& out) {
  const auto now = std::make_shared<const BoosterSnapshot>(booster_->TakeSnapshot());
  const bool stops_early = settings_.early_stopping_rounds > 0 && std::isfinite(best_.loss);
  std::vector<State*> states;
  std::vector<std::pair<std::int64_t, std::shared_ptr<const BoosterSnapshot>*>> earlier;
  for (ModelState* state : kept) {
    states.push_back(dynamic_cast<State*>(state));
    if (states.back() == nullptr) throw std::logic_error("the state is another learner's");
    const auto rounds = static_cast<std::int64_t>(states.back()->round_ids.size());
    earlier.emplace_back(rounds, &states.back()->snapshot);
    if (stops_early) earlier.emplace_back(states.back()->best.round, &states.back()->best.snapshot);
  }
  if (stops_early) earlier.emplace_back(best_.round, &best_.snapshot);
  std::stable_sort(earlier.begin(), earlier.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::shared_ptr<const BoosterSnapshot> last = now;
  for (const auto& [rounds, snapshot] : earlier) {
    if (*snapshot != nullptr || rounds < booster_->first_round()) continue;
    if (rounds != last->num_rounds) {
      booster_->RollBackTo(rounds);
      last = std::make_shared<const BoosterSnapshot>(booster_->TakeSnapshot());
    }
    *snapshot = last;
  }

  ++segment_;
  out.Put(segment_);
  now->WriteTo(out);
  out.Put(round_weights_);
  out.Put(round_ids_);
  out.Put(last_round_id_);
  out.Put(average_weight_);
  for (const Scored& scored : scored_) {
    out.Put(scored.shift);
    out.Put(scored.average);
  }
  out.Put(static_cast<std::int64_t>(iterates_.size()));
  for (const Iterate& iterate : iterates_) {
    out.Put(static_cast<std::int64_t>(iterate.rounds));
    out.Put(iterate.last_round);
    out.Put(iterate.weight);
  }
  Write(best_, out);
  WriteAnchor(out);
  out.Put(static_cast<std::int64_t>(states.size()));
  for (const State* state : states) Write(*state, out);
  BeginSegment(*now);
}

std::vector<std::unique_ptr<ModelState>> BoostedLearner::Impl::TakeUp(ByteReader& in) {
  segment_ = in.Integer();
  const BoosterSnapshot now = BoosterSnapshot::ReadFrom(in);
  round_weights_ = in.Numbers<double>();
  round_ids_ = in.Numbers<std::int64_t>();
  Require(static_cast<std::int64_t>(round_ids_.size()) == now.num_rounds &&
          round_weights_.size() == round_ids_.size());
  last_round_id_ = in.Integer();
  average_weight_ = in.Real();
  for (Scored& scored : scored_) {
    scored.shift = in.Numbers<double>();
    scored.average = in.Numbers<double>();
  }
  iterates_.resize(in.Count());
  for (Iterate& iterate : iterates_) {
    iterate.rounds = static_cast<std::size_t>(in.Integer());
    iterate.last_round = in.Integer();
    iterate.weight = in.Real();
  }
  best_ = ReadBest(in);
  BeginSegment(now);
  ReadAnchor(in);
  std::vector<std::unique_ptr<ModelState>> states(in.Count());
  for (auto& state : states) state = ReadState(in);
  return states;
}

}  // namespace bregboost
