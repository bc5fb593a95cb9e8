// Segments of a boosted learner: what it writes at the end of each, and goes on from.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "learners/boosted_impl.h"

namespace bregboost {

using detail::BoosterSnapshot;
using detail::ByteReader;
using detail::ByteWriter;
using detail::RequireOfOneTraining;

namespace {

void WriteSnapshot(const std::shared_ptr<const BoosterSnapshot>& snapshot, ByteWriter& out) {
  out.Put(std::int64_t{snapshot != nullptr});
  if (snapshot != nullptr) snapshot->WriteTo(out);
}

std::shared_ptr<const BoosterSnapshot> ReadSnapshot(ByteReader& in) {
  if (in.Integer() == 0) return nullptr;
  return std::make_shared<const BoosterSnapshot>(BoosterSnapshot::ReadFrom(in));
}

bool AreFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// What averages make of rounds: the share of the iterates that hold them, up to rounding.
bool AreShares(const std::vector<double>& weights) {
  constexpr double kMost = 1.0 + 1e-6;
  return std::all_of(weights.begin(), weights.end(),
                     [](double w) { return w >= 0.0 && w <= kMost; });
}

// Seeds are made of the number of the segment; more than anybody waits for.
constexpr std::int64_t kMostSegments = 1'000'000'000;

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

// ---- whether what was read may be of this learner

// Numbers of every row, or none.
void BoostedLearner::Impl::CheckRowNumbers(const std::vector<double>& numbers,
                                           std::size_t set) const {
  RequireOfOneTraining((numbers.empty() || numbers.size() == booster_->NumScores(set)) &&
                       AreFinite(numbers));
}

void BoostedLearner::Impl::CheckBest(const Best& best, std::size_t num_rounds) const {
  RequireOfOneTraining(best.loss > -std::numeric_limits<double>::infinity() && best.round >= 0 &&
                       best.round <= static_cast<std::int64_t>(num_rounds));
  if (best.snapshot == nullptr) {
    RequireOfOneTraining(!std::isfinite(best.loss));  // else there would be no way back
    return;
  }
  RequireOfOneTraining(best.snapshot->num_rounds == best.round);
  booster_->Check(*best.snapshot);
}

void BoostedLearner::Impl::Check(const State& state,
                                 std::span<const std::int64_t> round_ids) const {
  const std::size_t num_rounds = state.round_ids.size();
  RequireOfOneTraining(
      num_rounds <= round_ids.size() && state.round_weights.size() == num_rounds &&
      std::equal(state.round_ids.begin(), state.round_ids.end(), round_ids.begin()) &&
      AreShares(state.round_weights));
  for (std::size_t set = 0; set < state.shifts.size(); ++set) {
    CheckRowNumbers(state.shifts[set], set);
  }
  CheckBest(state.best, num_rounds);
  RequireOfOneTraining(state.snapshot != nullptr &&
                       state.snapshot->num_rounds == static_cast<std::int64_t>(num_rounds));
  booster_->Check(*state.snapshot);
}

void BoostedLearner::Impl::Check(const Segment& segment) const {
  const std::vector<std::int64_t>& ids = segment.round_ids;
  RequireOfOneTraining(segment.number >= 1 && segment.number <= kMostSegments &&
                       static_cast<std::int64_t>(ids.size()) == segment.now.num_rounds &&
                       segment.round_weights.size() == ids.size() &&
                       AreShares(segment.round_weights));
  booster_->Check(segment.now);
  std::int64_t last_id = 0;
  for (const std::int64_t id : ids) {
    RequireOfOneTraining(id > last_id);
    last_id = id;
  }
  constexpr std::int64_t kMostRounds = std::int64_t{1} << 62U;
  RequireOfOneTraining(segment.last_round_id >= last_id && segment.last_round_id < kMostRounds);

  double weight = 0.0;
  for (const Iterate& iterate : segment.iterates) {
    RequireOfOneTraining(iterate.rounds <= ids.size() && iterate.weight > 0.0 &&
                         (iterate.rounds == 0 || ids[iterate.rounds - 1] == iterate.last_round));
    weight += iterate.weight;
  }
  RequireOfOneTraining(std::isfinite(weight) && weight == segment.average_weight);
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    CheckRowNumbers(segment.shifts[set], set);
    CheckRowNumbers(segment.averages[set], set);
    RequireOfOneTraining(segment.averages[set].empty() == segment.iterates.empty());
  }
  CheckBest(segment.best, ids.size());
  CheckRowNumbers(segment.anchor, 0);
  RequireOfOneTraining((segment.anchor_constants.empty() ||
                        segment.anchor_constants.size() == objective_.rows().num_scores()) &&
                       AreFinite(segment.anchor_constants));
  for (const auto& state : segment.states) {
    Check(dynamic_cast<const State&>(*state), ids);
  }
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
  const auto may_go_back = [](const Best& best) { return std::isfinite(best.loss); };
  std::vector<State*> states;
  std::vector<std::pair<std::int64_t, std::shared_ptr<const BoosterSnapshot>*>> earlier;
  for (ModelState* state : kept) {
    states.push_back(dynamic_cast<State*>(state));
    if (states.back() == nullptr) throw std::logic_error("the state is another learner's");
    const auto rounds = static_cast<std::int64_t>(states.back()->round_ids.size());
    earlier.emplace_back(rounds, &states.back()->snapshot);
    Best& best = states.back()->best;
    if (may_go_back(best)) earlier.emplace_back(best.round, &best.snapshot);
  }
  if (may_go_back(best_)) earlier.emplace_back(best_.round, &best_.snapshot);
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

BoostedLearner::Impl::Segment BoostedLearner::Impl::ReadSegment(ByteReader& in) const {
  Segment segment;
  segment.number = in.Integer();
  segment.now = BoosterSnapshot::ReadFrom(in);
  segment.round_weights = in.Numbers<double>();
  segment.round_ids = in.Numbers<std::int64_t>();
  segment.last_round_id = in.Integer();
  segment.average_weight = in.Real();
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    segment.shifts.push_back(in.Numbers<double>());
    segment.averages.push_back(in.Numbers<double>());
  }
  segment.iterates.resize(in.Count(3 * sizeof(std::int64_t)));
  for (Iterate& iterate : segment.iterates) {
    iterate.rounds = static_cast<std::size_t>(in.Integer());
    iterate.last_round = in.Integer();
    iterate.weight = in.Real();
  }
  segment.best = ReadBest(in);
  segment.anchor_constants = in.Numbers<double>();
  segment.anchor = in.Numbers<double>();
  segment.states.resize(in.Count(6 * sizeof(std::int64_t)));
  for (auto& state : segment.states) state = ReadState(in);
  return segment;
}

// Nothing changes before all of it has been read and checked.
std::vector<std::unique_ptr<ModelState>> BoostedLearner::Impl::TakeUp(ByteReader& in) {
  Segment segment = ReadSegment(in);
  Check(segment);
  segment_ = segment.number;
  round_weights_ = std::move(segment.round_weights);
  round_ids_ = std::move(segment.round_ids);
  last_round_id_ = segment.last_round_id;
  average_weight_ = segment.average_weight;
  for (std::size_t set = 0; set < scored_.size(); ++set) {
    scored_[set].shift = std::move(segment.shifts[set]);
    scored_[set].average = std::move(segment.averages[set]);
  }
  iterates_ = std::move(segment.iterates);
  best_ = std::move(segment.best);
  BeginSegment(segment.now);
  anchor_constants_ = std::move(segment.anchor_constants);
  anchor_.Clear();
  if (!segment.anchor.empty()) anchor_.AssignClassMajor(segment.anchor, Scores(0));
  return std::move(segment.states);
}

}  // namespace bregboost
