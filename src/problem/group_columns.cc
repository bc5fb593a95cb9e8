#include "bregboost/problem/group_columns.h"

#include <algorithm>

namespace bregboost {

std::vector<std::string> GroupColumns(const std::vector<Constraint>& constraints) {
  std::vector<std::string> names;
  const auto add = [&](const Column& column) {
    const bool is_known = std::find(names.begin(), names.end(), column.name) != names.end();
    if (!column.is_label && !is_known) names.push_back(column.name);
  };
  for (const Constraint& constraint : constraints) {
    for (const Term& term : constraint.expression.terms) {
      for (const Condition& condition : term.rate.where) add(condition.column);
    }
    for (const Column& column : constraint.by) add(column);
  }
  return names;
}

}  // namespace bregboost
