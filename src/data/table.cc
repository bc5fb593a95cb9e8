#include "bregboost/data/table.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "bregboost/data/delimited_text.h"
#include "data/detail/column_builder.h"
#include "data/detail/column_names.h"
#include "data/detail/place.h"

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
    for (const std::string& name : options.drop) Mark(name, Fate::kDropped, "drop");
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

struct Pass {
  Table table;
  std::vector<std::string> lost_texts;  // columns whose texts were let go before they were needed
};

Pass ReadOnce(TextSource& source, const TableOptions& options) {
  DelimitedText text(source, {.delimiter = options.delimiter.value_or(DelimiterOf(source.name())),
                              .block_bytes = options.block_bytes});
  const detail::MissingWords missing(options.missing);
  const ReadingPlan plan(source.name(), text.header(), options);
  std::vector<std::unique_ptr<ColumnBuilder>> builders;  // null for columns that are not read
  for (std::size_t j = 0; j < text.header().size(); ++j) {
    builders.push_back(plan.is_read(j) ? std::make_unique<ColumnBuilder>(
                                             text.header()[j], plan.rule(j), source.name(), missing)
                                       : nullptr);
  }
  Pass pass;
  pass.table.source = source.name();
  while (text.NextRow()) {
    ++pass.table.num_rows;
    for (const std::unique_ptr<ColumnBuilder>& builder : builders) {
      double number = 0.0;
      if (builder == nullptr) {
        text.NextField();
      } else if (builder->takes_numbers() && text.TakeNumber(number)) {
        builder->AddNumber(number);
      } else {
        builder->Add(text.NextField(), text.line());
      }
    }
  }
  for (const std::unique_ptr<ColumnBuilder>& builder : builders) {
    if (builder == nullptr) continue;
    const bool has_lost_texts = builder->has_lost_texts();
    pass.table.columns.push_back(builder->Finish());
    if (has_lost_texts) pass.lost_texts.push_back(pass.table.columns.back().name);
  }
  return pass;
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
