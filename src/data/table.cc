#include "bregboost/data/table.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "bregboost/data/delimited_text.h"
#include "data/detail/batch_rows.h"
#include "data/detail/column_builder.h"
#include "data/detail/column_names.h"
#include "data/detail/delimited_header.h"
#include "data/detail/place.h"
#include "data/detail/record_batches.h"
#include "data/detail/task_queue.h"

namespace bregboost {
namespace {

using detail::ColumnBuilder;

// What becomes of every column of the file.
class ReadingPlan {
 public:
  using Rule = ColumnBuilder::Rule;

  ReadingPlan(const std::string& source, const std::vector<std::string>& header,
              const TableOptions& options)
      : source_(source), header_(header) {
    for (std::size_t j = 0; j < header.size(); ++j) index_of_.emplace(header[j], j);
    for (const std::string& name : options.drop) fates_[IndexOf(name)] = Fate::kDropped;
    for (const std::string& name : options.numeric) Mark(name, Fate::kNumeric, "numeric");
    for (const std::string& name : options.categorical) {
      Mark(name, Fate::kCategorical, "categorical");
    }
    if (options.only.empty()) return;
    std::vector<std::uint8_t> is_wanted(header.size(), 0);
    for (const std::string& name : options.only) is_wanted[IndexOf(name)] = 1;
    for (std::size_t j = 0; j < header.size(); ++j) {
      if (is_wanted[j] == 0) fates_[j] = Fate::kDropped;
    }
  }

  bool is_read(std::size_t column) const { return fates_[column] != Fate::kDropped; }

  Rule rule(std::size_t column) const {
    switch (fates_[column]) {
      case Fate::kNumeric:
        return Rule::kNumeric;
      case Fate::kCategorical:
        return Rule::kCategorical;
      default:
        return Rule::kInferred;
    }
  }

 private:
  enum class Fate { kInferred, kNumeric, kCategorical, kDropped };

  std::size_t IndexOf(const std::string& name) const {
    const auto found = index_of_.find(name);
    if (found != index_of_.end()) return found->second;
    throw std::invalid_argument(detail::NoColumn(source_, name, header_));
  }

  void Mark(const std::string& name, Fate fate, std::string_view option) {
    Fate& present = fates_[IndexOf(name)];
    if (present != Fate::kInferred && present != fate) {
      throw std::invalid_argument(
          fmt::format("{}: {}, which is asked to be {} too; allowed: one of them", option,
                      detail::Quoted(name), present == Fate::kNumeric ? "numeric" : "dropped"));
    }
    present = fate;
  }

  const std::string& source_;
  const std::vector<std::string>& header_;
  std::unordered_map<std::string_view, std::size_t> index_of_;
  std::vector<Fate> fates_ = std::vector<Fate>(header_.size(), Fate::kInferred);
};

using Builders = std::vector<std::unique_ptr<ColumnBuilder>>;  // null for columns that are not read

// A part of the text, and the columns that it makes.
struct Part {
  detail::RecordBatch batch;
  Builders builders;
  std::size_t num_rows = 0;
};

// The fields of all rows that are left.
std::size_t AddRows(detail::BatchRows& rows, Builders& builders) {
  std::size_t num_rows = 0;
  for (; rows.NextRow(); ++num_rows) {
    for (const std::unique_ptr<ColumnBuilder>& builder : builders) {
      double number = 0.0;
      if (builder == nullptr) {
        rows.NextField();
      } else if (builder->takes_numbers() && rows.TakeNumber(number)) {
        builder->AddNumber(number);
      } else {
        builder->Add(rows.NextField(), rows.line());
      }
    }
  }
  return num_rows;
}

struct Pass {
  Table table;
  std::vector<std::string> lost_texts;  // columns whose texts were let go before they were needed
};

// Reads the text in parts: the first tells what most columns are, the others are parsed on several
// threads while this one reads (and decompresses) on, and joined in their order. So neither columns
// nor errors depend on the number of threads.
class Reading {
 public:
  Reading(TextSource& source, const TableOptions& options)
      : source_(source.name()),
        delimiter_(options.delimiter.value_or(DelimiterOf(source.name()))),
        missing_(options.missing),
        batches_(source, options.block_bytes, kMaxRowBytes, detail::BatchRows::kQuote) {
    Validate(DelimitedOptions{.delimiter = delimiter_, .block_bytes = options.block_bytes});
    ReadFirstPart(options);
    ReadOtherParts();
    if (first_.num_rows == 0) detail::FailWithoutRows(source_);
  }

  Pass Finish() {
    Pass pass;
    pass.table.source = source_;
    pass.table.num_rows = first_.num_rows;
    for (const std::unique_ptr<ColumnBuilder>& builder : first_.builders) {
      if (builder == nullptr) continue;
      const bool has_lost_texts = builder->has_lost_texts();
      pass.table.columns.push_back(builder->Finish());
      if (has_lost_texts) pass.lost_texts.push_back(pass.table.columns.back().name);
    }
    return pass;
  }

 private:
  static constexpr std::size_t kMaxRowBytes = DelimitedOptions().max_row_bytes;
  static constexpr std::size_t kMaxThreads = 8;  // more would wait for the one that reads

  void ReadFirstPart(const TableOptions& options) {
    detail::BatchRows rows(source_, delimiter_);
    header_ = detail::ReadHeader(source_, batches_, first_.batch, rows);
    const ReadingPlan plan(source_, header_, options);
    for (std::size_t j = 0; j < header_.size(); ++j) {
      rules_.push_back(plan.is_read(j) ? std::optional(plan.rule(j)) : std::nullopt);
    }
    first_.builders = MakeBuilders();
    first_.num_rows = AddRows(rows, first_.builders);
    for (std::size_t j = 0; j < header_.size(); ++j) {
      const ColumnBuilder* const builder = first_.builders[j].get();
      if (builder != nullptr && builder->kind() == ColumnKind::kCategorical) {
        rules_[j] = ColumnBuilder::Rule::kCategorical;
      }
    }
  }

  void ReadOtherParts() {
    const std::size_t num_threads =
        std::min(kMaxThreads, static_cast<std::size_t>(omp_get_max_threads()));
    std::vector<Part> parts(2 * num_threads);
    if (!batches_.Next(parts[0].batch)) return;
    detail::TaskQueue queue(num_threads - 1);
    std::size_t submitted = 0, joined = 0;
    const auto part = [&](std::size_t number) -> Part& { return parts[number % parts.size()]; };
    const auto join_oldest = [&] {
      Part& oldest = part(joined++);
      queue.AwaitOldest();
      Join(oldest);
    };
    const auto read_next = [&] {
      try {
        return batches_.Next(part(submitted).batch);
      } catch (...) {
        while (joined < submitted) join_oldest();  // what is wrong with earlier parts comes first
        throw;
      }
    };
    do {
      queue.Submit([this, &next = part(submitted)] { Parse(next); });
      ++submitted;
      if (submitted - joined == parts.size()) join_oldest();
    } while (read_next());
    while (joined < submitted) join_oldest();
  }

  Builders MakeBuilders() const {
    Builders builders;
    for (std::size_t j = 0; j < header_.size(); ++j) {
      builders.push_back(
          rules_[j] ? std::make_unique<ColumnBuilder>(header_[j], *rules_[j], source_, missing_)
                    : nullptr);
    }
    return builders;
  }

  void Parse(Part& part) const {
    part.builders = MakeBuilders();
    detail::BatchRows rows(source_, delimiter_);
    rows.SetNumFields(header_.size());
    rows.Start(part.batch);
    part.num_rows = AddRows(rows, part.builders);
  }

  void Join(Part& part) {
    for (std::size_t j = 0; j < header_.size(); ++j) {
      if (rules_[j]) first_.builders[j]->Append(*part.builders[j]);
    }
    first_.num_rows += part.num_rows;
  }

  const std::string& source_;
  char delimiter_;
  detail::MissingWords missing_;
  detail::RecordBatches batches_;
  std::vector<std::string> header_;
  std::vector<std::optional<ColumnBuilder::Rule>> rules_;  // none for columns that are not read
  Part first_;                                             // and all that were joined to it
};

Pass ReadOnce(TextSource& source, const TableOptions& options) {
  return Reading(source, options).Finish();
}

void ReadLostTexts(TextSource& source, TableOptions options, Pass& pass) {
  source.Rewind();
  options.numeric = options.drop = {};
  options.categorical = options.only = pass.lost_texts;
  Table again = ReadOnce(source, options).table;
  if (again.num_rows != pass.table.num_rows) {
    throw std::invalid_argument(
        fmt::format("'{}' has changed while it was read: {} rows, then {}; allowed: a file that "
                    "stays as it is",
                    source.name(), pass.table.num_rows, again.num_rows));
  }
  std::unordered_map<std::string, TableColumn*> column_of;
  for (TableColumn& column : pass.table.columns) column_of.emplace(column.name, &column);
  for (TableColumn& texts : again.columns) {
    TableColumn& column = *column_of.at(texts.name);
    column.codes = std::move(texts.codes);
    column.levels = std::move(texts.levels);
    column.first_missing_line = texts.first_missing_line;
  }
}

}  // namespace

std::string_view Name(ColumnKind kind) {
  return kind == ColumnKind::kNumeric ? "numeric" : "categorical";
}

Table ReadTable(TextSource& source, const TableOptions& options) {
  Pass pass = ReadOnce(source, options);
  if (!pass.lost_texts.empty()) ReadLostTexts(source, options, pass);
  return std::move(pass.table);
}

Table ReadTable(const std::string& path, const TableOptions& options) {
  const std::unique_ptr<TextSource> source = OpenTextFile(path);
  return ReadTable(*source, options);
}

const TableColumn& ColumnOf(const Table& table, std::string_view name) {
  for (const TableColumn& column : table.columns) {
    if (column.name == name) return column;
  }
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns) names.push_back(column.name);
  throw std::invalid_argument(detail::NoColumn(table.source, name, names));
}

}  // namespace bregboost
