#include "bregboost/calibrate/gathered_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "detail/hash.h"

namespace bregboost {
namespace {

// Rows of one cell whose scores round to the same places, as one. All in flat arrays: a row that
// falls on a heap which is there costs no allocation.
class Heaps {
 public:
  explicit Heaps(std::size_t num_scores) : num_scores_(num_scores), slots_(1024, kFree) {}

  // The cell of a row, then its scores in steps of the sketch.
  std::size_t place_size() const { return 1 + num_scores_; }
  // Weight, rate weight, number of rows, then scores, all summed up.
  std::size_t sums_size() const { return 3 + num_scores_; }

  std::size_t size() const { return places_.size() / place_size(); }
  std::span<const std::int64_t> place(std::size_t heap) const {
    return {places_.data() + heap * place_size(), place_size()};
  }
  std::span<const double> sums(std::size_t heap) const {
    return {sums_.data() + heap * sums_size(), sums_size()};
  }

  void Add(std::span<const std::int64_t> place, std::span<const double> sums) {
    const std::size_t heap = FindOrMake(place);
    for (std::size_t j = 0; j < sums.size(); ++j) sums_[heap * sums_size() + j] += sums[j];
  }

  std::vector<std::size_t> ByPlace() const {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::ranges::lexicographical_compare(place(a), place(b));
    });
    return order;
  }

 private:
  static constexpr std::size_t kFree = std::numeric_limits<std::size_t>::max();

  std::size_t FindOrMake(std::span<const std::int64_t> wanted) {
    std::size_t& slot = SlotOf(wanted);
    if (slot != kFree) return slot;
    const std::size_t made = slot = size();
    places_.insert(places_.end(), wanted.begin(), wanted.end());
    sums_.resize(sums_.size() + sums_size(), 0.0);
    if (2 * size() > slots_.size()) MakeRoom();
    return made;
  }

  // The heap's or, if there is none, the free one that it would take.
  std::size_t& SlotOf(std::span<const std::int64_t> wanted) {
    std::uint64_t hash = 0;
    for (const std::int64_t at : wanted) detail::AddToHash(static_cast<std::uint64_t>(at), hash);
    const std::size_t mask = slots_.size() - 1;  // their number is a power of two
    std::size_t at = hash & mask;
    while (slots_[at] != kFree && !std::ranges::equal(place(slots_[at]), wanted)) {
      at = (at + 1) & mask;
    }
    return slots_[at];
  }

  void MakeRoom() {
    slots_.assign(2 * slots_.size(), kFree);
    for (std::size_t heap = 0; heap < size(); ++heap) SlotOf(place(heap)) = heap;
  }

  std::size_t num_scores_;
  std::vector<std::int64_t> places_;
  std::vector<double> sums_;
  std::vector<std::size_t> slots_;  // heaps at, or soon behind, the hash of their place
};

// Scores of one row as decisions see them: a shift of all classes changes nothing.
void ReadScores(std::span<const double> scores, const RowData& rows, std::size_t row,
                std::span<double> own) {
  double mean = 0.0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    own[k] = scores[k * rows.num_rows() + row];
    mean += own[k] / static_cast<double>(own.size());
  }
  if (own.size() > 1) {
    for (double& score : own) score -= mean;
  }
}

Heaps HeapsOf(std::span<const double> scores, const RateProblem& problem, double step) {
  const RowData& rows = problem.rows();
  Heaps heaps(rows.num_scores());
  std::vector<std::int64_t> place(heaps.place_size());
  std::vector<double> sums(heaps.sums_size());
  const std::span<double> own = std::span(sums).subspan(3);
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    ReadScores(scores, rows, i, own);
    sums[0] = rows.weight(i);
    sums[1] = rows.rate_weight(i);
    sums[2] = 1.0;
    place[0] = problem.compiled().cells.cell_of_row[i];
    for (std::size_t k = 0; k < own.size(); ++k) place[1 + k] = std::llround(own[k] / step);
    heaps.Add(place, sums);
    // More than all workers together may have: the caller takes larger steps.
    if (heaps.size() > GatheredProblem::kMostRows) break;
  }
  return heaps;
}

double Range(std::span<const double> scores, const RowData& rows) {
  std::array ends = {0.0, 0.0};  // the largest score, and that of the scores' opposites
  std::vector<double> own(rows.num_scores());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    ReadScores(scores, rows, i, own);
    for (const double score : own) {
      ends[0] = std::max(ends[0], score);
      ends[1] = std::max(ends[1], -score);
    }
  }
  rows.workers->Max(ends);
  return ends[0] + ends[1];
}

// In steps so small that the rows of a sketch are as many as they may be.
Heaps SmallEnough(std::span<const double> scores, const RateProblem& problem) {
  constexpr double kFinest = 1.0 / 32768.0;
  const RowData& rows = problem.rows();
  double step = std::max(Range(scores, rows), 1e-6) * kFinest;
  for (;; step *= 1.5) {
    Heaps heaps = HeapsOf(scores, problem, step);
    const double all = rows.SumOverWorkers(static_cast<double>(heaps.size()));
    if (all <= static_cast<double>(GatheredProblem::kMostRows)) return heaps;
  }
}

std::string Packed(const Heaps& heaps) {
  std::vector<double> numbers;
  numbers.reserve(heaps.size() * (heaps.place_size() + heaps.sums_size()));
  for (std::size_t heap = 0; heap < heaps.size(); ++heap) {
    for (const std::int64_t at : heaps.place(heap)) numbers.push_back(static_cast<double>(at));
    const std::span<const double> sums = heaps.sums(heap);
    numbers.insert(numbers.end(), sums.begin(), sums.end());
  }
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

void Unpack(const std::string& bytes, Heaps& heaps) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  std::vector<std::int64_t> place(heaps.place_size());
  for (std::span<const double> rest = numbers; !rest.empty();) {
    for (std::size_t j = 0; j < place.size(); ++j) place[j] = static_cast<std::int64_t>(rest[j]);
    heaps.Add(place, rest.subspan(place.size(), heaps.sums_size()));
    rest = rest.subspan(place.size() + heaps.sums_size());
  }
}

RowData RowsOf(const Heaps& heaps, std::span<const std::size_t> order, const RateProblem& problem) {
  const RowData& like = problem.rows();
  const CellTable& table = problem.compiled().cells;
  RowData rows;
  rows.labels = {.name = like.labels.name, .levels = like.labels.levels, .codes = {}};
  rows.positive_class = like.positive_class;
  for (const std::string& name : table.group_columns) {
    rows.groups.push_back({.name = name, .levels = FindGroup(like, name)->levels, .codes = {}});
  }
  for (const std::size_t heap : order) {
    const Cell& cell = table.cells[static_cast<std::size_t>(heaps.place(heap)[0])];
    rows.labels.codes.push_back(cell.label);
    if (cell.baseline >= 0) rows.baseline.push_back(cell.baseline);
    for (std::size_t g = 0; g < rows.groups.size(); ++g) {
      rows.groups[g].codes.push_back(cell.groups[g]);
    }
    rows.weights.push_back(heaps.sums(heap)[0]);
    rows.rate_weights.push_back(heaps.sums(heap)[1]);
  }
  return rows;
}

}  // namespace

GatheredProblem::Sketch::Sketch(RowData all_rows, const RateProblem& like)
    : rows(std::move(all_rows)),
      problem(like.constraints(), like.objective(), rows, like.rates().loss()) {
  problem.SetAllowances(like.allowances());
  problem.SetCaution(like.caution());
}

GatheredProblem::GatheredProblem(std::span<const double> scores, const RateProblem& problem)
    : problem_(&problem), scores_(scores) {
  const RowData& rows = problem.rows();
  if (rows.workers == nullptr) return;
  Heaps all(rows.num_scores());
  for (const std::string& bytes : rows.workers->Gather(Packed(SmallEnough(scores, problem)))) {
    Unpack(bytes, all);
  }
  const std::vector<std::size_t> order = all.ByPlace();
  sketch_ = std::make_unique<Sketch>(RowsOf(all, order, problem), problem);
  sketch_->scores.resize(order.size() * rows.num_scores());
  for (std::size_t row = 0; row < order.size(); ++row) {
    const std::span<const double> sums = all.sums(order[row]);
    for (std::size_t k = 0; k < rows.num_scores(); ++k) {
      sketch_->scores[k * order.size() + row] = sums[3 + k] / sums[2];
    }
  }
  scores_ = sketch_->scores;
}

}  // namespace bregboost
