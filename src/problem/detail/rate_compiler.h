// One rate -> one sparse row over cell sums. Private to the compiler of constraints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bregboost/problem/compiled_constraints.h"

namespace bregboost::detail {

class RateCompiler {
 public:
  RateCompiler(const RowData& rows, const CellTable& cells, EmptySubsetPolicy policy);

  // `extra` conditions come from the group that an aggregate is looking at.
  SparseRow Compile(const Rate& rate, const std::vector<Condition>& extra, const std::string& text);
  SparseRow Compile(const RateExpression& expression, const std::vector<Condition>& extra,
                    const std::string& text);

  // precision = numerator / denominator; the row is p * denominator - numerator <= 0, divided by
  // the subset's weight and rewritten with errors of the selected class so that it is convex.
  MeasuredRate CompilePrecision(const Rate& rate, const std::vector<Condition>& extra,
                                const std::string& text);
  SparseRow PrecisionFloor(const Rate& rate, double floor, const std::vector<Condition>& extra,
                           const std::string& text);

  // The tuples of `by` that occur, each as conditions.
  std::vector<std::vector<Condition>> Groups(const std::vector<Column>& by) const;

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  // Cells that meet all conditions, and what they weigh.
  struct Subset {
    std::vector<std::uint32_t> cells;
    double weight = 0.0;
  };
  Subset Select(std::vector<Condition> where, const std::vector<Condition>& extra,
                const std::string& text) const;
  std::int32_t ClassCode(const std::string& value, const std::string& text) const;
  std::int32_t PredictedClass(const Rate& rate, const std::string& text) const;
  std::string PositiveLabel() const;
  std::string NegativeLabel() const;
  void RequireClassification(const Rate& rate, const std::string& text) const;
  void RequireBinary(const Rate& rate, const std::string& text) const;

  enum class Event { kError, kSelected, kLoss, kDisagrees };
  std::uint32_t ColumnOf(Event event, std::int32_t class_code, std::uint32_t cell) const;
  SparseRow Average(Event event, std::int32_t class_code, const Subset& subset) const;

  const RowData& rows_;
  const CellTable& cells_;
  EmptySubsetPolicy policy_;
  std::vector<Slot> slots_;
};

// "sex=F, class=1"; empty for no conditions.
std::string GroupText(const std::vector<Condition>& conditions);

// row := row + factor * other, entries merged.
void AddScaled(const SparseRow& other, double factor, SparseRow& row);

}  // namespace bregboost::detail
