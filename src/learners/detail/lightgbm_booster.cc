#include "learners/detail/lightgbm_booster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "detail/memory_room.h"
#include "detail/unused_memory.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/lightgbm_fields_lock.h"
#include "model/detail/lightgbm_text.h"

namespace bregboost::detail {
namespace {

// LightGBM copies a data set's initial scores when a booster meets it. This puts other scores there
// for that moment; the caller holds LockLightGbmFields().
class BorrowedInitialScores {
 public:
  // No scores: the data set keeps its own.
  BorrowedInitialScores(const LightGbmDataset& dataset, std::span<const double> scores)
      : dataset_(dataset), borrowed_(!scores.empty()) {
    if (!borrowed_) return;
    const std::span<const double> own = dataset.initial_scores();
    own_.assign(own.begin(), own.end());
    dataset_.SetInitialScores(scores);
  }
  ~BorrowedInitialScores() {
    if (!borrowed_) return;
    if (!own_.empty()) {
      dataset_.SetInitialScores(own_);
      return;
    }
    // LightGBM forgets the scores and keeps their memory.
    const std::span<const double> lent = dataset_.initial_scores();
    DiscardPages(const_cast<double*>(lent.data()), lent.size_bytes());
    dataset_.api()->DatasetSetField(dataset_.handle(), "init_score", nullptr, 0, kLgbFloat64);
  }
  BorrowedInitialScores(const BorrowedInitialScores&) = delete;
  BorrowedInitialScores& operator=(const BorrowedInitialScores&) = delete;

 private:
  LightGbmDataset dataset_;
  bool borrowed_;
  std::vector<double> own_;
};

// A booster of their own, which the caller frees.
void* ReadTrees(const LightGbmApi& api, const std::string& trees) {
  RequireRoomForModel(trees.size());
  int rounds = 0;
  void* booster = nullptr;
  api.Check(api.BoosterLoadModelFromString(trees.c_str(), &rounds, &booster), "reading trees");
  return booster;
}

std::vector<double> SameForAllRows(std::span<const double> by_class, std::size_t rows) {
  std::vector<double> scores(rows * by_class.size());
  for (std::size_t k = 0; k < by_class.size(); ++k) {
    std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(k * rows), rows, by_class[k]);
  }
  return scores;
}

void CheckInitialScores(const LightGbmDataset& dataset, std::size_t num_scores, bool expected,
                        const char* what) {
  const std::size_t found = dataset.initial_scores().size();
  const std::size_t all = dataset.num_rows() * num_scores;
  if (found == (expected ? all : 0)) return;
  throw std::invalid_argument(
      fmt::format("initial scores of the {}: {} values; allowed: {}", what, found,
                  expected ? fmt::format("{} rows x {} scores", dataset.num_rows(), num_scores)
                           : "none, as the training set has none"));
}

}  // namespace

LightGbmBooster::LightGbmBooster(const LightGbmDataset& train,
                                 std::span<const LightGbmDataset> held_out,
                                 LightGbmSettings settings, std::vector<double> starting_scores)
    : api_(train.api()),
      train_(train),
      held_out_(held_out.begin(), held_out.end()),
      settings_(std::move(settings)),
      num_scores_(starting_scores.size()),
      starting_scores_(std::move(starting_scores)),
      scores_(1 + held_out.size()) {
  const auto lock = LockLightGbmFields();
  const bool users_start = !train.initial_scores().empty();
  if (users_start) CheckInitialScores(train, num_scores_, true, "training set");
  for (const LightGbmDataset& set : held_out_) {
    CheckInitialScores(set, num_scores_, users_start, "held-out set");
  }
  if (users_start) std::fill(starting_scores_.begin(), starting_scores_.end(), 0.0);
  Create();
}

LightGbmBooster::~LightGbmBooster() { Free(); }

void LightGbmBooster::Free() {
  if (handle_ != nullptr) api_->BoosterFree(handle_);
  handle_ = nullptr;
}

void LightGbmBooster::CreateAnew() {
  const auto lock = LockLightGbmFields();
  Create();
}

void LightGbmBooster::Create() {
  num_rounds_ = first_round_ = 0;
  // The user's own initial scores take the place of a start from zero.
  const bool from_zero = std::all_of(starting_scores_.begin(), starting_scores_.end(),
                                     [](double score) { return score == 0.0; });
  CreateFrom([&](std::size_t data_index) {
    return from_zero ? std::vector<double>()
                     : SameForAllRows(starting_scores_, dataset(data_index).num_rows());
  });
}

// scores_of(i) are those that data set i starts from; none: its own.
template <class ScoresOf>
void LightGbmBooster::CreateFrom(const ScoresOf& scores_of) {
  constexpr std::int64_t kDrawsOfSegment = 1000;
  Free();
  Forget();
  {
    const std::string text = settings_.Text(num_empty_starts_ + segment_ * kDrawsOfSegment);
    const std::vector<double> scores = scores_of(0);
    const BorrowedInitialScores borrowed(train_, scores);
    api_->Check(api_->BoosterCreate(train_.handle(), text.c_str(), &handle_), "creating a booster");
  }
  for (std::size_t i = 0; i < held_out_.size(); ++i) {
    const std::vector<double> scores = scores_of(i + 1);
    const BorrowedInitialScores borrowed(held_out_[i], scores);
    api_->Check(api_->BoosterAddValidData(handle_, held_out_[i].handle()), "adding a held-out set");
  }
}

// LightGBM does not look at these trees again: what they add is in the scores already.
void LightGbmBooster::PutBefore(const std::string& trees) {
  void* const read = ReadTrees(*api_, trees);
  const int status = api_->BoosterMerge(handle_, read);
  api_->BoosterFree(read);
  api_->Check(status, "taking trees over");
}

BoosterSnapshot LightGbmBooster::TakeSnapshot() {
  BoosterSnapshot snapshot{.num_rounds = num_rounds_, .num_empty_rounds = num_empty_starts_};
  if (num_rounds_ == 0) return snapshot;
  snapshot.trees = Serialize();
  snapshot.scores.resize(1 + held_out_.size());
  for (std::size_t i = 0; i < snapshot.scores.size(); ++i) Fetch(i, snapshot.scores[i]);
  return snapshot;
}

void LightGbmBooster::Check(const BoosterSnapshot& snapshot) const {
  if (snapshot.num_rounds == 0) {
    RequireOfOneTraining(snapshot.trees.empty() && snapshot.scores.empty());
    return;
  }
  RequireOfOneTraining(snapshot.scores.size() == 1 + held_out_.size());
  for (std::size_t i = 0; i < snapshot.scores.size(); ++i) {
    const std::vector<double>& scores = snapshot.scores[i];
    RequireOfOneTraining(scores.size() == NumScores(i) &&
                         std::all_of(scores.begin(), scores.end(),
                                     [](double score) { return std::isfinite(score); }));
  }
  const LightGbmText model = ParseForLightGbm(snapshot.trees, "trees");
  RequireOfOneTraining(model.trees_per_round == num_scores_ &&
                       static_cast<std::int64_t>(model.trees.size() / num_scores_) ==
                           snapshot.num_rounds &&
                       model.feature_names.size() == train_.num_features());
  // LightGBM asks for more, such as `feature_infos`; a training may go back to its best rounds much
  // later.
  api_->BoosterFree(ReadTrees(*api_, snapshot.trees));
}

void LightGbmBooster::Load(const BoosterSnapshot& snapshot, std::int64_t segment) {
  const auto lock = LockLightGbmFields();
  segment_ = segment;
  num_empty_starts_ = snapshot.num_empty_rounds;
  if (snapshot.num_rounds == 0) {
    Create();
    return;
  }
  CreateFrom([&](std::size_t data_index) { return snapshot.scores[data_index]; });
  PutBefore(snapshot.trees);
  num_rounds_ = first_round_ = snapshot.num_rounds;
}

void LightGbmBooster::Forget() {
  for (CachedScores& cached : scores_) cached.fresh = false;
  held_is_current_ = false;
}

void LightGbmBooster::Fetch(std::size_t data_index, std::vector<double>& scores) const {
  scores.resize(dataset(data_index).num_rows() * num_scores_);
  std::int64_t length = 0;
  api_->Check(api_->BoosterGetNumPredict(handle_, static_cast<int>(data_index), &length),
              "counting scores");
  if (length != static_cast<std::int64_t>(scores.size())) {
    throw std::runtime_error(
        fmt::format("LightGBM, reading scores: {} of them; expected: {}", length, scores.size()));
  }
  api_->Check(
      api_->BoosterGetPredict(handle_, static_cast<int>(data_index), &length, scores.data()),
      "reading scores");
}

ScoreView LightGbmBooster::Read(std::size_t data_index) {
  CachedScores& cached = scores_[data_index];
  if (!cached.fresh) Fetch(data_index, cached.values);
  cached.fresh = true;
  return ViewOf(cached.values);
}

ScoreView LightGbmBooster::ViewOf(const std::vector<double>& scores) const {
  return {.data = scores.data(),
          .num_rows = scores.size() / num_scores_,
          .num_scores = num_scores_,
          .layout = ScoreLayout::kClassMajor};
}

ScoreView LightGbmBooster::TrainScores() { return held_is_current_ ? ViewOf(held_) : Read(0); }

// The buffer that was read last becomes the one that is kept: nothing is copied.
ScoreView LightGbmBooster::HoldScores() {
  if (held_is_current_) return ViewOf(held_);
  if (scores_[0].fresh) {
    std::swap(held_, scores_[0].values);
    scores_[0].fresh = false;
  } else {
    Fetch(0, held_);
  }
  held_is_current_ = true;
  return ViewOf(held_);
}

void LightGbmBooster::LendRoom(std::vector<double>& room) {
  scores_[0] = {.values = std::move(room), .fresh = false};
}

void LightGbmBooster::GiveBackRoom(std::vector<double>& room) {
  room = std::exchange(scores_[0], {}).values;
}

ScoreView LightGbmBooster::HeldOutScores(std::size_t set) { return Read(set + 1); }

bool LightGbmBooster::Boost(std::span<const float> gradient, std::span<const float> hessian) {
  // LightGBM reads as many numbers as it needs and checks nothing.
  const std::size_t expected = train_.num_rows() * num_scores_;
  if (gradient.size() != expected || hessian.size() != expected) {
    throw std::invalid_argument(fmt::format("derivatives: {} and {} values; allowed: {}",
                                            gradient.size(), hessian.size(), expected));
  }
  int finished = 0;
  api_->Check(api_->BoosterUpdateOneIterCustom(handle_, gradient.data(), hessian.data(), &finished),
              "a boosting round");
  if (finished != 0) {
    // LightGBM drops an empty round, save for the first, which it keeps as trees of one zero leaf.
    if (num_rounds_ == 0) {
      ++num_empty_starts_;
      CreateAnew();
    }
    return false;
  }
  ++num_rounds_;
  Forget();
  return true;
}

void LightGbmBooster::RollBackTo(std::int64_t num_rounds) {
  if (num_rounds < first_round_) {
    throw std::logic_error("rounds of an earlier segment have no scores to go back to");
  }
  if (num_rounds == 0 && num_rounds_ > 0) {
    CreateAnew();
    return;
  }
  for (; num_rounds_ > num_rounds; --num_rounds_) {
    api_->Check(api_->BoosterRollbackOneIter(handle_), "taking a round back");
  }
  Forget();
}

std::string LightGbmBooster::Serialize() const {
  // The library writes the whole model to say that a buffer is too small. Room that is not used
  // costs nothing; a tree of 31 leaves takes some 5 KiB.
  constexpr std::size_t kPerTree = std::size_t{1} << 14, kRest = std::size_t{1} << 20;
  std::size_t room = kRest + kPerTree * static_cast<std::size_t>(num_rounds_) * num_scores_;
  for (;;) {
    const auto buffer = std::make_unique_for_overwrite<char[]>(room);
    RequireRoomForModel(0);
    std::int64_t needed = 0;  // counts the terminating zero
    api_->Check(
        api_->BoosterSaveModelToString(handle_, 0, -1, /*importance_type=*/0,
                                       static_cast<std::int64_t>(room), &needed, buffer.get()),
        "writing the model");
    const auto size = static_cast<std::size_t>(needed);
    if (size <= room) return {buffer.get(), size - 1};
    room = size;
  }
}

std::vector<double> LightGbmStartingScores(const Objective& objective) {
  const RowData& rows = objective.rows();
  const std::size_t n = rows.num_rows();
  const auto weight = [&](std::size_t i) {
    return rows.weights.empty() ? 1.0 : static_cast<double>(static_cast<float>(rows.weights[i]));
  };
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += weight(i);
  total = rows.SumOverWorkers(total);
  if (rows.task() == Task::kRegression) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += static_cast<double>(static_cast<float>(rows.targets[i])) * weight(i);
    }
    return {rows.SumOverWorkers(sum) / total};
  }
  std::vector<double> share(rows.labels.levels.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    share[static_cast<std::size_t>(rows.labels.codes[i])] += weight(i);
  }
  rows.SumOverWorkers(share);
  for (double& s : share) s /= total;
  constexpr double kSmallest = 1e-15;  // LightGBM's kEpsilon
  if (rows.task() == Task::kBinary) {
    const double p = std::clamp(share[1], kSmallest, 1.0 - kSmallest);
    return {std::log(p / (1.0 - p))};
  }
  for (double& s : share) s = std::log(std::max(kSmallest, s));
  return share;
}

}  // namespace bregboost::detail
