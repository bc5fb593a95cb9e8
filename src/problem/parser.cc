#include "bregboost/problem/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "problem/detail/constraint_checks.h"
#include "problem/detail/grammar.h"
#include "problem/detail/linear_form.h"
#include "problem/detail/number_text.h"
#include "problem/detail/rate_words.h"
#include "problem/detail/text.h"

namespace bregboost {
namespace {

namespace grammar = detail::grammar;
namespace pegtl = tao::pegtl;
using Code = ConstraintErrorCode;
using Node = pegtl::parse_tree::node;
using detail::Flaw;
using detail::LinearForm;
using detail::PlacedConstraint;

std::size_t OffsetOf(const Node& node) { return node.m_begin.byte; }

// A node's text for a message.
std::string Shown(const Node& node) { return detail::Shortened(node.string_view(), 40); }

// --- Arguments ---

std::string ContentOf(const Node& node) {
  return node.is_type<grammar::Quoted>() ? detail::Unquoted(node.string_view()) : node.string();
}

// `class`, `predicted` and `by` mean something only when they are bare.
bool IsBare(const Node& node, std::string_view word) {
  return !node.is_type<grammar::Quoted>() && node.string_view() == word;
}

Column ColumnFrom(const Node& node) {
  if (IsBare(node, "class")) return Column::Label();
  return Column::Group(ContentOf(node));
}

[[noreturn]] void FailGivenTwice(const Node& name) {
  throw Flaw{Code::kUnknownArgument, OffsetOf(name),
             fmt::format("{} is given twice; allowed: once", Shown(name))};
}

std::string AllowedArguments(const detail::RateTraits& traits) {
  return fmt::format("{}{}group columns (a column of that name is written in quotes)",
                     traits.takes_class ? "class=, " : "",
                     traits.takes_predicted ? "predicted=, " : "");
}

[[noreturn]] void FailNotTaken(const Node& name, const detail::RateTraits& traits) {
  throw Flaw{Code::kUnknownArgument, OffsetOf(name),
             fmt::format("{} does not take {}=; allowed: {}", traits.name, Shown(name),
                         AllowedArguments(traits))};
}

void AddArgument(const Node& argument, Rate& rate) {
  const Node& name = *argument.children[0];
  const std::string value = ContentOf(*argument.children[1]);
  const detail::RateTraits& traits = detail::Traits(rate.kind);
  if (IsBare(name, "by")) {
    throw Flaw{Code::kUnknownArgument, OffsetOf(name),
               fmt::format("{0} does not take by=; allowed: {1}; groups are compared by an "
                           "aggregate, as in gap({0}, by=column)",
                           traits.name, AllowedArguments(traits))};
  }
  if (IsBare(name, "predicted")) {
    if (!traits.takes_predicted) FailNotTaken(name, traits);
    if (rate.predicted) FailGivenTwice(name);
    rate.predicted = value;
    return;
  }
  const Column column = ColumnFrom(name);
  if (column.is_label && !traits.takes_class) FailNotTaken(name, traits);
  const bool is_repeated =
      std::any_of(rate.where.begin(), rate.where.end(),
                  [&](const Condition& condition) { return condition.column == column; });
  if (is_repeated) FailGivenTwice(name);
  rate.where.push_back({column, value});
}

Rate BuildRate(const Node& node) {
  // The grammar's action has refused unknown words.
  Rate rate{.kind = *detail::FindRate(node.children.front()->string_view()),
            .where = {},
            .predicted = std::nullopt};
  for (std::size_t i = 1; i < node.children.size(); ++i) AddArgument(*node.children[i], rate);
  std::sort(rate.where.begin(), rate.where.end());
  return rate;
}

// --- Arithmetic ---

LinearForm BuildForm(const Node& node);

double BuildNumber(const Node& node) {
  if (const std::optional<double> value = detail::ParseNumber(node.string_view())) return *value;
  throw Flaw{Code::kNumberOutOfRange, OffsetOf(node),
             fmt::format("number {} does not fit a double; allowed: 0 and about 1e-308 to 1e308",
                         Shown(node))};
}

void RequireFinite(const LinearForm& form, std::size_t offset) {
  if (form.IsFinite()) return;
  throw Flaw{Code::kNumberOutOfRange, offset,
             "the arithmetic here leaves the range of a double; allowed: up to about 1e308"};
}

LinearForm Multiplied(LinearForm left, const Node& node) {
  LinearForm right = BuildForm(node);
  if (!left.terms.empty() && !right.terms.empty()) {
    throw Flaw{Code::kSyntax, OffsetOf(node),
               "a product of two rates is not linear; allowed: a number times a rate"};
  }
  if (!right.terms.empty()) std::swap(left, right);
  left.Scale(right.constant);
  return left;
}

LinearForm Divided(LinearForm form, const Node& divisor) {
  const double number = BuildNumber(divisor);
  if (number == 0.0) {
    throw Flaw{Code::kNumberOutOfRange, OffsetOf(divisor),
               fmt::format("division by {}; allowed: numbers other than zero", Shown(divisor))};
  }
  for (detail::PlacedTerm& placed : form.terms) placed.term.coefficient /= number;
  form.constant /= number;
  return form;
}

LinearForm BuildProduct(const Node& node) {
  LinearForm form = BuildForm(*node.children.front());
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    const Node& step = *node.children[i];
    const Node& operand = *step.children.front();
    form = step.is_type<grammar::Times>() ? Multiplied(std::move(form), operand)
                                          : Divided(std::move(form), operand);
  }
  RequireFinite(form, OffsetOf(node));
  return form;
}

LinearForm BuildSum(const Node& node) {
  LinearForm form = BuildForm(*node.children.front());
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    const Node& step = *node.children[i];
    form.Add(BuildForm(*step.children.front()), step.is_type<grammar::Plus>() ? 1.0 : -1.0);
  }
  RequireFinite(form, OffsetOf(node));
  return form;
}

LinearForm BuildCanonical(const Node& node) {
  LinearForm form = BuildForm(node).Canonical();
  RequireFinite(form, OffsetOf(node));  // merging adds coefficients
  return form;
}

[[noreturn]] void FailInArithmetic(std::size_t offset, std::string_view word) {
  throw Flaw{Code::kAggregateInArithmetic, offset,
             fmt::format("{0} stands alone against a number, not in arithmetic or in another "
                         "aggregate; allowed: {0}(expression, by=column) {1} number",
                         word, word == "ratio" || word == "min" ? ">=" : "<=")};
}

LinearForm BuildForm(const Node& node) {
  if (node.is_type<grammar::Sum>()) return BuildSum(node);
  if (node.is_type<grammar::Product>()) return BuildProduct(node);
  if (node.is_type<grammar::Number>()) return {.terms = {}, .constant = BuildNumber(node)};
  if (node.is_type<grammar::Negation>()) {
    LinearForm form = BuildForm(*node.children.front());
    form.Scale(-1.0);
    return form;
  }
  if (node.is_type<grammar::Aggregate>()) {
    FailInArithmetic(OffsetOf(node), node.children.front()->string_view());
  }
  return {
      .terms = {{.term = {.coefficient = 1.0, .rate = BuildRate(node)}, .offset = OffsetOf(node)}},
      .constant = 0.0};
}

// --- Aggregates ---

void RequireFreeColumn(const Node& node, const Column& column, const LinearForm& form) {
  for (const detail::PlacedTerm& placed : form.terms) {
    const Rate& rate = placed.term.rate;
    const bool is_fixed =
        std::any_of(rate.where.begin(), rate.where.end(),
                    [&](const Condition& condition) { return condition.column == column; });
    if (is_fixed) {
      throw Flaw{Code::kUnknownArgument, OffsetOf(node),
                 fmt::format("by={} has a single group, since {} fixes that column; allowed: "
                             "other columns",
                             Shown(node), detail::Shortened(ToText(rate), 80))};
    }
    if (column.is_label && !detail::Traits(rate.kind).takes_class) {
      throw Flaw{Code::kUnknownArgument, OffsetOf(node),
                 fmt::format("by=class does not fit {0}, which does not take class=; allowed: "
                             "group columns",
                             Name(rate.kind))};
    }
  }
}

std::vector<Column> BuildGroups(const Node& groups, const LinearForm& form) {
  std::vector<Column> by;
  for (std::size_t i = 1; i < groups.children.size(); ++i) {
    const Node& node = *groups.children[i];
    if (IsBare(node, "predicted") || IsBare(node, "by")) {
      throw Flaw{Code::kUnknownArgument, OffsetOf(node),
                 fmt::format("by={0} is not a column; allowed: class and group columns (a column "
                             "of that name is written \"{0}\")",
                             node.string_view())};
    }
    const Column column = ColumnFrom(node);
    if (std::find(by.begin(), by.end(), column) != by.end()) FailGivenTwice(node);
    RequireFreeColumn(node, column, form);
    by.push_back(column);
  }
  return by;
}

void RequireOneBy(const Node& aggregate) {
  for (std::size_t i = 2; i < aggregate.children.size(); ++i) {
    const Node& name = *aggregate.children[i]->children.front();
    if (name.string_view() != "by") {
      const bool is_near = !NearestNames(name.string_view(), {"by"}).empty();
      const std::string_view hint = is_near ? " did you mean 'by'?" : "";
      throw Flaw{Code::kUnknownArgument, OffsetOf(name),
                 fmt::format("{} does not take {}=;{} allowed: by=column (conditions belong to "
                             "rates, as in error(column=value))",
                             aggregate.children.front()->string_view(), Shown(name), hint)};
    }
    if (i > 2) FailGivenTwice(name);
  }
}

// --- Constraints ---

Relation Flipped(Relation relation) {
  return relation == Relation::kAtMost ? Relation::kAtLeast : Relation::kAtMost;
}

Relation BuildRelation(const Node& node) {
  const std::string_view sign = node.string_view();
  if (sign == "<=") return Relation::kAtMost;
  if (sign == ">=") return Relation::kAtLeast;
  const bool is_strict = sign == "<" || sign == ">" || sign == "=" || sign == "==";
  throw Flaw{is_strict ? Code::kStrictInequality : Code::kSyntax, OffsetOf(node),
             fmt::format("comparison '{}' is not possible; allowed: '<=' and '>='", Shown(node))};
}

PlacedConstraint BuildAggregate(const Node& aggregate, const Node& other, Relation relation) {
  RequireOneBy(aggregate);
  const std::string_view word = aggregate.children.front()->string_view();
  const LinearForm bound = BuildCanonical(other);
  if (!bound.terms.empty()) FailInArithmetic(bound.terms.front().offset, word);

  const Node& inner = *aggregate.children[1];
  PlacedConstraint placed;
  placed.form = BuildCanonical(inner);
  placed.constraint = {.aggregate = detail::FindAggregate(word),
                       .expression = placed.form.Expression(),
                       .by = BuildGroups(*aggregate.children[2], placed.form),
                       .relation = relation,
                       .bound = bound.constant};
  placed.expression_offset = OffsetOf(inner);
  placed.bound_offset = OffsetOf(other);
  return placed;
}

// Rates to the left, numbers to the right; a text with rates only on the right is turned round.
PlacedConstraint BuildLinear(const Node& left_node, const Node& relation_node,
                             const Node& right_node) {
  const LinearForm left = BuildCanonical(left_node);
  const LinearForm right = BuildCanonical(right_node);
  const bool turn_round = left.terms.empty() && !right.terms.empty();
  PlacedConstraint placed;
  placed.constraint.relation = BuildRelation(relation_node);
  if (turn_round) placed.constraint.relation = Flipped(placed.constraint.relation);

  LinearForm difference = turn_round ? right : left;
  difference.Add(turn_round ? left : right, -1.0);
  difference = difference.Canonical();
  RequireFinite(difference, OffsetOf(relation_node));
  placed.constraint.bound = 0.0 - difference.constant;  // not unary: that would make -0.0
  difference.constant = 0.0;
  placed.constraint.expression = difference.Expression();
  placed.form = std::move(difference);

  placed.expression_offset = OffsetOf(left_node);
  const bool rates_on_both_sides = !left.terms.empty() && !right.terms.empty();
  placed.bound_offset = OffsetOf(rates_on_both_sides ? relation_node
                                 : turn_round        ? left_node
                                                     : right_node);
  return placed;
}

PlacedConstraint BuildConstraint(const Node& root) {
  const Node& left = *root.children[0];
  const Node& relation = *root.children[1];
  const Node& right = *root.children[2];
  PlacedConstraint placed;
  if (left.is_type<grammar::Aggregate>()) {
    placed = BuildAggregate(left, right, BuildRelation(relation));
  } else if (right.is_type<grammar::Aggregate>()) {
    placed = BuildAggregate(right, left, Flipped(BuildRelation(relation)));
  } else {
    placed = BuildLinear(left, relation, right);
  }
  placed.relation_offset = OffsetOf(relation);
  return placed;
}

// --- Texts ---

template <typename Rule>
std::unique_ptr<Node> ParseTree(std::string_view text) {
  detail::CheckCharacters(text);
  pegtl::memory_input input(text.data(), text.data() + text.size(), "");
  try {
    return pegtl::parse_tree::parse<Rule, grammar::Selector, grammar::Action, grammar::Control>(
        input);
  } catch (const pegtl::parse_error& error) {
    const std::size_t offset = error.positions().front().byte;
    throw Flaw{
        Code::kSyntax, offset,
        fmt::format("expected {}, found {}", error.message(), detail::TokenAt(text, offset))};
  }
}

// What has been read can be printed and read again, so the canonical text has the same limit.
template <typename T>
void RequirePrintable(const T& value, std::string_view text) {
  const std::size_t size = ToText(value).size();
  if (size <= detail::kMaxTextBytes) return;
  throw Flaw{Code::kSyntax, text.size(),
             fmt::format("the text in canonical form has {} bytes; at most {} are allowed", size,
                         detail::kMaxTextBytes)};
}

template <typename Parse>
auto WithPosition(std::string_view text, Parse parse) {
  try {
    return parse();
  } catch (const Flaw& flaw) {
    throw ConstraintError(flaw.code, flaw.message, std::string(text),
                          detail::ColumnOf(text, flaw.offset));
  }
}

}  // namespace

Constraint ParseConstraint(std::string_view text) {
  return WithPosition(text, [&] {
    const std::unique_ptr<Node> root = ParseTree<grammar::ConstraintText>(text);
    const PlacedConstraint placed = BuildConstraint(*root);
    detail::CheckConstraint(placed);
    RequirePrintable(placed.constraint, text);
    return placed.constraint;
  });
}

RateExpression ParseExpression(std::string_view text) {
  return WithPosition(text, [&] {
    const std::unique_ptr<Node> root = ParseTree<grammar::ExpressionText>(text);
    const Node& sum = *root->children.front();
    const LinearForm form = BuildCanonical(sum);
    detail::CheckHasRate(form, OffsetOf(sum));
    detail::CheckPrecisionAlone(form);
    RateExpression expression = form.Expression();
    RequirePrintable(expression, text);
    return expression;
  });
}

}  // namespace bregboost
