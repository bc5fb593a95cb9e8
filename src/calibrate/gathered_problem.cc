#include "bregboost/calibrate/gathered_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

namespace bregboost {
namespace {

// The cell of a row, then its scores in steps of the sketch.
using Place = std::vector<std::int64_t>;

// What rows of one place have together.
struct Heap {
  double weight = 0.0, rate_weight = 0.0, rows = 0.0;
  std::vector<double> scores;  // sums

  void Add(const Heap& other) {
    weight += other.weight;
    rate_weight += other.rate_weight;
    rows += other.rows;
    scores.resize(other.scores.size(), 0.0);
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] += other.scores[k];
  }
};
using Heaps = std::map<Place, Heap>;

// Scores of one row as decisions see them: a shift of all classes changes nothing.
std::vector<double> ScoresOf(std::span<const double> scores, const RowData& rows, std::size_t row) {
  std::vector<double> own(rows.num_scores());
  double mean = 0.0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    own[k] = scores[k * rows.num_rows() + row];
    mean += own[k] / static_cast<double>(own.size());
  }
  if (own.size() > 1) {
    for (double& score : own) score -= mean;
  }
  return own;
}

Heaps HeapsOf(std::span<const double> scores, const RateProblem& problem, double step) {
  const RowData& rows = problem.rows();
  Heaps heaps;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    Heap heap{.weight = rows.weight(i),
              .rate_weight = rows.rate_weight(i),
              .rows = 1.0,
              .scores = ScoresOf(scores, rows, i)};
    Place place = {problem.compiled().cells.cell_of_row[i]};
    for (const double score : heap.scores) place.push_back(std::llround(score / step));
    heaps[place].Add(heap);
  }
  return heaps;
}

double Range(std::span<const double> scores, const RowData& rows) {
  std::array ends = {0.0, 0.0};  // the largest score, and that of the scores' opposites
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    for (const double score : ScoresOf(scores, rows, i)) {
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
  for (const auto& [place, heap] : heaps) {
    for (const std::int64_t at : place) numbers.push_back(static_cast<double>(at));
    numbers.insert(numbers.end(), {heap.weight, heap.rate_weight, heap.rows});
    numbers.insert(numbers.end(), heap.scores.begin(), heap.scores.end());
  }
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

void Unpack(const std::string& bytes, std::size_t num_scores, Heaps& heaps) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  for (const double* at = numbers.data(); at < numbers.data() + numbers.size();) {
    Place place;
    for (std::size_t j = 0; j < 1 + num_scores; ++j) {
      place.push_back(static_cast<std::int64_t>(*at++));
    }
    Heap heap{.weight = at[0], .rate_weight = at[1], .rows = at[2], .scores = {}};
    at += 3;
    heap.scores.assign(at, at + num_scores);
    at += num_scores;
    heaps[place].Add(heap);
  }
}

RowData RowsOf(const Heaps& heaps, const RateProblem& problem) {
  const RowData& like = problem.rows();
  const CellTable& table = problem.compiled().cells;
  RowData rows;
  rows.labels = {.name = like.labels.name, .levels = like.labels.levels, .codes = {}};
  rows.positive_class = like.positive_class;
  for (const std::string& name : table.group_columns) {
    rows.groups.push_back({.name = name, .levels = FindGroup(like, name)->levels, .codes = {}});
  }
  for (const auto& [place, heap] : heaps) {
    const Cell& cell = table.cells[static_cast<std::size_t>(place[0])];
    rows.labels.codes.push_back(cell.label);
    if (cell.baseline >= 0) rows.baseline.push_back(cell.baseline);
    for (std::size_t g = 0; g < rows.groups.size(); ++g) {
      rows.groups[g].codes.push_back(cell.groups[g]);
    }
    rows.weights.push_back(heap.weight);
    rows.rate_weights.push_back(heap.rate_weight);
  }
  return rows;
}

}  // namespace

GatheredProblem::Sketch::Sketch(RowData all_rows, const RateProblem& like)
    : rows(std::move(all_rows)),
      problem(like.constraints(), like.objective(), rows, like.rates().loss()) {
  problem.SetAllowances(like.allowances());
}

GatheredProblem::GatheredProblem(std::span<const double> scores, const RateProblem& problem)
    : problem_(&problem), scores_(scores) {
  const RowData& rows = problem.rows();
  if (rows.workers == nullptr) return;
  Heaps all;
  for (const std::string& bytes : rows.workers->Gather(Packed(SmallEnough(scores, problem)))) {
    Unpack(bytes, rows.num_scores(), all);
  }
  sketch_ = std::make_unique<Sketch>(RowsOf(all, problem), problem);
  sketch_->scores.resize(all.size() * rows.num_scores());
  std::size_t row = 0;
  for (const auto& [place, heap] : all) {
    for (std::size_t k = 0; k < heap.scores.size(); ++k) {
      sketch_->scores[k * all.size() + row] = heap.scores[k] / heap.rows;
    }
    ++row;
  }
  scores_ = sketch_->scores;
}

}  // namespace bregboost
