// Remembers which rows have been used to certify. A certificate is valid for one look at its rows:
// whoever changes the model after a look, and looks again, tests until something passes.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "bregboost/data/row_data.h"

namespace bregboost {

// 64 bits of the rows' labels or targets, groups, weights and baseline, whatever their order.
// `digests` has one number per row that tells rows with the same label and groups apart, such as a
// hash or a sum of the features; without it, two sets whose counts agree look the same. Throws
// std::invalid_argument if its length is neither 0 nor the number of rows.
std::uint64_t Fingerprint(const RowData& rows, std::span<const double> digests = {});

class CertificationLog {
 public:
  bool Contains(std::uint64_t fingerprint) const { return used_.contains(fingerprint); }
  void Remember(std::uint64_t fingerprint) { used_.insert(fingerprint); }

  // A small object that FromJson reads back. FromJson throws std::invalid_argument for other texts.
  std::string ToJson() const;
  static CertificationLog FromJson(std::string_view text);

  bool operator==(const CertificationLog&) const = default;

 private:
  std::set<std::uint64_t> used_;
};

}  // namespace bregboost
