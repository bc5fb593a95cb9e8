// Sums of rates as written, before they become canonical: every rate knows where it stood.
#pragma once

#include <cstddef>
#include <vector>

#include "bregboost/problem/constraint.h"

namespace bregboost::detail {

struct PlacedTerm {
  Term term;
  std::size_t offset = 0;  // of the rate in the text
};

struct LinearForm {
  std::vector<PlacedTerm> terms;
  double constant = 0.0;

  void Add(const LinearForm& other, double factor);
  void Scale(double factor);

  // Equal rates merged at the place of the first, zero coefficients dropped, no negative zero.
  LinearForm Canonical() const;

  bool IsFinite() const;
  RateExpression Expression() const;
};

}  // namespace bregboost::detail
