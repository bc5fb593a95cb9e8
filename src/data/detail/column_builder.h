// One column of a table, or of a part of it, while its fields come in.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bregboost/data/table.h"

namespace bregboost::detail {

class MissingWords {
 public:
  explicit MissingWords(std::vector<std::string> words);

  bool Contains(std::string_view trimmed) const;

  // Whether a number, as `-999`, stands for a missing value.
  bool has_numbers() const { return has_numbers_; }

 private:
  std::vector<std::string> words_;
  std::array<bool, 256> may_begin_ = {};  // spares nearly every text the search
  bool has_numbers_ = false;
};

class ColumnBuilder {
 public:
  enum class Rule { kInferred, kNumeric, kCategorical };

  // `source` and `missing` must outlive the builder.
  ColumnBuilder(std::string name, Rule rule, const std::string& source,
                const MissingWords& missing);

  // Whether a number, unless it is NaN, may be added as such.
  bool takes_numbers() const { return takes_numbers_; }
  void AddNumber(double number) {
    has_numbers_ = true;
    column_.values.push_back(number);
  }

  // Throws std::invalid_argument for text if the rule is kNumeric.
  void Add(std::string_view field, std::uint64_t line);

  // Adds the column of the rows that follow, as if its fields had been added one by one. That one
  // is empty afterwards.
  void Append(ColumnBuilder& next);

  ColumnKind kind() const { return column_.kind; }

  // Whether the column is categorical but texts of earlier rows are gone.
  bool has_lost_texts() const { return has_lost_texts_; }

  // The column, with its levels in order. The builder is empty afterwards.
  TableColumn Finish();

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void AddMissing(std::uint64_t line);
  void BecomeCategorical();
  std::int32_t CodeOf(std::string_view text);
  void AddText(std::string_view field);

  TableColumn column_;
  Rule rule_;
  const std::string& source_;
  const MissingWords& missing_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> code_of_;
  bool takes_numbers_;
  bool has_numbers_ = false, has_lost_texts_ = false;
};

}  // namespace bregboost::detail
