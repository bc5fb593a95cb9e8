// Whether limits on rates hold on unseen data, at confidence 1 - delta, shown by rows that were
// used for nothing else: not to fit the model, nor to choose its rounds, offsets or threshold.
//
// Assumed: the rows are drawn independently from where the model will be used. Given how many fall
// into a subset, the events in it are then independent with the rate of that subset, and every
// bound below holds for any model and any true rates, at any number of rows.
//
// A constraint is taken apart into claims of the form sum_a c_a r_a <= b, where each r_a is the
// rate of one event over one subset of rows, pooled: never a sum of cells by their sample shares.
//   max, min     a claim per group
//   gap          a claim r_a - r_b <= b per ordered pair of groups
//   ratio        r_b / r_a >= b per ordered pair
// It holds if all its claims do, so each is tested at the full level (intersection-union test,
// Berger 1982): if one of them is false, it alone must err for the constraint to be certified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/certify/certification_log.h"
#include "bregboost/data/row_data.h"
#include "bregboost/problem/constraint.h"

namespace bregboost {

// What a model says about every row.
struct Predictions {
  std::vector<std::int32_t> classes;  // codes of the labels' levels; empty for a regression
  std::vector<double> losses;         // `loss` constraints only; else may be empty
};

struct LossRange {  // the values that the loss of any row can take; finite, low < high
  double low = 0.0;
  double high = 1.0;
};

struct CertifyOptions {
  double delta = 0.1;  // above 0, at most 0.5: the probability of a false certificate

  // true: all constraints are claimed at once, each tested at delta; the claim is `all_certified`,
  // and the verdicts only show what stands in its way. false: each verdict is a claim of its own,
  // tested at delta / (number of constraints), and none is false with a probability of 1 - delta.
  bool joint = true;

  // false: the rows had a part in making the model. Nothing can be certified; every verdict is
  // kEstimated.
  bool rows_are_separate = true;

  // Unset: rows of one subset weigh the same (or 0, which leaves a row out), and weights are no
  // evidence: the exact binomial bounds are used. Where weights differ within a subset, the largest
  // that any row can have must be known; finite, above 0.
  std::optional<double> max_weight = std::nullopt;

  std::optional<LossRange> loss_range = std::nullopt;  // `loss` constraints only, which need it

  // For every constraint, how many groups its aggregate compares where the model will be used (any
  // number without an aggregate). Fewer among these rows leave it undefined: nothing is known of
  // the group that is missing. Empty: every level of every column of an aggregate must occur, and
  // combinations of several columns that do not yield a warning.
  std::vector<std::size_t> expected_groups;

  std::uint64_t seed = 0;  // of the order of rows in bounds by betting

  // If given, rows that it has seen yield a warning, and these rows are added to it. `row_digests`
  // as in Fingerprint.
  CertificationLog* log = nullptr;
  std::vector<double> row_digests = {};
};

enum class Verdict {
  kCertified,     // the confidence bound keeps the limit
  kEstimated,     // nothing is claimed: no separate rows
  kNotCertified,  // the rows do not show it, or a rate is undefined
  kViolated,      // the rows show that the limit does not hold
};
std::string_view Name(Verdict verdict);  // "certified", "estimated", "not certified", "violated"

struct SubsetRows {
  std::string subset;    // "class=1, sex=F"; "all rows"; for precision "predicted=1, ..."
  std::size_t rows = 0;  // that it has
  std::optional<std::int64_t> rows_needed;  // about; none if the observed rate is at the limit
};

struct ConstraintVerdict {
  std::string text;
  Verdict verdict = Verdict::kNotCertified;
  double value = 0.0;  // on these rows; NaN where undefined
  double bound = 0.0;  // the limit

  // One-sided: the true value is on its better side with a probability of `confidence`. An upper
  // bound for "<=", a lower one for ">="; NaN where undefined or estimated.
  double confidence_bound = 0.0;
  // The other end, of the same confidence: beyond the limit, it shows a violation.
  double other_bound = 0.0;
  double confidence = 0.9;  // 1 - delta of this constraint

  std::size_t rows = 0;  // in the subsets of the constraint, each row once
  std::string method;    // "binomial", "two binomials", "chernoff", "union", "betting"; or "none"

  // kNotCertified: the subset whose want of rows keeps the most doubtful claim from being shown,
  // and about how many rows of it would do if every rate stayed as observed and all subsets grew
  // alike.
  SubsetRows needs;
  // Subsets without rows, and those with so few that the limit could not have been shown even if no
  // row of any subset had the unwanted event. Sums of several rates, other than gaps, list the
  // former only.
  std::vector<SubsetRows> too_small;
};

struct Certificate {
  std::vector<ConstraintVerdict> constraints;
  bool all_certified = false;  // never for an empty list of constraints
  double delta = 0.1;
  bool joint = true;
  std::vector<std::string> warnings;
};

// Throws std::invalid_argument naming the field, the value and what is allowed.
void Validate(const CertifyOptions& options);

// Groups are those of the rows; see `expected_groups` for those that are missing. Throws
// ConstraintError for constraints that `rows` cannot answer, std::invalid_argument for predictions,
// losses or weights out of range.
Certificate Certify(const Predictions& predictions, const RowData& rows,
                    const std::vector<Constraint>& constraints, const CertifyOptions& options = {});

}  // namespace bregboost
