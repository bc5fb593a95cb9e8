#include "bregboost/problem/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bregboost {
namespace {

// Splits every id by one more column: rows keep the same id only if their codes agree as well. New
// ids are dense and ordered by (old id, code), so the numbering does not depend on the row order.
void RefineBy(const std::vector<std::int32_t>& codes, std::vector<std::uint32_t>& ids) {
  if (ids.empty()) return;
  const auto code = [&](std::size_t i) { return static_cast<std::uint32_t>(codes[i]); };
  std::uint64_t num_ids = 0, num_codes = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    num_ids = std::max<std::uint64_t>(num_ids, ids[i] + 1ULL);
    num_codes = std::max<std::uint64_t>(num_codes, code(i) + 1ULL);
  }
  const auto pair = [&](std::size_t i) { return ids[i] * num_codes + code(i); };
  // A table of all pairs, unless it would dwarf the rows; then those that occur, sorted.
  constexpr std::uint64_t kSmall = 1024;
  if (num_ids * num_codes <= kSmall + ids.size()) {
    std::vector<std::uint32_t> new_id(num_ids * num_codes, 0);
    for (std::size_t i = 0; i < ids.size(); ++i) new_id[pair(i)] = 1;
    std::exclusive_scan(new_id.begin(), new_id.end(), new_id.begin(), 0U);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = new_id[pair(i)];
    return;
  }
  std::vector<std::uint64_t> pairs(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) pairs[i] = pair(i);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = std::lower_bound(pairs.begin(), pairs.end(), pair(i));
    ids[i] = static_cast<std::uint32_t>(place - pairs.begin());
  }
}

void AddRow(const RowData& rows, std::size_t row, Cell& cell) {
  const double weight = rows.rate_weight(row);
  const double metric = rows.metric_weight(row);
  cell.rate_weight += weight;
  if (weight > 0.0) {
    cell.squared_rate_weight += weight * weight / metric;
    cell.max_weight_ratio = std::max(cell.max_weight_ratio, weight / metric);
    ++cell.rows;
  }
}

// What tells cells apart, in the order in which they are sorted.
using Tuple = std::vector<std::int32_t>;

Tuple TupleOf(const Cell& cell) {
  Tuple tuple = {cell.label, cell.baseline};
  tuple.insert(tuple.end(), cell.groups.begin(), cell.groups.end());
  return tuple;
}

// The tuples of all workers' cells.
std::vector<Tuple> GatherTuples(const Workers& workers, const std::vector<Cell>& cells,
                                std::size_t num_groups) {
  std::string mine;
  for (const Cell& cell : cells) {
    for (const std::int32_t code : TupleOf(cell)) mine += fmt::format("{} ", code);
  }
  std::set<Tuple> tuples;
  for (const std::string& text : workers.Gather(mine)) {
    std::istringstream codes(text);
    Tuple tuple;
    for (std::int32_t code = 0; codes >> code;) {
      tuple.push_back(code);
      if (tuple.size() < num_groups + 2) continue;
      tuples.insert(tuple);
      tuple.clear();
    }
  }
  return {tuples.begin(), tuples.end()};
}

// The cells of all workers take the place of those of the rows that are here, weights and all.
void ShareCells(const Workers& workers, CellTable& table) {
  const std::vector<Tuple> tuples = GatherTuples(workers, table.cells, table.group_columns.size());
  constexpr std::size_t kSums = 3;
  std::vector<double> sums(kSums * tuples.size() + 1, 0.0), ratios(tuples.size(), 0.0);
  std::vector<std::uint32_t> new_id;
  for (const Cell& cell : table.cells) {
    const auto place = std::lower_bound(tuples.begin(), tuples.end(), TupleOf(cell));
    const auto id = static_cast<std::size_t>(place - tuples.begin());
    new_id.push_back(static_cast<std::uint32_t>(id));
    sums[kSums * id] = cell.rate_weight;
    sums[kSums * id + 1] = cell.squared_rate_weight;
    sums[kSums * id + 2] = static_cast<double>(cell.rows);
    ratios[id] = cell.max_weight_ratio;
  }
  sums.back() = table.metric_weight;
  workers.Sum(sums);
  workers.Max(ratios);
  table.metric_weight = sums.back();
  table.cells.assign(tuples.size(), {});
  for (std::size_t c = 0; c < tuples.size(); ++c) {
    table.cells[c] = {.label = tuples[c][0],
                      .baseline = tuples[c][1],
                      .groups = {tuples[c].begin() + 2, tuples[c].end()},
                      .rate_weight = sums[kSums * c],
                      .squared_rate_weight = sums[kSums * c + 1],
                      .max_weight_ratio = ratios[c],
                      .rows = static_cast<std::size_t>(sums[kSums * c + 2])};
  }
  for (std::uint32_t& id : table.cell_of_row) id = new_id[id];
}

}  // namespace

const CategoricalColumn* FindGroup(const RowData& rows, const std::string& name) {
  const auto found = std::find_if(rows.groups.begin(), rows.groups.end(),
                                  [&](const CategoricalColumn& c) { return c.name == name; });
  return found == rows.groups.end() ? nullptr : &*found;
}

CellTable MakeCells(const RowData& rows, const std::vector<std::string>& group_columns,
                    bool with_baseline) {
  CellTable table{.group_columns = group_columns,
                  .cells = {},
                  .cell_of_row = std::vector<std::uint32_t>(rows.num_rows(), 0),
                  .metric_weight = 0.0};
  std::vector<const CategoricalColumn*> columns;
  for (const std::string& name : group_columns) {
    columns.push_back(FindGroup(rows, name));
    if (columns.back() == nullptr) throw std::invalid_argument("no group column '" + name + "'");
  }
  const bool has_label = rows.task() != Task::kRegression;
  if (has_label) RefineBy(rows.labels.codes, table.cell_of_row);
  if (with_baseline) RefineBy(rows.baseline, table.cell_of_row);
  for (const CategoricalColumn* column : columns) RefineBy(column->codes, table.cell_of_row);

  if (rows.num_rows() > 0) {  // a worker may have none
    const auto last = std::max_element(table.cell_of_row.begin(), table.cell_of_row.end());
    table.cells.resize(static_cast<std::size_t>(*last) + 1);
  }
  std::vector<bool> named(table.cells.size(), false);
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    Cell& cell = table.cells[table.cell_of_row[i]];
    if (!named[table.cell_of_row[i]]) {
      named[table.cell_of_row[i]] = true;
      if (has_label) cell.label = rows.labels.codes[i];
      if (with_baseline) cell.baseline = rows.baseline[i];
      for (const CategoricalColumn* column : columns) cell.groups.push_back(column->codes[i]);
    }
    AddRow(rows, i, cell);
    table.metric_weight += rows.metric_weight(i);
  }
  if (rows.workers != nullptr) ShareCells(*rows.workers, table);
  return table;
}

}  // namespace bregboost
