// A problem with the scores of its rows, as calibration needs them: its searches look at scores one
// by one and many times over.
//
// Where workers have the rows between them, each gets a sketch of all rows: rows of one cell with
// nearly the same scores become one row that weighs as much as they do together. Their number is
// bounded, however many rows there are, and nothing else of the rows crosses the network.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {

class GatheredProblem {
 public:
  static constexpr std::size_t kMostRows = 100'000;  // of a sketch

  // Keeps references to `problem` and, without workers, to `scores`, class-major. Classes only.
  GatheredProblem(std::span<const double> scores, const RateProblem& problem);

  std::span<const double> scores() const { return scores_; }
  const RateProblem& problem() const { return sketch_ ? sketch_->problem : *problem_; }
  const RowData& rows() const { return problem().rows(); }

 private:
  struct Sketch {
    Sketch(RowData all_rows, const RateProblem& like);

    RowData rows;
    RateProblem problem;  // with the bounds and allowances of the other
    std::vector<double> scores;
  };

  const RateProblem* problem_;
  std::span<const double> scores_;
  std::unique_ptr<Sketch> sketch_;
};

}  // namespace bregboost
