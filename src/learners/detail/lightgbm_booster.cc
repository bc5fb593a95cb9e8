#include "learners/detail/lightgbm_booster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "detail/unused_memory.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/lightgbm_fields_lock.h"

namespace bregboost::detail {
namespace {

// LightGBM copies a data set's initial scores when a booster meets it. This puts ours there for
// that moment and takes them away afterwards; the caller holds LockLightGbmFields().
class BorrowedInitialScores {
 public:
  BorrowedInitialScores(const LightGbmDataset& dataset, std::span<const double> by_class)
      : dataset_(dataset) {
    if (by_class.empty() || !dataset.initial_scores().empty()) return;
    const std::size_t rows = dataset.num_rows();
    std::vector<double> scores(rows * by_class.size());
    for (std::size_t k = 0; k < by_class.size(); ++k) {
      std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(k * rows), rows, by_class[k]);
    }
    dataset_.SetInitialScores(scores);
    borrowed_ = true;
  }
  ~BorrowedInitialScores() {
    if (!borrowed_) return;
    // LightGBM forgets the scores and keeps their memory.
    const std::span<const double> lent = dataset_.initial_scores();
    DiscardPages(const_cast<double*>(lent.data()), lent.size_bytes());
    dataset_.api()->DatasetSetField(dataset_.handle(), "init_score", nullptr, 0, kLgbFloat64);
  }
  BorrowedInitialScores(const BorrowedInitialScores&) = delete;
  BorrowedInitialScores& operator=(const BorrowedInitialScores&) = delete;

 private:
  LightGbmDataset dataset_;
  bool borrowed_ = false;
};

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
  Free();
  num_rounds_ = 0;
  Forget();
  const bool from_zero = std::all_of(starting_scores_.begin(), starting_scores_.end(),
                                     [](double score) { return score == 0.0; });
  const std::span<const double> start =
      from_zero ? std::span<const double>() : std::span<const double>(starting_scores_);
  {
    const BorrowedInitialScores borrowed(train_, start);
    api_->Check(
        api_->BoosterCreate(train_.handle(), settings_.Text(num_empty_starts_).c_str(), &handle_),
        "creating a booster");
  }
  for (const LightGbmDataset& set : held_out_) {
    const BorrowedInitialScores borrowed(set, start);
    api_->Check(api_->BoosterAddValidData(handle_, set.handle()), "adding a held-out set");
  }
}

void LightGbmBooster::Forget() {
  for (CachedScores& cached : scores_) cached.fresh = false;
  held_is_current_ = false;
}

void LightGbmBooster::Fetch(std::size_t data_index, std::vector<double>& scores) const {
  const LightGbmDataset& dataset = data_index == 0 ? train_ : held_out_[data_index - 1];
  scores.resize(dataset.num_rows() * num_scores_);
  std::int64_t length = 0;
  api_->Check(
      api_->BoosterGetPredict(handle_, static_cast<int>(data_index), &length, scores.data()),
      "reading scores");
  if (length != static_cast<std::int64_t>(scores.size())) {
    throw std::runtime_error(fmt::format("LightGBM gave {} scores for {}", length, scores.size()));
  }
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
