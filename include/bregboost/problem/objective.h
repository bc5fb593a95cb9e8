// f(F): the weighted mean of a loss over the rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/cells.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost {

namespace detail {
class EventKernel;
}

enum class ObjectiveWeighting {
  kRows,           // sum_i w_i loss_i / sum_i w_i
  kClassBalanced,  // mean over classes of the class's mean loss (the paper's sum of class errors)
};

struct ObjectiveOptions {
  LossOptions loss;
  ObjectiveWeighting weighting = ObjectiveWeighting::kRows;

  bool operator==(const ObjectiveOptions&) const = default;
};

class Objective {
 public:
  // Keeps a reference to `rows`. Throws std::invalid_argument if the loss does not fit the target.
  Objective(const RowData& rows, const ObjectiveOptions& options);
  Objective(const RowData&& rows, const ObjectiveOptions& options) = delete;
  ~Objective();
  Objective(Objective&&) noexcept;
  Objective& operator=(Objective&&) noexcept;

  double Evaluate(std::span<const double> scores) const;

  // Adds scale * df/dF to `gradient` and, unless it is empty, a diagonal bound on the second
  // derivative to `hessian`. Returns scale * f.
  double AddDerivatives(std::span<const double> scores, double scale, std::span<double> gradient,
                        std::span<double> hessian) const;

  // f = sum_i coefficient * w_i * loss_i with one coefficient per class code, or a single one for a
  // numeric target; 0 for classes without weight. For passes that sum up the losses themselves.
  std::vector<double> LossCoefficients() const;
  const CellTable& cells() const { return *cells_; }  // by label

  const RowData& rows() const { return *rows_; }
  const ObjectiveOptions& options() const { return options_; }

 private:
  const RowData* rows_;
  ObjectiveOptions options_;
  std::unique_ptr<CellTable> cells_;  // by label; the kernel points to it
  std::vector<double> coefficients_;  // of each (cell, slot)
  std::unique_ptr<detail::EventKernel> kernel_;
};

}  // namespace bregboost
