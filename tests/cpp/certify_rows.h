// Rows written as counts, for tests of certificates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/parser.h"

namespace bregboost::test {

// `rows` rows that are alike.
struct RowsOfOneKind {
  std::size_t rows = 0;
  std::int32_t label = 0;  // 0 "no", 1 "yes", 2 "perhaps"
  std::int32_t predicted = 0;
  std::int32_t sex = 0;  // 0 "F", 1 "M"
  double weight = 1.0;
  double loss = 0.0;
  std::int32_t baseline = 0;
};

struct CountedRows {
  RowData rows;
  Predictions predictions;
};

inline CountedRows MakeRows(const std::vector<RowsOfOneKind>& kinds, std::size_t classes = 2,
                            std::vector<std::string> sexes = {"F", "M"}) {
  CountedRows all;
  all.rows.labels = {.name = "label", .levels = {"no", "yes", "perhaps"}, .codes = {}};
  all.rows.labels.levels.resize(classes);
  all.rows.groups = {{.name = "sex", .levels = std::move(sexes), .codes = {}}};
  for (const RowsOfOneKind& kind : kinds) {
    for (std::size_t i = 0; i < kind.rows; ++i) {
      all.rows.labels.codes.push_back(kind.label);
      all.rows.groups.front().codes.push_back(kind.sex);
      all.rows.weights.push_back(kind.weight);
      all.rows.baseline.push_back(kind.baseline);
      all.predictions.classes.push_back(kind.predicted);
      all.predictions.losses.push_back(kind.loss);
    }
  }
  return all;
}

inline Certificate CertifyTexts(const CountedRows& all, const std::vector<std::string>& texts,
                                const CertifyOptions& options = {}) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return Certify(all.predictions, all.rows, constraints, options);
}

inline ConstraintVerdict CertifyText(const CountedRows& all, const std::string& text,
                                     const CertifyOptions& options = {}) {
  return CertifyTexts(all, {text}, options).constraints.front();
}

}  // namespace bregboost::test
