#include "calibrate/detail/merit_tracker.h"

#include <algorithm>
#include <cmath>

namespace bregboost::detail {
namespace {

// A rate this near to its bound, or to 0, is there: as in Violation() of the compiled constraints.
constexpr double kRounding = Standing::kRounding;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MeritTracker::MeritTracker(const RateProblem& problem, const Goal& goal)
    : problem_(problem),
      goal_(goal),
      caution_(goal.kind == Goal::Kind::kMerit ? problem.caution() : 0.0),
      num_classes_(problem.rows().labels.levels.size()) {
  const CompiledConstraints& compiled = problem.compiled();
  std::vector<std::vector<Touch>> touches_of_cell(compiled.cells.cells.size());
  for (const CompiledConstraint& constraint : compiled.constraints) {
    ConstraintState state;
    state.aggregate = constraint.source.aggregate;
    state.at_most = constraint.source.relation == Relation::kAtMost;
    state.bound = constraint.source.bound;
    state.first_rate = static_cast<std::uint32_t>(rates_.size());
    state.counts = Counts(constraints_.size());
    for (const MeasuredRate& measured : constraint.rates) {
      if (!state.counts) break;
      const auto index = static_cast<std::uint32_t>(rates_.size());
      RateState rate;
      rate.constraint = static_cast<std::uint32_t>(constraints_.size());
      rate.allowance = problem.allowance(constraints_.size(), index - state.first_rate);
      if (state.aggregate == Aggregate::kRatio && !(rate.allowance > 0.0)) {
        rate.rows = problem.RowsOfRate(constraints_.size(), index - state.first_rate);
      }
      rate.value = AddForm(measured.value, index, touches_of_cell);
      rate.has_denominator = !measured.denominator.entries.empty();
      if (rate.has_denominator) {
        rate.denominator = AddForm(measured.denominator, index, touches_of_cell);
        double all = 0.0;
        for (const auto& [column, coefficient] : measured.denominator.entries) {
          all += std::abs(coefficient) *
                 compiled.cells.cells[column / compiled.slots.size()].rate_weight;
        }
        rate.least_denominator = kRounding * all;
      }
      rates_.push_back(rate);
    }
    state.end_rate = static_cast<std::uint32_t>(rates_.size());
    constraints_.push_back(state);
  }
  for (const std::vector<Touch>& touches : touches_of_cell) {
    first_touch_.push_back(static_cast<std::uint32_t>(touches_.size()));
    touches_.insert(touches_.end(), touches.begin(), touches.end());
  }
  first_touch_.push_back(static_cast<std::uint32_t>(touches_.size()));
}

bool MeritTracker::Counts(std::size_t constraint) const {
  if (constraint == problem_.num_constraints()) return true;  // the objective
  switch (goal_.kind) {
    case Goal::Kind::kMerit:
      break;
    case Goal::Kind::kExcess:
      return constraint == goal_.constraint;
    case Goal::Kind::kWorstExcess:
      return constraint != goal_.constraint;
  }
  return true;
}

MeritTracker::Form MeritTracker::AddForm(const SparseRow& row, std::uint32_t rate,
                                         std::vector<std::vector<Touch>>& touches_of_cell) {
  const CompiledConstraints& compiled = problem_.compiled();
  Form form;
  form.constant = row.constant;
  form.first_part = static_cast<std::uint32_t>(parts_.size());
  for (const auto& [column, coefficient] : row.entries) {
    auto part = form.first_part;
    while (part < parts_.size() && parts_[part].coefficient != coefficient) ++part;
    if (part == parts_.size()) {
      parts_.push_back({.coefficient = coefficient, .sum = 0.0, .rate = rate, .columns = {}});
    }
    parts_[part].columns.push_back(column);

    const std::size_t cell = column / compiled.slots.size();
    const Slot& slot = compiled.slots[column % compiled.slots.size()];
    if (slot.kind == SlotKind::kLoss) continue;  // no prediction moves it
    std::vector<Touch>& touches = touches_of_cell[cell];
    const auto known = std::find_if(touches.begin(), touches.end(),
                                    [&](const Touch& touch) { return touch.part == part; });
    std::size_t effects = effects_.size();
    if (known != touches.end()) {
      effects = known->effects;
    } else {
      touches.push_back({.part = part, .effects = static_cast<std::uint32_t>(effects)});
      effects_.resize(effects + num_classes_, 0);
    }
    for (std::size_t k = 0; k < num_classes_; ++k) {
      if (Happens(slot, compiled.cells.cells[cell], static_cast<std::int32_t>(k))) {
        ++effects_[effects + k];
      }
    }
  }
  form.end_part = static_cast<std::uint32_t>(parts_.size());
  return form;
}

double MeritTracker::mean_touches() const {
  return static_cast<double>(touches_.size()) / static_cast<double>(first_touch_.size() - 1);
}

// Evaluate() runs once for every row of a sweep: what it calls is inline.
inline double MeritTracker::ValueOf(const Form& form) const {
  double value = form.constant;
  for (std::uint32_t p = form.first_part; p < form.end_part; ++p) {
    value += parts_[p].coefficient * parts_[p].sum;
  }
  return value;
}

inline double MeritTracker::ValueOf(const RateState& rate) const {
  if (!rate.has_denominator) return ValueOf(rate.value);
  const double selected = ValueOf(rate.denominator);
  return selected <= rate.least_denominator ? kUndefined : ValueOf(rate.value) / selected;
}

void MeritTracker::Reset(std::span<const double> sums) {
  for (Part& part : parts_) {
    part.sum = 0.0;
    for (const std::uint32_t column : part.columns) part.sum += sums[column];
  }
  changed_rates_.clear();
  for (RateState& rate : rates_) {
    rate.changed = false;
    rate.now = ValueOf(rate);
  }
  undefined_ = violated_ = 0;
  total_violation_ = 0.0;
  worst_is_known_ = false;
  for (std::uint32_t c = 0; c < constraints_.size(); ++c) {
    ConstraintState& constraint = constraints_[c];
    if (!constraint.counts) continue;
    constraint.undefined_rates = 0;
    for (std::uint32_t r = constraint.first_rate; r < constraint.end_rate; ++r) {
      if (std::isnan(rates_[r].now)) ++constraint.undefined_rates;
    }
    constraint.excess = constraint.violation = 0.0;
    FindExtremes(constraint);
    SetExcess(c);
  }
  SumUp();
}

inline void MeritTracker::FindExtremes(ConstraintState& constraint) {
  constraint.highest = constraint.lowest = constraint.first_rate;
  for (std::uint32_t r = constraint.first_rate + 1; r < constraint.end_rate; ++r) {
    if (rates_[r].high() > rates_[constraint.highest].high()) constraint.highest = r;
    if (rates_[r].low() < rates_[constraint.lowest].low()) constraint.lowest = r;
  }
}

inline double MeritTracker::Combined(const ConstraintState& constraint) const {
  if (constraint.undefined_rates > 0) return kUndefined;
  const double high = rates_[constraint.highest].high(), low = rates_[constraint.lowest].low();
  switch (constraint.aggregate) {
    case Aggregate::kNone:
      return constraint.at_most ? high : low;
    case Aggregate::kMax:
      return high;
    case Aggregate::kMin:
      return low;
    case Aggregate::kGap:
      return high - low;
    case Aggregate::kRatio:
      // Undefined only where no group is selected at all; forgiven noise may exceed a small rate.
      if (rates_[constraint.highest].now <= kRounding) return kUndefined;
      return high <= kRounding ? 1.0 : low / high;
  }
  return kUndefined;
}

inline double MeritTracker::ErrorOfRatio(const ConstraintState& constraint) const {
  const double high = rates_[constraint.highest].high(), low = rates_[constraint.lowest].low();
  SampledRate lowest, highest;
  for (std::uint32_t r = constraint.first_rate; r < constraint.end_rate; ++r) {
    const SampledRate rate{.value = rates_[r].now, .rows = rates_[r].rows};
    if (rates_[r].high() >= high - kRounding) highest = LeastKnown(highest, rate);
    if (rates_[r].low() <= low + kRounding) lowest = LeastKnown(lowest, rate);
  }
  return RatioError(lowest, highest);
}

inline void MeritTracker::SetExcess(std::uint32_t index) {
  ConstraintState& constraint = constraints_[index];
  const double value = Combined(constraint);
  if (index + 1 == constraints_.size()) {
    objective_ = value;
    return;
  }
  const double before = constraint.excess;
  constraint.excess = constraint.at_most ? value - constraint.bound : constraint.bound - value;
  if (caution_ > 0.0 && constraint.aggregate == Aggregate::kRatio) {
    constraint.excess += caution_ * ErrorOfRatio(constraint);
  }
  if (std::isnan(before)) --undefined_;
  if (std::isnan(constraint.excess)) ++undefined_;
  const double violation = constraint.excess > kRounding ? constraint.excess : 0.0;
  if (constraint.violation > 0.0) --violated_;
  if (violation > 0.0) ++violated_;
  total_violation_ += violation - constraint.violation;
  constraint.violation = violation;
  ++changes_since_sum_;
  if (goal_.kind != Goal::Kind::kWorstExcess || !worst_is_known_) return;
  if (std::isnan(before) || (index == worst_ && !(constraint.excess >= before))) {
    worst_is_known_ = false;
  } else if (constraint.excess > constraints_[worst_].excess) {
    worst_ = index;
  }
}

// Afresh, now and then, so that differences of differences do not add up to something.
void MeritTracker::SumUp() {
  total_violation_ = 0.0;
  for (std::size_t c = 0; c < num_constraints(); ++c) total_violation_ += constraints_[c].violation;
  changes_since_sum_ = 0;
}

inline void MeritTracker::Refresh(std::uint32_t index) {
  RateState& rate = rates_[index];
  rate.changed = false;
  const double before = rate.now;
  rate.now = ValueOf(rate);
  ConstraintState& constraint = constraints_[rate.constraint];
  if (std::isnan(before)) --constraint.undefined_rates;
  if (std::isnan(rate.now)) ++constraint.undefined_rates;
  if (constraint.end_rate - constraint.first_rate > 1) {
    const bool leaves_high = index == constraint.highest && rate.now < before;
    const bool leaves_low = index == constraint.lowest && rate.now > before;
    if (leaves_high || leaves_low || std::isnan(before) || std::isnan(rate.now)) {
      FindExtremes(constraint);
    } else {
      if (rate.high() > rates_[constraint.highest].high()) constraint.highest = index;
      if (rate.low() < rates_[constraint.lowest].low()) constraint.lowest = index;
    }
  }
  SetExcess(rate.constraint);
}

double MeritTracker::WorstExcess() {
  if (!worst_is_known_) {
    worst_ = Goal::kNone;
    for (std::size_t c = 0; c < num_constraints(); ++c) {
      if (!constraints_[c].counts || std::isnan(constraints_[c].excess)) continue;
      if (worst_ == Goal::kNone || constraints_[c].excess > constraints_[worst_].excess) worst_ = c;
    }
    worst_is_known_ = worst_ != Goal::kNone;
  }
  return worst_is_known_ ? constraints_[worst_].excess : 0.0;
}

Standing MeritTracker::Evaluate() {
  for (const std::uint32_t rate : changed_rates_) Refresh(rate);
  changed_rates_.clear();
  constexpr std::size_t kOften = 1024;
  if (changes_since_sum_ > kOften + num_constraints()) SumUp();
  const double cost = problem_.objective().maximise ? -objective_ : objective_;
  switch (goal_.kind) {
    case Goal::Kind::kMerit:
      break;
    case Goal::Kind::kExcess: {
      const double excess = constraints_[goal_.constraint].excess;
      if (std::isnan(excess)) return {.undefined = 1, .value = 0.0, .tie_break = cost};
      return {.undefined = 0, .value = excess, .tie_break = cost};
    }
    case Goal::Kind::kWorstExcess:
      return {.undefined = undefined_, .value = WorstExcess(), .tie_break = cost};
  }
  return {.undefined = undefined_,
          .value = cost + goal_.rho * (violated_ == 0 ? 0.0 : total_violation_)};
}

}  // namespace bregboost::detail
