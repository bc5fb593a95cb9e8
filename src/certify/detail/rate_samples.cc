#include "certify/detail/rate_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

namespace bregboost::detail {
namespace {

bool FixesLabel(const std::vector<Condition>& conditions) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [](const Condition& condition) { return condition.column.is_label; });
}

std::string SubsetText(const std::vector<Condition>& conditions) {
  return conditions.empty() ? "all rows" : GroupText(conditions);
}

void AddTerm(double coefficient, const RateSample* sample, RateSum& sum) {
  const auto same = std::find_if(sum.terms.begin(), sum.terms.end(),
                                 [&](const auto& term) { return term.second == sample; });
  if (same == sum.terms.end()) {
    sum.terms.emplace_back(coefficient, sample);
  } else {
    same->first += coefficient;
  }
}

bool Uses(const CompiledConstraints& compiled, bool loss) {
  for (const CompiledConstraint& constraint : compiled.constraints) {
    for (const Term& term : constraint.source.expression.terms) {
      if ((term.rate.kind == RateKind::kLoss) == loss) return true;
    }
  }
  return false;
}

void CheckClasses(const Predictions& predictions, const RowData& rows, bool needed) {
  if (!needed && predictions.classes.empty()) return;
  if (predictions.classes.size() != rows.num_rows()) {
    throw std::invalid_argument(
        fmt::format("predictions.classes: {} codes; allowed: one for each of the {} rows",
                    predictions.classes.size(), rows.num_rows()));
  }
  const auto levels = static_cast<std::int32_t>(rows.labels.levels.size());
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    if (predictions.classes[i] >= 0 && predictions.classes[i] < levels) continue;
    throw std::invalid_argument(
        fmt::format("predictions.classes: code {} in row {}; allowed: 0 to "
                    "{}",
                    predictions.classes[i], i, levels - 1));
  }
}

void CheckLosses(const Predictions& predictions, const RowData& rows,
                 const CertifyOptions& options) {
  if (predictions.losses.size() != rows.num_rows()) {
    throw std::invalid_argument(
        fmt::format("predictions.losses: {} numbers; allowed: one for each of the {} rows",
                    predictions.losses.size(), rows.num_rows()));
  }
  if (!options.rows_are_separate) return;  // only claims need a range
  if (!options.loss_range) {
    throw std::invalid_argument(
        "loss_range: unset; allowed: the smallest and the largest loss that any row can have, "
        "since no number of rows bounds the mean of a loss without a limit");
  }
  const auto [low, high] = *options.loss_range;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    if (predictions.losses[i] >= low && predictions.losses[i] <= high) continue;
    throw std::invalid_argument(
        fmt::format("predictions.losses: {} in row {}; allowed: {} to {} "
                    "(loss_range)",
                    predictions.losses[i], i, low, high));
  }
}

void CheckWeights(const RowData& rows, const std::optional<double>& max_weight) {
  if (!max_weight) return;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    if (rows.rate_weight(i) <= *max_weight) continue;
    throw std::invalid_argument(fmt::format("weight {} in row {}; allowed: at most {} (max_weight)",
                                            rows.rate_weight(i), i, *max_weight));
  }
}

}  // namespace

RateSum Scaled(double factor, RateSum sum) {
  for (auto& [coefficient, sample] : sum.terms) coefficient *= factor;
  sum.constant *= factor;
  return sum;
}

RateSum Difference(const RateSum& left, const RateSum& right) {
  RateSum sum = left;
  sum.constant -= right.constant;
  for (const auto& [coefficient, sample] : right.terms) AddTerm(-coefficient, sample, sum);
  std::erase_if(sum.terms, [](const auto& term) { return term.first == 0.0; });
  return sum;
}

RateSampler::RateSampler(const Predictions& predictions, const RowData& rows,
                         const CompiledConstraints& compiled, const CertifyOptions& options)
    : predictions_(predictions),
      rows_(rows),
      compiled_(compiled),
      options_(options),
      compiler_(rows, compiled.cells, EmptySubsetPolicy::kUndefined),
      cells_(compiled.cells.cells.size()),
      event_counts_(compiled.num_sums(), 0),
      event_sums_(compiled.num_sums(), 0.0) {
  CheckClasses(predictions, rows, /*needed=*/Uses(compiled, /*loss=*/false));
  if (Uses(compiled, /*loss=*/true)) CheckLosses(predictions, rows, options);
  CheckWeights(rows, options.max_weight);
  Tally();
}

void RateSampler::Tally() {
  const std::size_t slots = compiled_.slots.size();
  for (std::size_t i = 0; i < rows_.num_rows(); ++i) {
    const double weight = rows_.rate_weight(i);
    if (weight <= 0.0) continue;
    const std::size_t cell = compiled_.cells.cell_of_row[i];
    CellTally& tally = cells_[cell];
    tally.smallest_weight = tally.rows == 0 ? weight : std::min(tally.smallest_weight, weight);
    tally.largest_weight = std::max(tally.largest_weight, weight);
    ++tally.rows;
    for (std::size_t s = 0; s < slots; ++s) {
      const double event = EventOf(i, compiled_.slots[s]);
      event_sums_[cell * slots + s] += weight * event;
      if (event == 1.0) ++event_counts_[cell * slots + s];
    }
  }
  if (rows_.workers != nullptr) ShareTally();
}

void RateSampler::ShareTally() {
  std::vector<double> sums, ends;
  for (const CellTally& tally : cells_) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    sums.push_back(static_cast<double>(tally.rows));
    ends.push_back(tally.rows == 0 ? -kInfinity : -tally.smallest_weight);
    ends.push_back(tally.largest_weight);
  }
  for (const std::int64_t count : event_counts_) sums.push_back(static_cast<double>(count));
  sums.insert(sums.end(), event_sums_.begin(), event_sums_.end());
  rows_.workers->Sum(sums);
  rows_.workers->Max(ends);
  const double* sum = sums.data();
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    cells_[c] = {.rows = static_cast<std::size_t>(*sum++),
                 .smallest_weight = -ends[2 * c],
                 .largest_weight = ends[2 * c + 1]};
  }
  for (std::int64_t& count : event_counts_) count = static_cast<std::int64_t>(*sum++);
  for (double& total : event_sums_) total = *sum++;
}

Condition RateSampler::LabelIs(std::int32_t code) const {
  return {.column = Column::Label(), .value = rows_.labels.levels[static_cast<std::size_t>(code)]};
}

RateSum RateSampler::Sum(const RateExpression& expression, const std::vector<Condition>& group) {
  RateSum sum{.terms = {}, .constant = expression.constant};
  for (const Term& term : expression.terms) {
    Rate rate = term.rate;
    rate.where.insert(rate.where.end(), group.begin(), group.end());
    AddRate(term.coefficient, rate, sum);
  }
  std::erase_if(sum.terms, [](const auto& term) { return term.first == 0.0; });
  return sum;
}

// Composite rates become errors of the classes they are about.
void RateSampler::AddRate(double coefficient, const Rate& rate, RateSum& sum) {
  const auto add_error = [&](double factor, std::optional<std::int32_t> label) {
    Rate error{.kind = RateKind::kError, .where = rate.where, .predicted = std::nullopt};
    if (label) error.where.push_back(LabelIs(*label));
    AddTerm(factor, Sample(error), sum);
  };
  const auto add_right = [&](std::optional<std::int32_t> label) {
    sum.constant += coefficient;
    add_error(-coefficient, label);
  };
  const std::int32_t positive = rows_.positive_class, negative = 1 - positive;
  switch (rate.kind) {
    case RateKind::kError:
    case RateKind::kLoss:
    case RateKind::kDisagreement:
    case RateKind::kSelectionRate:
      return AddTerm(coefficient, Sample(rate), sum);
    case RateKind::kAccuracy:
      return add_right(std::nullopt);
    case RateKind::kBalancedError: {
      const auto classes = static_cast<std::int32_t>(rows_.labels.levels.size());
      for (std::int32_t k = 0; k < classes; ++k) add_error(coefficient / classes, k);
      return;
    }
    case RateKind::kRecall:
      return FixesLabel(rate.where) ? add_right(std::nullopt) : add_right(positive);
    case RateKind::kFnr:
      return add_error(coefficient, positive);
    case RateKind::kFpr:
      return add_error(coefficient, negative);
    case RateKind::kTpr:
      return add_right(positive);
    case RateKind::kTnr:
      return add_right(negative);
    case RateKind::kPrecision:
      sum.constant += coefficient;
      return AddTerm(-coefficient, PrecisionErrors(rate), sum);
  }
}

double RateSampler::EventOf(std::size_t row, const Slot& slot) const {
  if (slot.kind == SlotKind::kLoss) {
    return predictions_.losses.empty() ? 0.0 : predictions_.losses[row];
  }
  if (predictions_.classes.empty()) return 0.0;
  const std::int32_t predicted = predictions_.classes[row];
  const Cell& cell = compiled_.cells.cells[compiled_.cells.cell_of_row[row]];
  switch (slot.kind) {
    case SlotKind::kMissClass:
      return predicted != slot.class_code ? 1.0 : 0.0;
    case SlotKind::kMissLabel:
      return predicted != cell.label ? 1.0 : 0.0;
    case SlotKind::kMissBaseline:
      return predicted != cell.baseline ? 1.0 : 0.0;
    case SlotKind::kSelected:
      return predicted == slot.class_code ? 1.0 : 0.0;
    case SlotKind::kLoss:
      break;
  }
  return 0.0;
}

// If a weight beyond those seen is possible, equal weights of the sample prove nothing about the
// rows to come, so they count as weights.
bool RateSampler::IsWeighted(const RateSample& sample) const {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0.0;
  for (const std::uint32_t cell : sample.cells) {
    if (cells_[cell].rows == 0) continue;
    smallest = std::min(smallest, cells_[cell].smallest_weight);
    largest = std::max(largest, cells_[cell].largest_weight);
  }
  if (options_.max_weight) return smallest != *options_.max_weight;
  if (smallest == largest) return false;
  throw std::invalid_argument(fmt::format(
      "max_weight: unset; allowed: the largest weight that any row can have, since the rows with "
      "{} differ in weight",
      sample.subset));
}

template <class ValueOf>
void RateSampler::FillValues(bool is_loss, const ValueOf& value_of, RateSample& sample) const {
  if (sample.rows == 0 || !options_.rows_are_separate) return;  // nothing will be bounded
  const bool weighted = IsWeighted(sample);
  sample.is_binomial = !weighted && !is_loss;
  if (sample.is_binomial) return;
  if (rows_.workers != nullptr) {
    throw std::invalid_argument(
        fmt::format("certification rows: {} over rows that workers have between them; allowed "
                    "there: rates of rows that weigh the same",
                    is_loss ? "a loss" : "weights"));
  }
  if (is_loss) {
    sample.low = options_.loss_range->low;
    sample.high = options_.loss_range->high;
  }
  if (weighted) sample.max_weight = *options_.max_weight;
  for (std::size_t i = 0; i < rows_.num_rows(); ++i) {
    if (rows_.rate_weight(i) <= 0.0) continue;
    const std::optional<double> value = value_of(i);
    if (!value) continue;
    sample.values.push_back(*value);
    if (weighted) sample.weights.push_back(rows_.rate_weight(i));
  }
}

const RateSample* RateSampler::Sample(const Rate& rate) {
  const SparseRow row = compiler_.Compile(rate, /*extra=*/{}, SubsetText(rate.where));
  const std::size_t slots = compiled_.slots.size();
  std::vector<std::uint32_t> columns;
  for (const auto& [column, coefficient] : row.entries) columns.push_back(column);
  const std::string subset = SubsetText(rate.where);
  const auto [place, is_new] =
      samples_.try_emplace({columns, columns.empty() ? subset : ""}, RateSample{.subset = subset});
  RateSample& sample = place->second;
  if (!is_new) return &sample;
  std::vector<int> slot_of_cell(cells_.size(), -1);
  for (const std::uint32_t column : columns) {
    const auto cell = static_cast<std::uint32_t>(column / slots);
    sample.cells.push_back(cell);
    sample.rows += cells_[cell].rows;
    sample.events += event_counts_[column];
    slot_of_cell[cell] = static_cast<int>(column % slots);
  }
  const auto value_of = [&](std::size_t i) -> std::optional<double> {
    const int slot = slot_of_cell[compiled_.cells.cell_of_row[i]];
    if (slot < 0) return std::nullopt;
    return EventOf(i, compiled_.slots[static_cast<std::size_t>(slot)]);
  };
  FillValues(rate.kind == RateKind::kLoss, value_of, sample);
  return &sample;
}

std::uint32_t RateSampler::SelectedColumn(std::int32_t class_code, std::uint32_t cell) const {
  // Binary: selecting one class is missing the other.
  const Slot selected = rows_.task() == Task::kBinary
                            ? Slot{.kind = SlotKind::kMissClass, .class_code = 1 - class_code}
                            : Slot{.kind = SlotKind::kSelected, .class_code = class_code};
  const auto slot = std::find(compiled_.slots.begin(), compiled_.slots.end(), selected);
  return cell * static_cast<std::uint32_t>(compiled_.slots.size()) +
         static_cast<std::uint32_t>(slot - compiled_.slots.begin());
}

// The share of wrong ones among the rows that the model selects. Given which rows those are, the
// errors are independent, so their number is a binomial count as well.
const RateSample* RateSampler::PrecisionErrors(const Rate& rate) {
  const std::string predicted = rate.predicted.value_or(LabelIs(rows_.positive_class).value);
  const auto& levels = rows_.labels.levels;
  const auto code = static_cast<std::int32_t>(std::find(levels.begin(), levels.end(), predicted) -
                                              levels.begin());
  const SparseRow row = compiler_.Compile(
      Rate{.kind = RateKind::kError, .where = rate.where, .predicted = std::nullopt}, /*extra=*/{},
      SubsetText(rate.where));
  const std::string subset =
      "predicted=" + predicted + (rate.where.empty() ? "" : ", " + GroupText(rate.where));
  const auto [place, is_new] =
      samples_.try_emplace({std::vector<std::uint32_t>(), subset},
                           RateSample{.subset = subset, .is_part_of_cells = true});
  RateSample& sample = place->second;
  if (!is_new) return &sample;
  std::vector<bool> inside(cells_.size(), false);
  for (const auto& [column, coefficient] : row.entries) {
    const auto cell = static_cast<std::uint32_t>(column / compiled_.slots.size());
    sample.cells.push_back(cell);
    inside[cell] = true;
    const std::int64_t selected = event_counts_[SelectedColumn(code, cell)];
    sample.rows += static_cast<std::size_t>(selected);
    if (compiled_.cells.cells[cell].label != code) sample.events += selected;
  }
  const auto value_of = [&](std::size_t i) -> std::optional<double> {
    const bool counts = inside[compiled_.cells.cell_of_row[i]] && predictions_.classes[i] == code;
    if (!counts) return std::nullopt;
    return rows_.labels.codes[i] != code ? 1.0 : 0.0;
  };
  FillValues(/*is_loss=*/false, value_of, sample);
  return &sample;
}

std::vector<std::string> RateSampler::EmptyLevels(const std::vector<Column>& by) const {
  std::vector<std::string> empty;
  for (const Column& column : by) {
    const CategoricalColumn& values =
        column.is_label ? rows_.labels : *FindGroup(rows_, column.name);
    const auto& names = compiled_.cells.group_columns;
    const auto part = static_cast<std::size_t>(std::find(names.begin(), names.end(), column.name) -
                                               names.begin());
    std::vector<bool> occurs(values.levels.size(), false);
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const Cell& cell = compiled_.cells.cells[c];
      const std::int32_t code = column.is_label ? cell.label : cell.groups[part];
      if (cells_[c].rows > 0) occurs[static_cast<std::size_t>(code)] = true;
    }
    for (std::size_t k = 0; k < occurs.size(); ++k) {
      if (!occurs[k]) empty.push_back(GroupText({{.column = column, .value = values.levels[k]}}));
    }
  }
  return empty;
}

std::size_t RateSampler::RowsOf(const std::vector<RateSum>& sums) const {
  std::set<std::uint32_t> cells;
  std::size_t selected = 0;  // precision is about part of a cell's rows, and stands alone
  for (const RateSum& sum : sums) {
    for (const auto& [coefficient, sample] : sum.terms) {
      if (sample->is_part_of_cells) {
        selected += sample->rows;
      } else {
        cells.insert(sample->cells.begin(), sample->cells.end());
      }
    }
  }
  std::size_t rows = selected;
  for (const std::uint32_t cell : cells) rows += cells_[cell].rows;
  return rows;
}

}  // namespace bregboost::detail
