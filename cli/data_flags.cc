#include "data_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bregboost/data/libsvm_text.h"
#include "bregboost/data/table.h"
#include "bregboost/data/table_rows.h"
#include "bregboost/problem/group_columns.h"
#include "failure.h"

namespace bregboost::cli {
namespace {

char DelimiterOf(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() == 1) return text[0];
  throw Failure(ExitCode::kUsage,
                fmt::format("delimiter: '{}'; allowed: one character, or tab", text));
}

TableOptions OptionsOf(const DataFlags& flags) {
  TableOptions options{
      .categorical = flags.categorical, .numeric = flags.numeric, .drop = flags.drop};
  if (!flags.missing.empty()) options.missing = flags.missing;
  if (!flags.delimiter.empty()) options.delimiter = DelimiterOf(flags.delimiter);
  return options;
}

// --group and the columns of constraints.
std::vector<std::string> AllGroups(const DataFlags& flags,
                                   const std::vector<Constraint>& constraints) {
  std::vector<std::string> names = flags.groups;
  for (const std::string& name : GroupColumns(constraints)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// A group that is to be left out is left out of the features: limits still need it.
DataFlags WithDroppedGroups(DataFlags flags, const std::vector<Constraint>& constraints) {
  const std::vector<std::string> groups = AllGroups(flags, constraints);
  const auto is_group = [&](const std::string& name) {
    return std::find(groups.begin(), groups.end(), name) != groups.end();
  };
  const auto dropped = std::stable_partition(flags.drop.begin(), flags.drop.end(),
                                             [&](const auto& name) { return !is_group(name); });
  for (auto name = dropped; name != flags.drop.end(); ++name) {
    if (std::find(flags.groups.begin(), flags.groups.end(), *name) == flags.groups.end()) {
      flags.groups.push_back(*name);
    }
  }
  flags.drop.erase(dropped, flags.drop.end());
  return flags;
}

void RefuseForLibsvm(const char* flag, bool is_given) {
  if (!is_given) return;
  throw Failure(ExitCode::kUsage,
                fmt::format("{}: given; allowed for LibSVM text, whose columns have no names: "
                            "nothing but --positive and --target label",
                            flag));
}

void CheckLibsvmFlags(const DataFlags& flags) {
  RefuseForLibsvm("label", !flags.label.empty() && flags.label != "label");
  RefuseForLibsvm("target", !flags.target.empty() && flags.target != "label");
  RefuseForLibsvm("weight", !flags.weight.empty());
  RefuseForLibsvm("rate-weight", !flags.rate_weight.empty());
  RefuseForLibsvm("group", !flags.groups.empty());
  RefuseForLibsvm("categorical", !flags.categorical.empty());
  RefuseForLibsvm("numeric", !flags.numeric.empty());
  RefuseForLibsvm("drop", !flags.drop.empty());
}

void SetPositive(const std::string& positive, RowData& rows) {
  if (!positive.empty()) rows.positive_class = PositiveClass(rows, positive);
}

}  // namespace

void AddDataFlags(CLI::App& command, DataFlags& flags, Labels labels) {
  command
      .add_option("--data", flags.data, "CSV, TSV or LibSVM text; .gz, .xz and .zst are unpacked")
      ->type_name("FILE")
      ->required();
  if (labels == Labels::kNeeded) {
    command.add_option("--label", flags.label, "Column of class labels")->type_name("COLUMN");
    command
        .add_option("--target", flags.target, "Column of numbers to predict, in place of labels")
        ->type_name("COLUMN");
    command
        .add_option("--positive", flags.positive,
                    "The positive one of two classes [the larger label]")
        ->type_name("CLASS");
    command
        .add_option("--categorical", flags.categorical, "Columns of categories, however they look")
        ->type_name("COLUMN");
    command.add_option("--numeric", flags.numeric, "Columns in which text is an error")
        ->type_name("COLUMN");
    command.add_option("--drop", flags.drop, "Columns to leave out")->type_name("COLUMN");
    command
        .add_option("--missing", flags.missing,
                    "Spellings of a missing value [empty, NA, ?, NaN, null, N/A]")
        ->type_name("TEXT");
  }
  command
      .add_option("--group", flags.groups,
                  "Group columns that are no features; groups that only constraints name are both")
      ->type_name("COLUMN");
  command.add_option("--weight", flags.weight, "Column of row weights, in loss and rates")
      ->type_name("COLUMN");
  command.add_option("--rate-weight", flags.rate_weight, "Column of weights in rates alone")
      ->type_name("COLUMN");
  command.add_option("--delimiter", flags.delimiter, "Between fields [comma; tab for .tsv]")
      ->type_name("CHARACTER");
}

std::size_t LoadedRows::num_rows() const {
  return sparse_ ? sparse_->num_rows() : table_->num_rows;
}

FeatureArray LoadedRows::features() const {
  return sparse_ ? FeaturesOf(*sparse_) : FeaturesOf(*table_);
}

FeatureMatrix LoadedRows::matrix() const {
  if (!sparse_) {
    return FeatureMatrix::DenseColumnMajor(table_->values, table_->num_rows, table_->names.size());
  }
  short_offsets_.assign(sparse_->row_offsets.begin(), sparse_->row_offsets.end());
  return FeatureMatrix::Csr(short_offsets_, sparse_->column_indices, sparse_->values,
                            sparse_->num_columns);
}

std::vector<std::string> LoadedRows::warnings() const {
  std::vector<std::string> texts;
  if (!table_) return texts;
  for (const UnseenCategories& unseen : table_->unseen) texts.push_back(unseen.text());
  return texts;
}

LoadedRows LoadForTraining(const DataFlags& given, const std::vector<Constraint>& constraints,
                           bool linear) {
  const DataFlags flags = WithDroppedGroups(given, constraints);
  if (flags.label.empty() == flags.target.empty() && !IsLibsvmName(flags.data)) {
    throw Failure(ExitCode::kUsage,
                  "label, target: both or none; allowed: one of them, the column to predict");
  }
  LoadedRows loaded;
  As(ExitCode::kData, [&] {
    if (IsLibsvmName(flags.data)) {
      CheckLibsvmFlags(flags);
      loaded.sparse_ = ReadLibsvm(
          flags.data,
          {.label = flags.target.empty() ? ColumnKind::kCategorical : ColumnKind::kNumeric});
      loaded.encoding_ = MakeEncoding(*loaded.sparse_);
      loaded.rows_ = RowsOf(*loaded.sparse_);
    } else {
      RowColumns columns{.label = flags.label,
                         .target = flags.target,
                         .weight = flags.weight,
                         .rate_weight = flags.rate_weight,
                         .groups = AllGroups(flags, constraints)};
      const TableOptions options = OptionsOf(flags);
      Table table = ReadTable(flags.data, WithRowColumns(options, columns));
      loaded.rows_ = RowsOf(table, columns);
      columns.groups = flags.groups;
      loaded.encoding_ = MakeEncoding(table, columns, options.missing);
      if (linear) CheckForLinear(table, loaded.encoding_);
      loaded.table_ = Encode(std::move(table), loaded.encoding_);
    }
    SetPositive(flags.positive, loaded.rows_);
    Validate(loaded.rows_);
  });
  return loaded;
}

LoadedRows LoadForModel(const DataFlags& flags, const ColumnEncoding& encoding,
                        const std::vector<Constraint>& constraints, const std::string& positive,
                        bool with_labels) {
  LoadedRows loaded;
  loaded.encoding_ = encoding;
  As(ExitCode::kData, [&] {
    if (encoding.sparse_columns > 0) {
      CheckLibsvmFlags(flags);
      LibsvmOptions options = LibsvmReadingOptions(encoding);
      loaded.sparse_ = ReadLibsvm(flags.data, options);
      if (with_labels) loaded.rows_ = RowsOf(*loaded.sparse_, encoding.classes);
    } else {
      RowColumns columns;
      if (with_labels) {
        (encoding.classes.empty() ? columns.target : columns.label) = encoding.label;
        columns.weight = flags.weight;
        columns.rate_weight = flags.rate_weight;
        columns.groups = AllGroups(flags, constraints);
      }
      TableOptions options = ReadingOptions(encoding, columns);
      if (!flags.delimiter.empty()) options.delimiter = DelimiterOf(flags.delimiter);
      Table table = ReadTable(flags.data, options);
      if (with_labels) loaded.rows_ = RowsOf(table, columns, encoding.classes);
      loaded.table_ = Encode(std::move(table), encoding);
    }
    if (with_labels) SetPositive(positive, loaded.rows_);
  });
  return loaded;
}

}  // namespace bregboost::cli
