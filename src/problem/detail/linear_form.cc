#include "problem/detail/linear_form.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace bregboost::detail {

void LinearForm::Add(const LinearForm& other, double factor) {
  for (const PlacedTerm& placed : other.terms) {
    terms.push_back(placed);
    terms.back().term.coefficient *= factor;
  }
  constant += factor * other.constant;
}

void LinearForm::Scale(double factor) {
  for (PlacedTerm& placed : terms) placed.term.coefficient *= factor;
  constant *= factor;
}

LinearForm LinearForm::Canonical() const {
  LinearForm merged{.terms = {}, .constant = constant + 0.0};  // -0.0 + 0.0 is 0.0
  std::map<std::string, std::size_t> index;  // by text: two rates are equal iff they print the same
  for (const PlacedTerm& placed : terms) {
    const auto [found, is_new] = index.try_emplace(ToText(placed.term.rate), merged.terms.size());
    if (is_new) {
      merged.terms.push_back(placed);
    } else {
      merged.terms[found->second].term.coefficient += placed.term.coefficient;
    }
  }
  std::erase_if(merged.terms, [](const PlacedTerm& p) { return p.term.coefficient == 0.0; });
  return merged;
}

bool LinearForm::IsFinite() const {
  return std::isfinite(constant) && std::all_of(terms.begin(), terms.end(), [](const auto& placed) {
           return std::isfinite(placed.term.coefficient);
         });
}

RateExpression LinearForm::Expression() const {
  RateExpression expression{.terms = {}, .constant = constant};
  for (const PlacedTerm& placed : terms) expression.terms.push_back(placed.term);
  return expression;
}

}  // namespace bregboost::detail
