// The PEGTL rules of the constraint language. The grammar is deterministic: the first token of
// every alternative decides, so parsing takes linear time and an error's position is final.
//
// Rules that become nodes of the tree are listed at `Selector`; every rule under `must` has its
// message at `kExpected`. `CheckCharacters` has already refused what these rules do not look at.
#pragma once

#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "problem/detail/rate_words.h"
#include "problem/detail/text.h"

namespace bregboost::detail::grammar {

namespace pegtl = tao::pegtl;

// --- Tokens; each takes the space after it, nodes do not ---

struct Space : pegtl::star<pegtl::one<' ', '\t', '\n', '\r'>> {};
template <typename Rule>
struct Token : pegtl::seq<Rule, Space> {};
template <char c>
struct Symbol : Token<pegtl::one<c>> {};

struct Fraction : pegtl::seq<pegtl::one<'.'>, pegtl::star<pegtl::digit>> {};
struct LeadingPoint : pegtl::seq<pegtl::at<pegtl::one<'.'>, pegtl::digit>, Fraction> {};
struct Mantissa : pegtl::sor<pegtl::seq<pegtl::plus<pegtl::digit>, pegtl::opt<Fraction>>,  //
                             LeadingPoint> {};
struct Exponent : pegtl::seq<pegtl::one<'e', 'E'>, pegtl::opt<pegtl::one<'+', '-'>>,
                             pegtl::plus<pegtl::digit>> {};
struct Percent : pegtl::seq<Space, pegtl::one<'%'>> {};
struct Number : pegtl::seq<Mantissa, pegtl::opt<Exponent>, pegtl::opt<Percent>> {};

struct NonAscii : pegtl::range<'\x80', '\xff'> {};
struct WordStart : pegtl::sor<pegtl::identifier_first, NonAscii> {};
struct WordPart : pegtl::sor<pegtl::identifier_other, NonAscii> {};
struct Word : pegtl::seq<WordStart, pegtl::star<WordPart>> {};
// No arithmetic where columns stand, so `marital-status` needs no quotes there.
struct ColumnPart : pegtl::sor<WordPart, pegtl::one<'-', '.'>> {};
struct ColumnWord : pegtl::seq<WordStart, pegtl::star<ColumnPart>> {};

struct HexEscape : pegtl::seq<pegtl::one<'x'>, pegtl::xdigit, pegtl::xdigit> {};
struct EscapeTail : pegtl::sor<pegtl::one<'\\', '"', '\''>, HexEscape> {};
struct Escape : pegtl::if_must<pegtl::one<'\\'>, EscapeTail> {};
template <char quote>
struct QuotedBy : pegtl::seq<pegtl::one<quote>,
                             pegtl::until<pegtl::one<quote>, pegtl::sor<Escape, pegtl::any>>> {};
struct Quoted : pegtl::sor<QuotedBy<'"'>, QuotedBy<'\''>> {};

// `=` may not open a bare value, so that `class==5` is an error, but `class=<=50K` reads as meant.
struct ValueCharacter : pegtl::not_one<' ', '\t', '\n', '\r', ',', '(', ')', '"', '\''> {};
struct BareValue : pegtl::seq<pegtl::not_at<pegtl::one<'='>>, pegtl::plus<ValueCharacter>> {};

struct Column : Token<pegtl::sor<Quoted, ColumnWord>> {};
struct Value : Token<pegtl::sor<Quoted, BareValue>> {};

// --- Rates ---

struct RateWord : Word {};  // its action refuses unknown words
struct Equals : Symbol<'='> {};
struct Argument : pegtl::if_must<Column, Equals, Value> {};
struct CloseArguments : Symbol<')'> {};
struct Arguments
    : pegtl::seq<Symbol<'('>, pegtl::must<Argument>,
                 pegtl::star<Symbol<','>, pegtl::must<Argument>>, pegtl::must<CloseArguments>> {};
struct Rate : pegtl::seq<Token<RateWord>, pegtl::opt<Arguments>> {};

// --- Aggregates ---

struct Sum;
struct AggregateWord : pegtl::seq<pegtl::sor<TAO_PEGTL_STRING("gap"), TAO_PEGTL_STRING("ratio"),
                                             TAO_PEGTL_STRING("max"), TAO_PEGTL_STRING("min")>,
                                  pegtl::not_at<WordPart>> {};
struct OpenAggregate : Symbol<'('> {};
struct GroupsComma : Symbol<','> {};
struct GroupsWord : Word {};
// Looks ahead to the `=`, so that the error of `max(fnr, fpr)` points at `fpr`.
struct GroupsName : pegtl::seq<pegtl::at<Word, Space, pegtl::one<'='>>,  //
                               Token<GroupsWord>, Symbol<'='>> {};
struct CloseColumns : Symbol<')'> {};
struct ColumnList
    : pegtl::seq<Symbol<'('>, pegtl::must<Column>, pegtl::star<Symbol<','>, pegtl::must<Column>>,
                 pegtl::must<CloseColumns>> {};
struct Columns : pegtl::sor<ColumnList, Column> {};
struct Groups : pegtl::must<GroupsName, Columns> {};
struct CloseAggregate : Symbol<')'> {};
struct Aggregate
    : pegtl::seq<Token<AggregateWord>, pegtl::must<OpenAggregate, Sum, GroupsComma>, Groups,
                 pegtl::star<Symbol<','>, Groups>, pegtl::must<CloseAggregate>> {};

// --- Arithmetic ---

struct CloseParenthesis : Symbol<')'> {};
struct Parentheses : pegtl::if_must<Symbol<'('>, Sum, CloseParenthesis> {};
struct Primary : pegtl::sor<Token<Number>, Aggregate, Rate, Parentheses> {};
struct Negation : pegtl::if_must<Symbol<'-'>, Primary> {};
struct Factor : pegtl::sor<Negation, Primary> {};
struct Times : pegtl::if_must<Symbol<'*'>, Factor> {};
struct Divisor : Token<Number> {};
struct Over : pegtl::if_must<Symbol<'/'>, Divisor> {};
struct Product : pegtl::seq<Factor, pegtl::star<pegtl::sor<Times, Over>>> {};
struct Plus : pegtl::if_must<Symbol<'+'>, Product> {};
struct Minus : pegtl::if_must<Symbol<'-'>, Product> {};
struct Sum : pegtl::seq<Product, pegtl::star<pegtl::sor<Plus, Minus>>> {};

// --- Whole texts ---

// Takes every run of comparison signs: the builder tells `<` from `=>`.
struct Relation : pegtl::plus<pegtl::one<'<', '>', '=', '!'>> {};
struct Comparison : Token<Relation> {};
struct ConstraintEnd : pegtl::eof {};
struct ExpressionEnd : pegtl::eof {};
struct ConstraintText : pegtl::seq<Space, pegtl::must<Sum, Comparison, Sum, ConstraintEnd>> {};
struct ExpressionText : pegtl::seq<Space, pegtl::must<Sum, ExpressionEnd>> {};

template <typename Rule>
using Selector = pegtl::parse_tree::selector<
    Rule,
    pegtl::parse_tree::store_content::on<Number, RateWord, ColumnWord, Quoted, BareValue, Argument,
                                         Rate, AggregateWord, GroupsWord, Groups, Aggregate,
                                         Negation, Times, Over, Plus, Minus, Relation>,
    pegtl::parse_tree::fold_one::on<Product, Sum>>;

// What was expected where a rule under `must` did not match.
template <typename Rule>
inline constexpr const char* kExpected = nullptr;
inline constexpr const char* kOperand = "a rate, an aggregate, a number or '('";
template <>
inline constexpr const char* kExpected<Sum> = kOperand;
template <>
inline constexpr const char* kExpected<Product> = kOperand;
template <>
inline constexpr const char* kExpected<Factor> = kOperand;
template <>
inline constexpr const char* kExpected<Primary> = kOperand;
template <>
inline constexpr const char* kExpected<Divisor> = "a number after '/'";
template <>
inline constexpr const char* kExpected<EscapeTail> =
    "one of \\ \" ' or two hexadecimal digits after x to complete the escape";
template <>
inline constexpr const char* kExpected<Argument> =
    "an argument such as class=value or column=value";
template <>
inline constexpr const char* kExpected<Equals> = "'=' and a value after the argument's name";
template <>
inline constexpr const char* kExpected<Value> =
    "a value after '=' (quote it if it holds spaces or special characters)";
template <>
inline constexpr const char* kExpected<CloseArguments> =
    "',' or ')' after the argument (quote values that hold spaces or special characters)";
template <>
inline constexpr const char* kExpected<OpenAggregate> =
    "'(' after an aggregate, as in gap(error, by=column)";
template <>
inline constexpr const char* kExpected<GroupsComma> =
    "an operator, or ', by=column' to complete the aggregate";
template <>
inline constexpr const char* kExpected<GroupsName> = "by=column, as in gap(error, by=column)";
template <>
inline constexpr const char* kExpected<Columns> = "a column name or (column, column) after by=";
template <>
inline constexpr const char* kExpected<Column> = "a column name";
template <>
inline constexpr const char* kExpected<CloseColumns> = "',' or ')' after the column";
template <>
inline constexpr const char* kExpected<CloseAggregate> =
    "')' to close the aggregate (several columns are written by=(column, column))";
template <>
inline constexpr const char* kExpected<CloseParenthesis> = "an operator or ')'";
template <>
inline constexpr const char* kExpected<Comparison> = "an operator, '<=' or '>='";
template <>
inline constexpr const char* kExpected<ConstraintEnd> =
    "an operator or the end of the constraint (it holds one comparison)";
template <>
inline constexpr const char* kExpected<ExpressionEnd> = "an operator or the end of the expression";

struct Expectations {
  template <typename Rule>
  static constexpr const char* message = kExpected<Rule>;
  // Only `must` raises: a rule that fails elsewhere lets the next alternative try.
  template <typename Rule>
  static constexpr bool raise_on_failure = false;
};
template <typename Rule>
using Control = pegtl::must_if<Expectations>::control<Rule>;

template <typename Rule>
struct Action : pegtl::nothing<Rule> {};

// Early, since the arguments of a misspelt aggregate would not parse as those of a rate.
template <>
struct Action<RateWord> {
  template <typename ActionInput>
  static void apply(const ActionInput& word) {
    if (FindRate(word.string_view())) return;
    throw Flaw{ConstraintErrorCode::kUnknownRate, word.position().byte,
               UnknownRateMessage(word.string_view())};
  }
};

}  // namespace bregboost::detail::grammar
