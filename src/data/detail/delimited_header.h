// The first line of delimited text.
#pragma once

#include <string>
#include <vector>

#include "data/detail/batch_rows.h"
#include "data/detail/record_batches.h"

namespace bregboost::detail {

// Reads batches up to the first that has a record, which is the header, and leaves `rows` behind
// it. Throws std::invalid_argument if there is none, or if names are empty or occur twice.
std::vector<std::string> ReadHeader(const std::string& source, RecordBatches& batches,
                                    RecordBatch& batch, BatchRows& rows);

[[noreturn]] void FailWithoutRows(const std::string& source);

}  // namespace bregboost::detail
