#include "bregboost/certify/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>

#include "bregboost/problem/compiled_constraints.h"
#include "certify/detail/certify_rows.h"
#include "certify/detail/claim_bounds.h"
#include "certify/detail/rate_samples.h"

namespace bregboost {
namespace {

using detail::Confidence;
using detail::RateSum;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Certifies one constraint: takes it apart into claims, bounds them, and puts the verdict together.
class ConstraintCertifier {
 public:
  // `expected` is the number of groups that there should be, if known.
  ConstraintCertifier(const CompiledConstraint& constraint, const Confidence& confidence,
                      detail::RateSampler& sampler, std::optional<std::size_t> expected)
      : source_(constraint.source), confidence_(confidence) {
    std::vector<std::vector<Condition>> groups = {{}};
    if (source_.aggregate != Aggregate::kNone) groups = sampler.Groups(source_.by);
    for (const std::vector<Condition>& group : groups) {
      groups_.push_back(sampler.Sum(source_.expression, group));
    }
    if (!expected) {
      empty_levels_ = sampler.EmptyLevels(source_.by);
    } else if (source_.aggregate != Aggregate::kNone && groups_.size() < *expected) {
      empty_levels_ = {fmt::format("{} of the {} groups", *expected - groups_.size(), *expected)};
    }
    const Measurement measured = Measure(constraint, sampler.event_sums());
    result_.text = measured.text;
    result_.value = empty_levels_.empty() ? measured.value : kUndefined;
    result_.bound = source_.bound;
    result_.confidence = 1.0 - confidence.delta;
    result_.rows = sampler.RowsOf(groups_);
    result_.confidence_bound = result_.other_bound = kUndefined;
  }

  ConstraintVerdict Estimate() {
    result_.verdict = Verdict::kEstimated;
    result_.method = "none";
    return result_;
  }

  // Whether Certify() would say kCertified.
  bool Passes() {
    if (std::isnan(result_.value)) return false;
    if (source_.aggregate == Aggregate::kRatio) {
      BoundRatio();
      return result_.confidence_bound >= source_.bound;
    }
    MakeClaims();
    return AllShown();
  }

  ConstraintVerdict Certify() {
    if (source_.aggregate != Aggregate::kRatio) MakeClaims();
    ListTooSmall();
    if (std::isnan(result_.value)) {  // a subset without rows, or a ratio of 0 / 0
      result_.method = "none";
      if (!result_.too_small.empty()) result_.needs = result_.too_small.front();
      return result_;
    }
    if (source_.aggregate == Aggregate::kRatio) {
      BoundRatio();
    } else {
      BoundClaims();
    }
    Decide();
    return result_;
  }

 private:
  double sign() const { return source_.relation == Relation::kAtMost ? 1.0 : -1.0; }
  double limit() const { return sign() * source_.bound; }

  bool IsShown(const RateSum& claim) const {
    return detail::IsShownBelow(claim, limit(), confidence_);
  }
  bool AllShown() const {
    return std::all_of(claims_.begin(), claims_.end(),
                       [&](const RateSum& claim) { return IsShown(claim); });
  }

  void MakeClaims() {
    if (source_.aggregate != Aggregate::kGap) {
      for (const RateSum& group : groups_) claims_.push_back(detail::Scaled(sign(), group));
      return;
    }
    for (std::size_t a = 0; a < groups_.size(); ++a) {
      for (std::size_t b = 0; b < groups_.size(); ++b) {
        if (a != b) claims_.push_back(detail::Difference(groups_[a], groups_[b]));
      }
    }
  }

  void BoundClaims() {
    std::vector<double> values;
    for (const RateSum& claim : claims_) values.push_back(detail::ValueOf(claim));
    std::vector<std::size_t> order(claims_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // The most doubtful first: the bounds of the others need only be shown to be smaller.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return values[i] > values[j]; });
    std::size_t worst = order.front();
    double upper = detail::UpperBound(claims_[worst], confidence_);
    for (const std::size_t i : std::span(order).subspan(1)) {
      if (detail::IsShownBelow(claims_[i], upper, confidence_)) continue;
      const double other = detail::UpperBound(claims_[i], confidence_);
      if (other <= upper) continue;
      upper = other;
      worst = i;
    }
    // Bounds are found up to a tolerance, on the safe side; the test at the limit needs none.
    if (upper > limit() && IsShown(claims_[worst]) && AllShown()) upper = limit();
    // A violation is shown if any claim is shown to be false, so these share delta.
    const Confidence shared{.delta = confidence_.delta / static_cast<double>(claims_.size()),
                            .seed = confidence_.seed};
    const double lower = detail::LowerBound(claims_[order.front()], shared);
    result_.confidence_bound = sign() * upper;
    result_.other_bound = sign() * lower;
    if (source_.aggregate == Aggregate::kGap) result_.other_bound = std::fmax(0.0, lower);
    result_.method = detail::MethodOf(claims_[worst], confidence_.delta);
    result_.needs = detail::NeedsOf(claims_[worst], limit(), upper, confidence_.delta);
  }

  // The ratio is at least r if r_b / r_a is, for every ordered pair.
  void BoundRatio() {
    const auto count = static_cast<double>(groups_.size() * (groups_.size() - 1));
    const Confidence shared{.delta = confidence_.delta / count, .seed = confidence_.seed};
    const double target = source_.bound > 0.0 ? source_.bound : 1.0;
    double least = 1.0, smallest_value = std::numeric_limits<double>::infinity();
    const RateSum* numerator = &groups_[0];
    const RateSum* denominator = &groups_[1];
    for (const RateSum& top : groups_) {
      for (const RateSum& bottom : groups_) {
        if (&top == &bottom) continue;
        const double lower = detail::RatioLowerBound(top, bottom, target, confidence_);
        least = std::min(least, lower);
        const double value = detail::ValueOf(top) / detail::ValueOf(bottom);
        if (value < smallest_value) {
          smallest_value = value;
          numerator = &top;
          denominator = &bottom;
        }
      }
    }
    result_.confidence_bound = least;
    result_.method = detail::RatioMethodOf(groups_[0], groups_[1]);
    const double inverse = detail::RatioLowerBound(*denominator, *numerator, 1.0 / target, shared);
    result_.other_bound = inverse > 1.0 ? 1.0 / inverse : 1.0;
    NeedRowsForRatio(*numerator, *denominator, smallest_value, least);
  }

  // The same rule as for sums, on the ratio's own scale; the scarcer group is the one to name.
  void NeedRowsForRatio(const RateSum& numerator, const RateSum& denominator, double value,
                        double lower) {
    const RateSum& scarce =
        numerator.terms.front().second->rows < denominator.terms.front().second->rows ? numerator
                                                                                      : denominator;
    const detail::RateSample& sample = *scarce.terms.front().second;
    result_.needs = {.subset = sample.subset, .rows = sample.rows, .rows_needed = std::nullopt};
    if (!(value > source_.bound)) return;
    const double factor = (value - lower) / (value - source_.bound);
    const double rows = std::ceil(static_cast<double>(sample.rows) * factor * factor);
    constexpr double kMostRows = 1e12;
    if (rows <= kMostRows) result_.needs.rows_needed = static_cast<std::int64_t>(rows);
  }

  void ListTooSmall() {
    for (const std::string& level : empty_levels_) {
      result_.too_small.push_back({.subset = level, .rows = 0, .rows_needed = std::nullopt});
    }
    std::map<std::string, SubsetRows> found;
    const auto add = [&](const detail::RateSample& sample, std::optional<std::int64_t> needed) {
      found[sample.subset] = {.subset = sample.subset, .rows = sample.rows, .rows_needed = needed};
    };
    const auto rows_of = [](const detail::RateSample& sample) {
      return static_cast<std::int64_t>(sample.rows);
    };
    for (const RateSum& group : groups_) {
      for (const auto& [coefficient, sample] : group.terms) {
        if (sample->rows == 0) add(*sample, std::nullopt);
      }
    }
    for (const RateSum& claim : claims_) {
      if (const auto ceiling = detail::CeilingOf(claim, limit())) {
        const detail::RateSample& sample = *claim.terms.front().second;
        const auto needed = detail::RowsAtBest(ceiling->ceiling, confidence_.delta);
        if (!needed || *needed > rows_of(sample)) add(sample, needed);
      } else if (source_.aggregate == Aggregate::kGap) {
        for (const auto& [coefficient, sample] : claim.terms) {
          if (!sample->is_binomial) continue;
          const auto needed =
              detail::RowsAtBest(limit() / std::abs(coefficient), confidence_.delta);
          if (!needed || *needed > rows_of(*sample)) add(*sample, needed);
        }
      }
    }
    for (const auto& [name, subset] : found) result_.too_small.push_back(subset);
  }

  void Decide() {
    const bool at_most = source_.relation == Relation::kAtMost;
    const double bound = result_.confidence_bound, other = result_.other_bound;
    const bool kept = at_most ? bound <= source_.bound : bound >= source_.bound;
    const bool broken = at_most ? other > source_.bound : other < source_.bound;
    result_.verdict = kept     ? Verdict::kCertified
                      : broken ? Verdict::kViolated
                               : Verdict::kNotCertified;
    if (result_.verdict != Verdict::kNotCertified) result_.needs = {};
  }

  const Constraint& source_;
  Confidence confidence_;
  std::vector<RateSum> groups_;  // the expression in each group; one without groups
  std::vector<std::string> empty_levels_;
  std::vector<RateSum> claims_;  // each at most limit()
  ConstraintVerdict result_;
};

}  // namespace

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCertified:
      return "certified";
    case Verdict::kEstimated:
      return "estimated";
    case Verdict::kNotCertified:
      return "not certified";
    case Verdict::kViolated:
      break;
  }
  return "violated";
}

void Validate(const CertifyOptions& options) {
  if (!(options.delta > 0.0 && options.delta <= 0.5)) {
    throw std::invalid_argument(
        fmt::format("delta: {}; allowed: above 0, at most 0.5", options.delta));
  }
  if (options.max_weight && !(*options.max_weight > 0.0 && std::isfinite(*options.max_weight))) {
    throw std::invalid_argument(
        fmt::format("max_weight: {}; allowed: a finite number above 0", *options.max_weight));
  }
  if (!options.loss_range) return;
  const auto [low, high] = *options.loss_range;
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    throw std::invalid_argument(fmt::format(
        "loss_range: {} to {}; allowed: finite ends, the first below the second", low, high));
  }
}

namespace {

std::optional<std::size_t> ExpectedGroups(const CertifyOptions& options, std::size_t constraint) {
  if (options.expected_groups.empty()) return std::nullopt;
  return options.expected_groups.at(constraint);
}

// Combinations of levels that have no rows say nothing about whether they exist.
std::vector<std::string> MissingCombinations(const CompiledConstraints& compiled,
                                             const RowData& rows) {
  std::vector<std::string> warnings;
  for (const CompiledConstraint& constraint : compiled.constraints) {
    const std::vector<Column>& by = constraint.source.by;
    std::size_t combinations = 1;
    for (const Column& column : by) {
      combinations *= (column.is_label ? rows.labels : *FindGroup(rows, column.name)).levels.size();
    }
    if (by.size() < 2 || constraint.rates.size() == combinations) continue;
    warnings.push_back(
        fmt::format("'{}': {} of {} combinations of its columns have rows here; nothing is claimed "
                    "about others",
                    ToText(constraint.source), constraint.rates.size(), combinations));
  }
  return warnings;
}

}  // namespace

namespace detail {

RowsCertifier::RowsCertifier(const RowData& rows, const std::vector<Constraint>& constraints,
                             const CertifyOptions& options)
    : rows_(rows), options_(options) {
  Validate(options);
  if (!options.expected_groups.empty() && options.expected_groups.size() != constraints.size()) {
    throw std::invalid_argument(
        fmt::format("expected_groups: {} values; allowed: one per constraint, {}",
                    options.expected_groups.size(), constraints.size()));
  }
  compiled_ = Compile(constraints, rows, EmptySubsetPolicy::kUndefined);
}

Certificate RowsCertifier::Certify(const Predictions& predictions) const {
  const std::vector<CompiledConstraint>& constraints = compiled_.constraints;
  RateSampler sampler(predictions, rows_, compiled_, options_);
  const auto count = static_cast<double>(std::max<std::size_t>(constraints.size(), 1));
  const Confidence confidence{.delta = options_.joint ? options_.delta : options_.delta / count,
                              .seed = options_.seed};
  Certificate certificate{.delta = options_.delta, .joint = options_.joint};
  certificate.all_certified = !constraints.empty();
  if (options_.expected_groups.empty()) {
    certificate.warnings = MissingCombinations(compiled_, rows_);
  }
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    ConstraintCertifier certifier(constraints[c], confidence, sampler, ExpectedGroups(options_, c));
    certificate.constraints.push_back(options_.rows_are_separate ? certifier.Certify()
                                                                 : certifier.Estimate());
    if (certificate.constraints.back().verdict != Verdict::kCertified) {
      certificate.all_certified = false;
    }
  }
  return certificate;
}

bool RowsCertifier::Passes(const Predictions& predictions) const {
  RateSampler sampler(predictions, rows_, compiled_, options_);
  const Confidence confidence{.delta = options_.delta, .seed = options_.seed};
  for (std::size_t c = 0; c < compiled_.constraints.size(); ++c) {
    const std::optional<std::size_t> expected = ExpectedGroups(options_, c);
    if (!ConstraintCertifier(compiled_.constraints[c], confidence, sampler, expected).Passes()) {
      return false;
    }
  }
  return true;
}

Certificate CertifyRows(const Predictions& predictions, const RowData& rows,
                        const std::vector<Constraint>& constraints, const CertifyOptions& options) {
  return RowsCertifier(rows, constraints, options).Certify(predictions);
}

bool RowsPass(const Predictions& predictions, const RowData& rows,
              const std::vector<Constraint>& constraints, const CertifyOptions& options) {
  return RowsCertifier(rows, constraints, options).Passes(predictions);
}

std::vector<std::string> RememberUse(const RowData& rows, const CertifyOptions& options) {
  if (options.log == nullptr || !options.rows_are_separate) return {};
  const std::uint64_t fingerprint = Fingerprint(rows, options.row_digests);
  std::vector<std::string> warnings;
  if (options.log->Contains(fingerprint)) {
    warnings.push_back(
        fmt::format("these {} rows (fingerprint {:016x}) have certified before: unless that was "
                    "the same model, the confidence is less than stated",
                    rows.num_rows(), fingerprint));
  }
  options.log->Remember(fingerprint);
  return warnings;
}

}  // namespace detail

Certificate Certify(const Predictions& predictions, const RowData& rows,
                    const std::vector<Constraint>& constraints, const CertifyOptions& options) {
  Certificate certificate = detail::CertifyRows(predictions, rows, constraints, options);
  for (std::string& warning : detail::RememberUse(rows, options)) {
    certificate.warnings.push_back(std::move(warning));
  }
  return certificate;
}

}  // namespace bregboost
