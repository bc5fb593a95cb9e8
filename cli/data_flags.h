// Which file, and what its columns are.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/data/column_encoding.h"
#include "bregboost/data/encoded_table.h"
#include "bregboost/data/feature_matrix.h"
#include "bregboost/data/row_data.h"
#include "bregboost/problem/constraint.h"

namespace bregboost::cli {

struct DataFlags {
  std::string data, label, target, weight, rate_weight, positive, delimiter;
  std::vector<std::string> groups, categorical, numeric, drop;
  std::vector<std::string> missing;
};

enum class Labels { kNeeded, kInModel };

// --data and everything about its columns; a model knows the kinds of its own.
void AddDataFlags(CLI::App& command, DataFlags& flags, Labels labels);

// Rows of a file as the learners take them, of a table or of LibSVM text.
class LoadedRows {
 public:
  const RowData& rows() const { return rows_; }
  const ColumnEncoding& encoding() const { return encoding_; }
  std::size_t num_rows() const;
  FeatureArray features() const;
  // For linear models: numbers only, none missing.
  FeatureMatrix matrix() const;
  // Warnings of categories that the model does not know.
  std::vector<std::string> warnings() const;

 private:
  friend LoadedRows LoadForTraining(const DataFlags&, const std::vector<Constraint>&, bool);
  friend LoadedRows LoadForModel(const DataFlags&, const ColumnEncoding&,
                                 const std::vector<Constraint>&, const std::string&, bool);

  ColumnEncoding encoding_;
  std::optional<EncodedTable> table_;
  std::optional<SparseTable> sparse_;
  mutable std::vector<std::int32_t> short_offsets_;  // of `sparse_`, as matrix() takes them
  RowData rows_;
};

// Group columns are those of --group, which are no features, and those that constraints name, which
// stay features. All throw Failure.
LoadedRows LoadForTraining(const DataFlags& flags, const std::vector<Constraint>& constraints,
                           bool linear);
// Encoded as the model's training rows were; labels and groups only if `with_labels`.
LoadedRows LoadForModel(const DataFlags& flags, const ColumnEncoding& encoding,
                        const std::vector<Constraint>& constraints, const std::string& positive,
                        bool with_labels);

}  // namespace bregboost::cli
