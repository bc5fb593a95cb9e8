// What a LockstepLearner writes between two segments, and takes up again.
#include <limits>
#include <stdexcept>
#include <utility>

#include "learners/lockstep_impl.h"

namespace bregboost {

// A solver's states come first, then those that its own best rounds are in.
void LockstepLearner::Impl::EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) {
  std::vector<State*> all;
  for (ModelState* saved : kept) {
    all.push_back(dynamic_cast<State*>(saved));
    if (all.back() == nullptr) throw std::logic_error("the state is another learner's");
  }
  const auto place_of = [&](const Best& best) {
    if (best.state == nullptr) return std::int64_t{-1};
    std::size_t place = kept.size();
    while (place < all.size() && all[place] != best.state.get()) ++place;
    if (place == all.size()) all.push_back(best.state.get());
    return static_cast<std::int64_t>(place);
  };
  detail::ByteWriter bests;
  const auto write = [&](const Best& best, std::int64_t rounds_done) {
    bests.Put(best.loss);
    bests.Put(best.round);
    bests.Put(place_of(best));
    bests.Put(rounds_done);
  };
  write(best_, rounds_done_);
  for (std::size_t i = 0; i < all.size(); ++i) {  // which grows
    const Best best = all[i]->best;
    write(best, all[i]->rounds_done);
  }
  out.Put(static_cast<std::int64_t>(kept.size()));
  out.Put(static_cast<std::int64_t>(all.size()));
  out.Put(std::string_view(bests.bytes()));
  std::vector<detail::ByteWriter> of_fold(folds_.size());
  ChangeFolds([&](std::size_t k) {
    std::vector<ModelState*> states;
    for (const State* state : all) states.push_back(state->folds[k].get());
    folds_[k]->learner->EndSegment(states, of_fold[k]);
  });
  for (const detail::ByteWriter& bytes : of_fold) out.Put(std::string_view(bytes.bytes()));
}

std::vector<std::unique_ptr<ModelState>> LockstepLearner::Impl::TakeUp(detail::ByteReader& in) {
  constexpr std::size_t kBytesOfBest = 4 * sizeof(std::int64_t);
  const std::size_t num_kept = in.Count(kBytesOfBest);
  std::vector<std::shared_ptr<State>> all(in.Count(kBytesOfBest));
  if (num_kept > all.size()) throw std::runtime_error("fewer states than were kept");
  for (auto& state : all) state = std::make_shared<State>();
  const std::string bests = in.Text();
  detail::ByteReader numbers(bests);
  const auto read = [&](Best& best, std::int64_t& rounds_done, bool has_state) {
    best = {.loss = numbers.Real(), .round = numbers.Integer(), .state = nullptr};
    const std::int64_t place = numbers.Integer();
    rounds_done = numbers.Integer();
    constexpr std::int64_t kMostRounds = std::int64_t{1} << 62U;
    detail::RequireOfOneTraining(best.loss > -std::numeric_limits<double>::infinity() &&
                                 best.round >= 0 && best.round <= rounds_done &&
                                 rounds_done < kMostRounds);
    if (place == -1) return;
    // A best state stands behind the solver's, and knows of no other.
    if (!has_state || place < static_cast<std::int64_t>(num_kept) ||
        place >= static_cast<std::int64_t>(all.size())) {
      throw std::runtime_error("a best state that is not there");
    }
    best.state = all[static_cast<std::size_t>(place)];
  };
  read(best_, rounds_done_, /*has_state=*/true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    read(all[i]->best, all[i]->rounds_done, /*has_state=*/i < num_kept);
  }
  numbers.RequireEnd();

  std::vector<std::string> of_fold(folds_.size());
  for (std::string& bytes : of_fold) bytes = in.Text();
  std::vector<std::vector<std::unique_ptr<ModelState>>> states(folds_.size());
  ChangeFolds([&](std::size_t k) {
    detail::ByteReader bytes(of_fold[k]);
    states[k] = folds_[k]->learner->TakeUp(bytes);
    bytes.RequireEnd();
    if (states[k].size() != all.size()) throw std::runtime_error("states of some folds only");
  });
  std::vector<std::unique_ptr<ModelState>> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (auto& of_one : states) all[i]->folds.push_back(std::move(of_one[i]));
    // Nothing else points to a solver's states.
    if (i < num_kept) kept.push_back(std::make_unique<State>(std::move(*all[i])));
  }
  return kept;
}

}  // namespace bregboost
