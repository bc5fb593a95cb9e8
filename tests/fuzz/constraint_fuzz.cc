// The constraint language: what is read prints as a text that reads as the same.
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "fuzz_target.h"

namespace {

using bregboost::fuzz::Require;

// The value that `parse` reads from `text`, printed and read again; errors of the text are fine.
template <class Parse>
void CheckRoundTrip(std::string_view text, Parse parse) {
  std::string printed;
  try {
    const auto value = parse(text);
    printed = bregboost::ToText(value);
    Require(parse(printed) == value, "printed and read again, it is the same");
  } catch (const bregboost::ConstraintError& error) {
    Require(printed.empty(), "what is printed can be read");
    Require(error.position().has_value(), "errors of the text have a position");
    Require(*error.position() <= text.size() + 1, "positions are within the text");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = bregboost::fuzz::TextOf(data, size);
  CheckRoundTrip(text, bregboost::ParseConstraint);
  CheckRoundTrip(text, bregboost::ParseExpression);
  return 0;
}
