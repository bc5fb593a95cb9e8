#include "bregboost/problem/parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tao/pegtl/contrib/analyze.hpp>
#include <utility>
#include <vector>

#include "bregboost/problem/constraint_error.h"
#include "problem/detail/grammar.h"

namespace bregboost {
namespace {

using Code = ConstraintErrorCode;

Rate MakeRate(RateKind kind, std::vector<Condition> where = {},
              std::optional<std::string> predicted = std::nullopt) {
  return {.kind = kind, .where = std::move(where), .predicted = std::move(predicted)};
}

Condition Label(std::string value) { return {Column::Label(), std::move(value)}; }
Condition Group(std::string column, std::string value) {
  return {Column::Group(std::move(column)), std::move(value)};
}

Constraint Single(Rate rate, Relation relation, double bound) {
  Constraint constraint;
  constraint.expression.terms = {{.coefficient = 1.0, .rate = std::move(rate)}};
  constraint.relation = relation;
  constraint.bound = bound;
  return constraint;
}

// The only rate of a text such as "error(class=a) <= 5%".
Rate ParsedRate(const std::string& text) {
  return ParseConstraint(text + " >= 50%").expression.terms.at(0).rate;
}

std::string Canonical(std::string_view text) { return ToText(ParseConstraint(text)); }

template <typename Parse>
ConstraintError ErrorOf(Parse parse) {
  try {
    parse();
  } catch (const ConstraintError& error) {
    return error;
  }
  throw std::logic_error("parsed without an error");
}

void ExpectParts(const ConstraintError& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "missing: " << part << "\nin: " << error.what();
  }
}

void ExpectError(const std::string& text, Code code, std::size_t position,
                 const std::vector<std::string>& parts = {}) {
  SCOPED_TRACE(text.substr(0, 200));
  const ConstraintError error = ErrorOf([&] { ParseConstraint(text); });
  EXPECT_EQ(Name(error.code()), Name(code)) << error.what();
  EXPECT_EQ(error.position(), position) << error.what();
  EXPECT_EQ(error.text(), text);
  ExpectParts(error, parts);
}

// --- What the language says ---

TEST(Grammar, HasNoLoopsThatConsumeNothing) {
  EXPECT_EQ(tao::pegtl::analyze<detail::grammar::ConstraintText>(/*verbose=*/1), 0U);
  EXPECT_EQ(tao::pegtl::analyze<detail::grammar::ExpressionText>(/*verbose=*/1), 0U);
}

TEST(ParseConstraint, ReadsARateAgainstAPercentage) {
  EXPECT_EQ(ParseConstraint("fnr <= 5%"),
            Single(MakeRate(RateKind::kFnr), Relation::kAtMost, 0.05));
  EXPECT_EQ(ParseConstraint("precision>=0.6"),
            Single(MakeRate(RateKind::kPrecision), Relation::kAtLeast, 0.6));
}

TEST(ParseConstraint, ReadsConditionsInAnyOrder) {
  const Rate expected =
      MakeRate(RateKind::kError, {Group("race", "B"), Group("sex", "F"), Label("1")});
  EXPECT_EQ(ParsedRate("error(sex=F, class=1, race=B)"), expected);
  EXPECT_EQ(ParsedRate("error(race=B,class=1,sex=F)"), expected);
}

TEST(ParseConstraint, ReadsPredictedClass) {
  EXPECT_EQ(ParsedRate("selection_rate(predicted=A, class=B)"),
            MakeRate(RateKind::kSelectionRate, {Label("B")}, "A"));
  EXPECT_EQ(ParsedRate("precision(sex=F, predicted='A B')"),
            MakeRate(RateKind::kPrecision, {Group("sex", "F")}, "A B"));
}

TEST(ParseConstraint, ReadsAggregates) {
  Constraint expected = Single(MakeRate(RateKind::kFnr), Relation::kAtMost, 0.05);
  expected.aggregate = Aggregate::kGap;
  expected.by = {Column::Group("sex"), Column::Group("race")};
  EXPECT_EQ(ParseConstraint("gap(fnr, by=(sex, race)) <= 5%"), expected);

  expected = Single(MakeRate(RateKind::kSelectionRate), Relation::kAtLeast, 0.8);
  expected.aggregate = Aggregate::kRatio;
  expected.by = {Column::Group("race")};
  EXPECT_EQ(ParseConstraint("80% <= (ratio(selection_rate, by = (race)))"), expected);

  expected = Single(MakeRate(RateKind::kPrecision), Relation::kAtLeast, 0.6);
  expected.aggregate = Aggregate::kMin;
  expected.by = {Column::Group("sex")};
  EXPECT_EQ(ParseConstraint("min(precision, by=sex) >= 60%"), expected);

  expected = Single(MakeRate(RateKind::kError), Relation::kAtMost, 0.3);
  expected.aggregate = Aggregate::kMax;
  expected.expression.constant = 0.1;
  expected.by = {Column::Label()};
  EXPECT_EQ(ParseConstraint("max(error + 10%, by=class) <= 0.3"), expected);
}

TEST(ParseConstraint, ResolvesAliases) {
  EXPECT_EQ(Canonical("churn <= 5%"), "disagreement <= 5%");
  EXPECT_EQ(Canonical("disagrees(sex=F) <= 5%"), "disagreement(sex=F) <= 5%");
  EXPECT_EQ(Canonical("sensitivity >= 5%"), "tpr >= 5%");
  EXPECT_EQ(Canonical("specificity >= 5%"), "tnr >= 5%");
  EXPECT_EQ(Canonical("misses <= 5%"), "fnr <= 5%");
  EXPECT_EQ(Canonical("selected <= 5%"), "selection_rate <= 5%");
}

TEST(ParseConstraint, MovesRatesLeftAndNumbersRight) {
  EXPECT_EQ(Canonical("5% >= fnr"), "fnr <= 5%");
  EXPECT_EQ(Canonical("fpr(sex=F) <= fpr(sex=M) + 1%"), "fpr(sex=F) - fpr(sex=M) <= 1%");
  EXPECT_EQ(Canonical("fnr - 25% <= 25% - fpr"), "fnr + fpr <= 50%");
  EXPECT_EQ(Canonical("50% - fnr >= 25%"), "-fnr >= -25%");
  EXPECT_EQ(Canonical("75% <= 50% - fnr + fnr + tpr"), "tpr >= 25%");
  EXPECT_EQ(Canonical("fnr - fnr + 50% >= fpr"), "fpr <= 50%");
}

TEST(ParseConstraint, MergesEqualRatesInOrderOfFirstAppearance) {
  EXPECT_EQ(Canonical("fpr + fnr + fpr <= 50%"), "2 * fpr + fnr <= 50%");
  EXPECT_EQ(Canonical("(fnr - fnr) + fpr + fnr <= 50%"), "fnr + fpr <= 50%");
  EXPECT_EQ(Canonical("fnr + 0 * fpr + 0.5 * tpr - tpr / 2 <= 50%"), "fnr <= 50%");
  EXPECT_EQ(Canonical("error(a=1, b=2) + error(b=2, a='1') <= 1"), "2 * error(a=1, b=2) <= 100%");
}

TEST(ParseConstraint, ComputesArithmetic) {
  EXPECT_EQ(Canonical("2 * (fnr - 3 * (fpr + 25%)) / 4 <= 0"), "0.5 * fnr - 1.5 * fpr <= 37.5%");
  EXPECT_EQ(Canonical("-(fnr - fpr) <= 0 - -2 / 8 * 1"), "-fnr + fpr <= 25%");
  EXPECT_EQ(Canonical("gap(error, by=sex) <= 2 * 1%"), "gap(error, by=sex) <= 2%");
}

TEST(ParseConstraint, TakesAnySpaceBetweenTokens) {
  EXPECT_EQ(Canonical("\t gap (\r\n error ( class = 1 ) ,by=( sex ,race ) )<=2 % "),
            "gap(error(class=1), by=(sex, race)) <= 2%");
}

TEST(ParseConstraint, ReadsNumbersToTheNearestDouble) {
  const auto bound = [](const std::string& number) {
    return ParseConstraint("loss <= " + number).bound;
  };
  EXPECT_EQ(bound("5%"), 0.05);
  EXPECT_EQ(bound("0.1%"), 0.001);
  EXPECT_EQ(bound("0.7 %"), 0.007);  // 0.7 / 100 is another double
  EXPECT_EQ(bound("1e1%"), 0.1);
  EXPECT_EQ(bound("1E+2%"), 1.0);
  EXPECT_EQ(bound("2.5e-3"), 0.0025);
  EXPECT_EQ(bound(".5"), 0.5);
  EXPECT_EQ(bound("5."), 5.0);
  EXPECT_EQ(bound("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(bound("1e310%"), 1e308);
  EXPECT_EQ(bound("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(bound("0e999999999999"), 0.0);
  EXPECT_FALSE(std::signbit(bound("-0")));
  EXPECT_EQ(Canonical("gap(loss, by=sex) <= -0"), "gap(loss, by=sex) <= 0");
}

TEST(ParseConstraint, TakesOddValuesBare) {
  EXPECT_EQ(ParsedRate("error(class=>50K)"), MakeRate(RateKind::kError, {Label(">50K")}));
  EXPECT_EQ(ParsedRate("error(class=<=50K)"), MakeRate(RateKind::kError, {Label("<=50K")}));
  EXPECT_EQ(ParsedRate("error(race=<missing>)"),
            MakeRate(RateKind::kError, {Group("race", "<missing>")}));
  EXPECT_EQ(ParsedRate("error(path=C:\\a%)"),
            MakeRate(RateKind::kError, {Group("path", "C:\\a%")}));
  EXPECT_EQ(ParsedRate("error(région=Île-de-France)"),
            MakeRate(RateKind::kError, {Group("région", "Île-de-France")}));
  EXPECT_EQ(ParsedRate("error(marital-status=-1.5, v.2=by)"),
            MakeRate(RateKind::kError, {Group("marital-status", "-1.5"), Group("v.2", "by")}));
}

TEST(ParseConstraint, ReadsBothQuotesAndEscapes) {
  EXPECT_EQ(ParsedRate(R"(error("a b"='it\'s'))"),
            MakeRate(RateKind::kError, {Group("a b", "it's")}));
  EXPECT_EQ(ParsedRate(R"(error('a"b'="c\\d\"e'"))"),
            MakeRate(RateKind::kError, {Group("a\"b", "c\\d\"e'")}));
  EXPECT_EQ(ParsedRate(R"(error(x="\x41\x09\xfF", y=''))"),
            MakeRate(RateKind::kError, {Group("x", "A\t\xff"), Group("y", "")}));
  EXPECT_EQ(ParsedRate("error(x=\"(,) <= '\")"),
            MakeRate(RateKind::kError, {Group("x", "(,) <= '")}));
}

TEST(ParseConstraint, QuotedWordsAreGroupColumns) {
  EXPECT_EQ(ParsedRate("error(\"class\"=1, class=2)"),
            MakeRate(RateKind::kError, {Group("class", "1"), Label("2")}));
  EXPECT_EQ(ParsedRate("fnr('predicted'=1, 'by'=2)"),
            MakeRate(RateKind::kFnr, {Group("by", "2"), Group("predicted", "1")}));
  EXPECT_EQ(ParseConstraint("max(error, by=('class', class, \"by\")) <= 5%").by,
            (std::vector<Column>{Column::Group("class"), Column::Label(), Column::Group("by")}));
}

TEST(ParseConstraint, AllowsTheEndsOfTheRange) {
  EXPECT_NO_THROW(ParseConstraint("fnr <= 0%"));
  EXPECT_NO_THROW(ParseConstraint("fnr <= 100%"));
  EXPECT_NO_THROW(ParseConstraint("fnr - fpr <= -100%"));
  EXPECT_NO_THROW(ParseConstraint("gap(fnr - fpr, by=sex) <= 200%"));
  EXPECT_NO_THROW(ParseConstraint("gap(loss, by=sex) <= 1e300"));
  EXPECT_NO_THROW(ParseConstraint("ratio(loss, by=sex) >= 1"));
  EXPECT_NO_THROW(ParseConstraint("max(fnr - 10%, by=sex) <= -10%"));
  EXPECT_NO_THROW(ParseConstraint("0.7 * fnr + 0.1 * fpr <= 80%"));  // 0.7 + 0.1 < 0.8 in doubles
  EXPECT_NO_THROW(ParseConstraint("loss - loss(sex=F) <= -1e9"));
}

TEST(ParseExpression, ReadsObjectives) {
  const RateExpression expected = {
      .terms = {{.coefficient = 1.0, .rate = MakeRate(RateKind::kBalancedError)}}};
  EXPECT_EQ(ParseExpression("balanced_error"), expected);
  EXPECT_EQ(ToText(ParseExpression("25% - 2 * (fnr + fpr)")), "-2 * fnr - 2 * fpr + 25%");
  EXPECT_EQ(ToText(ParseExpression("precision")), "precision");
}

// --- The printer ---

TEST(ToText, QuotesOnlyWhereNeeded) {
  const auto print = [](const std::string& column, const std::string& value) {
    return ToText(MakeRate(RateKind::kError, {Group(column, value)}));
  };
  EXPECT_EQ(print("sex", "F"), "error(sex=F)");
  EXPECT_EQ(print("class", "class"), "error(\"class\"=class)");
  EXPECT_EQ(print("by", "<=50K"), "error(\"by\"=<=50K)");
  EXPECT_EQ(print("predicted", "=x"), "error(\"predicted\"=\"=x\")");
  EXPECT_EQ(print("a b", ""), "error(\"a b\"=\"\")");
  EXPECT_EQ(print("", "a,b"), "error(\"\"=\"a,b\")");
  EXPECT_EQ(print("9", "say \"\\\""), R"(error("9"="say \"\\\""))");
  EXPECT_EQ(print("marital-status", "Île"), "error(marital-status=Île)");
  EXPECT_EQ(print("-x", "a\nb"), R"(error("-x"="a\x0ab"))");
}

TEST(ToText, PrintsPercentWhereItIsReadable) {
  const auto print = [](double bound) {
    return ToText(Single(MakeRate(RateKind::kFnr), Relation::kAtMost, bound));
  };
  EXPECT_EQ(print(0.05), "fnr <= 5%");
  EXPECT_EQ(print(0.07), "fnr <= 7%");
  EXPECT_EQ(print(0.0), "fnr <= 0%");
  EXPECT_EQ(print(-0.05), "fnr <= -5%");
  EXPECT_EQ(print(1.0), "fnr <= 100%");
  EXPECT_EQ(print(12.5), "fnr <= 1250%");
  EXPECT_EQ(print(0.0005), "fnr <= 0.05%");
  EXPECT_EQ(print(1.0 / 3.0), "fnr <= 33.33333333333333%");
  EXPECT_EQ(print(1e-9), "fnr <= 1e-09");
}

TEST(ToText, PrintsLossesInTheirOwnUnit) {
  EXPECT_EQ(Canonical("loss(sex=F) <= 0.5"), "loss(sex=F) <= 0.5");
  EXPECT_EQ(Canonical("max(loss - 0.25, by=sex) <= 50%"), "max(loss - 0.25, by=sex) <= 0.5");
  EXPECT_EQ(Canonical("ratio(loss, by=sex) >= 0.8"), "ratio(loss, by=sex) >= 80%");
}

TEST(ToText, PrintsSignsAndFactors) {
  EXPECT_EQ(Canonical("-0.5 * fnr - fpr + 3 * tpr <= 1"), "-0.5 * fnr - fpr + 3 * tpr <= 100%");
  EXPECT_EQ(Canonical("max(10% - fnr, by=sex) <= 5%"), "max(-fnr + 10%, by=sex) <= 5%");
  EXPECT_EQ(ToText(RateExpression{}), "0%");
}

TEST(ValueRange, IsIntervalArithmetic) {
  const auto range = [](std::string_view text) {
    const Range values = ValueRange(ParseExpression(text));
    return std::pair(values.low, values.high);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(range("fnr"), std::pair(0.0, 1.0));
  EXPECT_EQ(range("fnr - 2 * fpr + 25%"), std::pair(-1.75, 1.25));
  EXPECT_EQ(range("loss"), std::pair(0.0, infinity));
  EXPECT_EQ(range("error - loss"), std::pair(-infinity, 1.0));
  EXPECT_EQ(range("loss - loss(sex=F)"), std::pair(-infinity, infinity));
}

// --- Errors, each at its place ---

TEST(ParseError, Syntax) {
  ExpectError("", Code::kSyntax, 1, {"expected a rate", "found the end of the text"});
  ExpectError("   ", Code::kSyntax, 4);
  ExpectError("fnr", Code::kSyntax, 4, {"'<=' or '>='", "found the end of the text"});
  ExpectError("fnr <=", Code::kSyntax, 7, {"expected a rate"});
  ExpectError("fnr <= 5% <= 6%", Code::kSyntax, 11, {"one comparison", "found '<='"});
  ExpectError("fnr =< 5%", Code::kSyntax, 5, {"'=<'", "allowed: '<=' and '>='"});
  ExpectError("fnr != 5%", Code::kSyntax, 5, {"'!='"});
  ExpectError("fnr \u2264 5%", Code::kSyntax, 5, {"'<=' or '>='", "found '\u2264'"});
  ExpectError("2 fnr <= 5%", Code::kSyntax, 3, {"found 'fnr'"});
  ExpectError("fnr + <= 5%", Code::kSyntax, 7, {"expected a rate", "found '<='"});
  ExpectError("fnr <= --5%", Code::kSyntax, 9, {"found '-'"});
  ExpectError("(fnr <= 5%", Code::kSyntax, 6, {"expected an operator or ')'"});
  ExpectError("fnr) <= 5%", Code::kSyntax, 4, {"found ')'"});
  ExpectError("5 / fnr <= 5%", Code::kSyntax, 5, {"expected a number after '/'", "found 'fnr'"});
  ExpectError("fnr * fpr <= 5%", Code::kSyntax, 7, {"product of two rates"});
  ExpectError("fnr <= .", Code::kSyntax, 8, {"found '.'"});
  ExpectError("fnr <= 5%%", Code::kSyntax, 10, {"found '%'"});
  ExpectError("fnr <= 5% and fpr <= 5%", Code::kSyntax, 11, {"found 'and'"});
}

TEST(ParseError, SyntaxOfArguments) {
  ExpectError("error() <= 5%", Code::kSyntax, 7, {"class=value"});
  ExpectError("error(sex) <= 5%", Code::kSyntax, 10, {"'=' and a value", "found ')'"});
  ExpectError("error(sex=) <= 5%", Code::kSyntax, 11, {"expected a value", "found ')'"});
  ExpectError("error(sex==F) <= 5%", Code::kSyntax, 11, {"expected a value", "found '='"});
  ExpectError("error(sex=F M) <= 5%", Code::kSyntax, 13, {"quote values", "found 'M'"});
  ExpectError("error(sex=F, ) <= 5%", Code::kSyntax, 14, {"class=value"});
  ExpectError("error(sex=F <= 5%", Code::kSyntax, 13, {"',' or ')'"});
  ExpectError("error(sex=\"F) <= 5%", Code::kSyntax, 11, {"quote \" is never closed"});
  ExpectError("error(sex=it's) <= 5%", Code::kSyntax, 13, {"quote ' is never closed"});
  ExpectError(R"(error(sex="a\n") <= 5%)", Code::kSyntax, 14, {"escape", "found 'n'"});
}

TEST(ParseError, SyntaxOfAggregates) {
  ExpectError("gap <= 5%", Code::kSyntax, 5, {"'(' after an aggregate"});
  ExpectError("gap(error) <= 5%", Code::kSyntax, 10, {"by=column", "found ')'"});
  ExpectError("max(fnr, fpr) <= 5%", Code::kSyntax, 10, {"expected by=column", "found 'fpr'"});
  ExpectError("gap(error, by=) <= 5%", Code::kSyntax, 15, {"column name"});
  ExpectError("gap(error, by=()) <= 5%", Code::kSyntax, 16, {"column name"});
  ExpectError("gap(error, by=(sex race)) <= 5%", Code::kSyntax, 20, {"',' or ')'"});
  ExpectError("gap(error, by=sex, race) <= 5%", Code::kSyntax, 20, {"expected by=column"});
  ExpectError("gap(error, by=sex <= 5%", Code::kSyntax, 19, {"')' to close the aggregate"});
}

TEST(ParseError, BytesAndLimits) {
  ExpectError(std::string("fnr \0<= 5%", 10), Code::kSyntax, 5, {"control byte \\x00"});
  ExpectError("error(x=\"\x01\") <= 5%", Code::kSyntax, 10, {"\\x01"});
  ExpectError("error(x=\"a\tb\") <= 5%", Code::kSyntax, 11, {"\\x09"});
  ExpectError("error(x=\"a\\\n\") <= 5%", Code::kSyntax, 12, {"\\x0a"});
  ExpectError("error(x=a\x7f) <= 5%", Code::kSyntax, 10, {"\\x7f"});

  ExpectError(std::string(70000, '('), Code::kSyntax, 65537, {"70000 bytes", "65536"});
  ExpectError(std::string(60000, '('), Code::kSyntax, 101, {"nested deeper than 100"});
  const std::string deep(100, '(');
  EXPECT_EQ(Canonical(deep + "fnr" + std::string(100, ')') + " <= 5%"), "fnr <= 5%");
  ExpectError(std::string(101, '(') + "fnr", Code::kSyntax, 101, {"nested"});

  std::string long_sum = "0 <= 0";
  for (int i = 0; long_sum.size() < 65000; ++i) long_sum += "+fnr(a=" + std::to_string(i) + ")";
  ExpectError(long_sum, Code::kSyntax, long_sum.size() + 1, {"canonical form"});
}

TEST(ParseError, PositionsCountCharacters) {
  ExpectError("error(r\u00e9gion=\u00cele) <= 120%", Code::kBoundOutOfRange, 22);
  ExpectError("error(\xff\xfe=\x80) <= 120%", Code::kBoundOutOfRange, 15);
}

TEST(ParseError, MessageIsPrintableAndBounded) {
  const ConstraintError error =
      ErrorOf([] { ParseConstraint(std::string(5000, 'x') + std::string("\0 <= 1", 6)); });
  EXPECT_LT(std::string_view(error.what()).size(), 400U);
  EXPECT_EQ(std::string(error.what()).find("constraint 'xxx"), 0U);
  EXPECT_NE(std::string(error.what()).find("...', column 5001: control byte"), std::string::npos);
  ExpectParts(ErrorOf([] { ParseConstraint("fnr \x01"); }), {"constraint 'fnr \\x01', column 5: "});
  EXPECT_STREQ(ConstraintError(Code::kUnknownColumn, "why", "fnr <= 5%").what(),
               "constraint 'fnr <= 5%': why");
}

TEST(ParseError, UnknownRate) {
  ExpectError("fnrr <= 5%", Code::kUnknownRate, 1,
              {"column 1: unknown rate 'fnrr'; did you mean 'fnr'? known rates: error, accuracy, "
               "balanced_error, loss, disagreement, selection_rate, recall, precision, fnr, fpr, "
               "tpr, tnr"});
  ExpectError("5% >= 2 * (fnr + acuracy(sex=F))", Code::kUnknownRate, 18,
              {"'acuracy'; did you mean 'accuracy'?"});
  ExpectError("FNR <= 5%", Code::kUnknownRate, 1, {"'FNR'; did you mean 'fnr'"});
  ExpectError("gapp(error, by=sex) <= 2%", Code::kUnknownRate, 1, {"did you mean 'gap'?"});
  ExpectError("sensitivty >= 2%", Code::kUnknownRate, 1, {"did you mean 'sensitivity'?"});
  ExpectError("inf <= 2%", Code::kUnknownRate, 1, {"unknown rate 'inf'; known rates: error"});
  ExpectError("class <= 2%", Code::kUnknownRate, 1, {"unknown rate 'class'"});
}

TEST(ParseError, UnknownArgument) {
  ExpectError("fnr(class=1) <= 5%", Code::kUnknownArgument, 5,
              {"fnr does not take class=; allowed: group columns"});
  for (const char* rate : {"fpr", "tpr", "tnr", "balanced_error", "precision"}) {
    const std::string name = rate;
    ExpectError(name + "(sex=F, class=1) >= 5%", Code::kUnknownArgument, name.size() + 9,
                {name + " does not take class="});
  }
  ExpectError("error(predicted=1) <= 5%", Code::kUnknownArgument, 7,
              {"error does not take predicted=; allowed: class=, group columns"});
  ExpectError("error(by=sex) <= 5%", Code::kUnknownArgument, 7, {"gap(error, by=column)"});
  ExpectError("error(class=1, class=2) <= 5%", Code::kUnknownArgument, 16,
              {"class is given twice"});
  ExpectError("error(a=1, 'a'=2) <= 5%", Code::kUnknownArgument, 12, {"'a' is given twice"});
  ExpectError("precision(predicted=1, predicted=1) >= 5%", Code::kUnknownArgument, 24,
              {"predicted is given twice"});
}

TEST(ParseError, UnknownArgumentOfAggregates) {
  ExpectError("gap(error, bye=sex) <= 5%", Code::kUnknownArgument, 12,
              {"gap does not take bye=; did you mean 'by'? allowed: by=column"});
  ExpectError("gap(error, sex=F) <= 5%", Code::kUnknownArgument, 12,
              {"gap does not take sex=; allowed: by=column"});
  ExpectError("gap(error, by=sex, by=race) <= 5%", Code::kUnknownArgument, 20,
              {"by is given twice"});
  ExpectError("gap(error, by=(sex, race, sex)) <= 5%", Code::kUnknownArgument, 27,
              {"sex is given twice"});
  ExpectError("gap(fnr - error(sex=F), by=(race, sex)) <= 5%", Code::kUnknownArgument, 35,
              {"by=sex", "error(sex=F)"});
  ExpectError("max(error(class=1), by=class) <= 5%", Code::kUnknownArgument, 24, {"by=class"});
  ExpectError("max(fnr, by=class) <= 5%", Code::kUnknownArgument, 13,
              {"by=class does not fit fnr"});
  ExpectError("gap(error, by=predicted) <= 5%", Code::kUnknownArgument, 15,
              {"written \"predicted\""});
  ExpectError("gap(error, by=(sex, by)) <= 5%", Code::kUnknownArgument, 21, {"written \"by\""});
}

TEST(ParseError, NumberOutOfRange) {
  ExpectError("fnr <= 1e309", Code::kNumberOutOfRange, 8, {"number 1e309", "1e308"});
  ExpectError("fnr <= 1e-400%", Code::kNumberOutOfRange, 8, {"number 1e-400%"});
  ExpectError("fnr <= 1e99999999999999999999%", Code::kNumberOutOfRange, 8);
  ExpectError("fnr <= 1e-99999999999999999999", Code::kNumberOutOfRange, 8);
  ExpectError("fnr / 0.0 <= 5%", Code::kNumberOutOfRange, 7, {"division by 0.0"});
  ExpectError("fnr <= 0 * (1e308 * 10)", Code::kNumberOutOfRange, 13, {"range of a double"});
  ExpectError("1e308 * fnr <= -1e308 * fnr", Code::kNumberOutOfRange, 13);
  ExpectError("fpr + 1e308 * fnr + 1e308 * fnr <= 5%", Code::kNumberOutOfRange, 1);
  ExpectError("loss - 1e308 <= 1e308", Code::kNumberOutOfRange, 14);
}

TEST(ParseError, StrictInequality) {
  ExpectError("fnr < 5%", Code::kStrictInequality, 5, {"comparison '<'", "allowed: '<=' and '>='"});
  ExpectError("fnr > 5%", Code::kStrictInequality, 5, {"comparison '>'"});
  ExpectError("fnr = 5%", Code::kStrictInequality, 5, {"comparison '='"});
  ExpectError("gap(error, by=sex) == 5%", Code::kStrictInequality, 20, {"comparison '=='"});
}

TEST(ParseError, NoRate) {
  ExpectError("5% <= 6%", Code::kNoRate, 1, {"no rate is left", "fnr <= 5%"});
  ExpectError("  fnr <= fnr", Code::kNoRate, 3, {"no rate is left"});
  ExpectError("gap(5%, by=sex) <= 6%", Code::kNoRate, 5);
  ExpectError("gap(fnr - fnr, by=sex) <= 6%", Code::kNoRate, 5);
}

TEST(ParseError, BoundOutOfRange) {
  ExpectError("fnr <= 120%", Code::kBoundOutOfRange, 8,
              {"bound 120% is out of range for 'fnr'; allowed: 0% to 100%"});
  ExpectError("fnr <= 5", Code::kBoundOutOfRange, 8,
              {"bound 500% is out of range for 'fnr'; allowed: 0% to 100%; did you mean 5%?"});
  ExpectError("fnr >= -1%", Code::kBoundOutOfRange, 8, {"bound -1%"});
  ExpectError("  120% >= fnr", Code::kBoundOutOfRange, 3, {"bound 120%"});
  ExpectError("fnr <= fpr + 101%", Code::kBoundOutOfRange, 5,
              {"'fnr - fpr'; allowed: -100% to 100%"});
  ExpectError("loss <= -0.5", Code::kBoundOutOfRange, 9,
              {"bound -0.5 is out of range for 'loss'; allowed: 0 or more"});
  ExpectError("error - loss <= 2", Code::kBoundOutOfRange, 17, {"allowed: 1 or less"});
  ExpectError("gap(fnr, by=sex) <= -1%", Code::kBoundOutOfRange, 21,
              {"'gap(fnr)'; allowed: 0% to 100%"});
  ExpectError("gap(fnr - fpr, by=sex) <= 201%", Code::kBoundOutOfRange, 27, {"0% to 200%"});
  ExpectError("ratio(loss, by=sex) >= 101%", Code::kBoundOutOfRange, 24, {"0% to 100%"});
  ExpectError("max(fnr + 10%, by=sex) <= 5%", Code::kBoundOutOfRange, 27, {"10% to 110%"});
  ExpectError("min(fnr, by=sex) >= 1.5", Code::kBoundOutOfRange, 21, {"0% to 100%"});
}

TEST(ParseError, PrecisionNotLinear) {
  ExpectError("precision - fnr >= 5%", Code::kPrecisionNotLinear, 1, {"arithmetic"});
  ExpectError("60% <= fnr + precision(sex=F)", Code::kPrecisionNotLinear, 14, {"arithmetic"});
  ExpectError("2 * precision >= 60%", Code::kPrecisionNotLinear, 5, {"precision >= bound"});
  ExpectError("gap(precision, by=sex) <= 5%", Code::kPrecisionNotLinear, 5,
              {"precision cannot stand inside gap", "min(precision, by=column) >= bound"});
  ExpectError("ratio(precision, by=sex) >= 5%", Code::kPrecisionNotLinear, 7, {"inside ratio"});
  ExpectError("max(precision + fnr, by=sex) <= 5%", Code::kPrecisionNotLinear, 5);
  ExpectError("min(precision + 10%, by=sex) >= 5%", Code::kPrecisionNotLinear, 5);
}

TEST(ParseError, PrecisionUpperBound) {
  ExpectError("precision <= 5%", Code::kPrecisionUpperBound, 11, {"precision >= bound"});
  ExpectError("5% >= precision", Code::kPrecisionUpperBound, 4);
  ExpectError("max(precision, by=sex) <= 5%", Code::kPrecisionUpperBound, 24,
              {"min(precision, by=column)"});
}

TEST(ParseError, Directions) {
  ExpectError("gap(error, by=sex) >= 5%", Code::kGapLowerBound, 20, {"allowed: gap(...) <= x"});
  ExpectError("5% <= gap(error, by=sex)", Code::kGapLowerBound, 4);
  ExpectError("ratio(error, by=sex) <= 5%", Code::kRatioUpperBound, 22, {"ratio(...) >= x"});
  ExpectError("max(error, by=sex) >= 5%", Code::kAggregateDirection, 20, {"max(...) <= x"});
  ExpectError("min(error, by=sex) <= 5%", Code::kAggregateDirection, 20, {"min(...) >= x"});
}

TEST(ParseError, AggregateInArithmetic) {
  ExpectError("gap(error, by=sex) + 1 <= 5%", Code::kAggregateInArithmetic, 1,
              {"gap stands alone against a number", "gap(expression, by=column) <= number"});
  ExpectError("fnr + 2 * min(error, by=sex) >= 5%", Code::kAggregateInArithmetic, 11,
              {"min(expression, by=column) >= number"});
  ExpectError("-gap(error, by=sex) >= -5%", Code::kAggregateInArithmetic, 2);
  ExpectError("gap(max(error, by=race), by=sex) <= 5%", Code::kAggregateInArithmetic, 5);
  ExpectError("gap(error, by=sex) <= gap(error, by=race)", Code::kAggregateInArithmetic, 23);
  ExpectError("gap(error, by=sex) <= 5% + fnr", Code::kAggregateInArithmetic, 28);
}

TEST(ParseError, RatioNotSingleRate) {
  ExpectError("ratio(fnr + fpr, by=sex) >= 80%", Code::kRatioNotSingleRate, 7,
              {"ratio of 'fnr + fpr'", "ratio of one rate"});
  ExpectError("ratio(2 * fnr, by=sex) >= 80%", Code::kRatioNotSingleRate, 7);
  ExpectError("ratio(fnr + 10%, by=sex) >= 80%", Code::kRatioNotSingleRate, 7);
}

TEST(ParseError, OfExpressions) {
  const auto expect = [](std::string_view text, Code code, std::size_t position) {
    const ConstraintError error = ErrorOf([&] { ParseExpression(text); });
    EXPECT_EQ(Name(error.code()), Name(code)) << error.what();
    EXPECT_EQ(error.position(), position) << error.what();
  };
  expect("", Code::kSyntax, 1);
  expect("fnr <= 5%", Code::kSyntax, 5);
  expect("fnr + gap(error, by=sex)", Code::kAggregateInArithmetic, 7);
  expect("gap(error, by=sex)", Code::kAggregateInArithmetic, 1);
  expect("fnr + precision", Code::kPrecisionNotLinear, 7);
  expect(" 5%", Code::kNoRate, 2);
  expect("1e308 * fnr + 1e308 * fnr", Code::kNumberOutOfRange, 1);
}

TEST(Name, IsUniquePerCodeAndRate) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Code::kNeedsBaseline); ++i) {
    EXPECT_TRUE(names.insert(Name(static_cast<Code>(i))).second) << i;
  }
  EXPECT_EQ(Name(Code::kUnknownRate), "unknown-rate");
  for (int i = 0; i <= static_cast<int>(RateKind::kTnr); ++i) {
    const auto kind = static_cast<RateKind>(i);
    EXPECT_TRUE(names.insert(Name(kind)).second) << i;
    EXPECT_EQ(ParsedRate(std::string(Name(kind))).kind, kind);
  }
}

TEST(NearestNames, FindsSlipsInOrderOfDistance) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NearestNames("fr", {"tpr", "fnr", "fpr"}), (Names{"fnr", "fpr"}));
  EXPECT_EQ(NearestNames("Gender", {"gendre", "gender", "age"}), (Names{"gender", "gendre"}));
  EXPECT_EQ(NearestNames("aaaaaa", {"aaaaab", "aaaabb", "aaaaaa", "aaaaac"}),
            (Names{"aaaaaa", "aaaaab", "aaaaac"}));
  EXPECT_EQ(NearestNames("M", {"F", "m"}), Names{"m"});
  EXPECT_EQ(NearestNames("education", {"sex", "race"}), Names{});
  EXPECT_EQ(NearestNames("", {"", "a"}), Names{""});
  EXPECT_EQ(NearestNames("x", {}), Names{});
}

}  // namespace
}  // namespace bregboost
