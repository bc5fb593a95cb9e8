// Reads a constraint, prints it, and reads it again. Ends with 1 if anything is not as expected.
#include <cstdlib>
#include <iostream>
#include <string>

#include "bregboost/problem/constraint.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"

namespace {

bool RoundTrips(const std::string& text) {
  const bregboost::Constraint constraint = bregboost::ParseConstraint(text);
  const std::string printed = bregboost::ToText(constraint);
  std::cout << text << "  reads as  " << printed << '\n';
  return bregboost::ParseConstraint(printed) == constraint;
}

bool IsRefused(const std::string& text) {
  try {
    bregboost::ParseConstraint(text);
  } catch (const bregboost::ConstraintError& error) {
    std::cout << error.what() << '\n';
    return error.position().has_value();
  }
  return false;
}

}  // namespace

int main() {
  const bool ok = RoundTrips("fnr <= 5%") && RoundTrips("gap(error, by=sex) <= 0.02") &&
                  IsRefused("fnrr <= 5%");
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
