// The rows of a batch of delimited text, field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/detail/record_batches.h"

namespace bregboost::detail {

// See DelimitedText for the rules of the text and for what the members do.
class BatchRows {
 public:
  static constexpr char kQuote = '"';

  // `source` is its name, for errors, and must outlive this.
  BatchRows(const std::string& source, char delimiter) : source_(source), delimiter_(delimiter) {}

  // How many fields every row has; 0, as at first: any number.
  void SetNumFields(std::size_t count) { num_fields_ = count; }

  // Goes before the first row of the batch, which must outlive its use here and which is written to
  // where quotes are doubled.
  void Start(RecordBatch& batch);

  // False at the end of the batch.
  bool NextRow();
  bool has_more_fields() const { return has_more_fields_; }
  std::string_view NextField();
  bool TakeNumber(double& value);
  std::uint64_t line() const { return line_; }

 private:
  bool NextRecord();
  void FindRecord();
  void SplitQuoted();
  const char* SplitField(const char* at);
  const char* SplitQuotedField(const char* at);
  void MergeDoubledQuotes(std::string_view& field);
  void FinishRow();
  [[noreturn]] void FailFieldCount() const;
  [[noreturn]] void Fail(const char* at, const std::string& message) const;

  const std::string& source_;
  char delimiter_;
  std::size_t num_fields_ = 0;
  RecordBatch* batch_ = nullptr;

  const char* record_ = nullptr;
  const char* next_record_ = nullptr;
  std::uint64_t line_ = 1, next_line_ = 1;
  std::size_t fields_taken_ = 0;
  // Without quotes in the record, fields are found as they are taken: those from next_ to end_ are
  // left.
  bool has_quotes_ = false, has_more_fields_ = false;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  // With quotes they are found at once.
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> with_doubled_quotes_;
};

}  // namespace bregboost::detail
