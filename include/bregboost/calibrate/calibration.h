// Calibration: the temperature and the offsets with which the scores of a finished model meet the
// limits at the least cost. The scores should come from rows that the model has not seen. Binary:
// every threshold is tried. K > 2 classes: predicted is the first largest of F_k / T + offset_k,
// and the offsets are found by exact searches along lines (docs/calibration.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/compiled_constraints.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {

// What a point of violation is worth if nobody says: 5 points of accuracy, in points of the cost. A
// cost that counts some rows for more than others (recall: the positives) has larger points, so it
// is 5 times largest_cost_charge() then, to three digits.
double DefaultRho(const RateProblem& problem);

struct CalibrationOptions {
  // How many points of cost a point of violation is worth: merit = cost + rho * total violation; >=
  // 0. With 0 the limits count only in so far as undefined rates are avoided. None: DefaultRho();
  // and ten times as much where that breaks limits, none of which compares groups, though some
  // decision holds all. They then hold unless the price is higher still. Groups are no reason to
  // insist: some decision that hardly looks at the features nearly always makes them alike.
  std::optional<double> rho = {};
  std::uint64_t seed = 0;       // of random directions and restarts; K > 2 only
  bool fit_temperature = true;  // false: the temperature is 1
  // More than three classes of which only errors are limited and paid for, and no error is free.
  // True: all offsets move, which has the least merit on these rows. False: those of classes that a
  // limit is about; the others put probabilities right. That holds whatever limits all offsets can
  // hold and follows less noise, so it does better on other rows.
  bool all_offsets = false;

  bool operator==(const CalibrationOptions&) const = default;
};
void Validate(const CalibrationOptions& options);

struct Calibration {
  // Binary: one offset, minus the threshold, half-way between two neighbouring scores; of equally
  // good thresholds the one nearest to 0. A threshold outside of all scores is 1 beyond them. K
  // classes: K offsets of mean 0, in the middle of the range along each axis that decides alike.
  ModelAdjustment adjustment;
  std::vector<double> sums;  // event sums S of the decision; losses are those of F / T, no offsets
  double cost = 0.0;
  double total_violation = 0.0;  // infinite where a rate is undefined
  double merit = 0.0;            // infinite where a rate is undefined, whatever rho
  double rho = 0.0;              // by which this decision is the best
  std::vector<Measurement> measurements;
  // One per limit (row of A): those of the dual steps' best iterate. Empty unless K > 2 and all
  // limits bound errors of whole classes; see prices.h for prices in general.
  std::vector<double> multipliers;
  bool exact = false;            // no offsets have a lower merit at this temperature
  std::int64_t evaluations = 0;  // decisions that were judged
};

namespace detail {
struct BoundScores;
struct SearchHints;
}  // namespace detail

// Scores bound to their rows: sorted and with a temperature once, for any number of problems. New
// bounds need no training and no sorting, only another Solve().
class Calibrator {
 public:
  // Keeps references to both. Scores are class-major: score k of row i is scores[k * n + i]. Throws
  // std::invalid_argument for a numeric target, a wrong number of scores or one that is not finite.
  Calibrator(std::span<const double> scores, const RowData& rows);
  Calibrator(std::span<const double> scores, const RowData&& rows) = delete;
  ~Calibrator();
  Calibrator(Calibrator&&) noexcept;
  Calibrator& operator=(Calibrator&&) noexcept;

  double temperature() const;  // that of FitTemperature()

  // The decision of least merit. Where no decision defines every rate, the one that leaves the
  // fewest constraints undefined, then that of least cost + rho * violation of the others.
  //
  // `problem` must be about the same rows. Throws std::invalid_argument if it is not, or if its
  // objective is undefined on them.
  Calibration Solve(const RateProblem& problem, const CalibrationOptions& options = {}) const;

  // For diagnosis.h and prices.h, which search the same scores.
  const detail::BoundScores& bound_scores() const { return *bound_; }

 private:
  Calibration SolveFor(double rho, const RateProblem& problem, const CalibrationOptions& options,
                       const detail::SearchHints& hints) const;
  Calibration Insisting(Calibration found, const RateProblem& problem,
                        const CalibrationOptions& options, detail::SearchHints hints) const;

  std::unique_ptr<const detail::BoundScores> bound_;
};

// The one-shot form.
Calibration Calibrate(std::span<const double> scores, const RateProblem& problem,
                      const CalibrationOptions& options = {});

}  // namespace bregboost
