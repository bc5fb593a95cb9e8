// LibSVM text: rows do not depend on how the text is cut into blocks, and fit together.
#include <algorithm>
#include <stdexcept>

#include "bregboost/data/libsvm_text.h"
#include "fuzz_target.h"

namespace {

using namespace bregboost;  // NOLINT: a program
using fuzz::Require;

struct Outcome {
  SparseTable table;
  std::string error;
};

Outcome Read(std::string_view text, const LibsvmOptions& options) {
  TextView source(text);
  Outcome outcome;
  try {
    outcome.table = ReadLibsvm(source, options);
  } catch (const std::invalid_argument& error) {
    outcome.error = error.what();
    Require(!outcome.error.empty(), "errors say what is wrong");
  }
  return outcome;
}

void CheckShape(const SparseTable& table) {
  Require(table.num_rows() > 0, "there are rows");
  Require(std::is_sorted(table.row_offsets.begin(), table.row_offsets.end()), "rows follow rows");
  Require(static_cast<std::size_t>(table.row_offsets.back()) == table.values.size(),
          "rows hold all entries");
  Require(table.column_indices.size() == table.values.size(), "every entry has a column");
  for (const std::int32_t column : table.column_indices) {
    Require(column >= 0 && static_cast<std::size_t>(column) < table.num_columns,
            "columns are within the table");
  }
  const TableColumn& label = table.label;
  const bool is_numeric = label.kind == ColumnKind::kNumeric;
  Require((is_numeric ? label.values.size() : label.codes.size()) == table.num_rows(),
          "every row has a label");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  // Larger than most inputs, and quicker to clear than the default.
  const Outcome whole = Read(text, {.block_bytes = 4096});
  const Outcome blocks = Read(text, {.block_bytes = 5});
  Require(whole.error.empty() == blocks.error.empty(), "blocks do not change what is an error");
  if (whole.error.empty()) {
    CheckShape(whole.table);
    Require(whole.table.row_offsets == blocks.table.row_offsets &&
                whole.table.column_indices == blocks.table.column_indices &&
                whole.table.num_columns == blocks.table.num_columns &&
                whole.table.label.codes == blocks.table.label.codes &&
                whole.table.label.levels == blocks.table.label.levels,
            "blocks do not change the rows");
  }
  const Outcome narrow =
      Read(text, {.label = ColumnKind::kNumeric, .num_columns = 3, .block_bytes = 64});
  if (narrow.error.empty()) CheckShape(narrow.table);
  return 0;
}
