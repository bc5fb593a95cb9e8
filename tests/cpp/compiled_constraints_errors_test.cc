// What data cannot answer: every error names the field, the value and what is allowed.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/problem/compiled_constraints.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using Code = ConstraintErrorCode;
using Texts = std::vector<std::string>;
using test::BinaryRows;
using test::FourClassRows;
using test::ParseAll;
using test::RegressionRows;
using test::RowsWithHoles;

// The last text is the one that fails.
void ExpectError(const Texts& texts, const RowData& rows, Code code, const Texts& parts) {
  SCOPED_TRACE(texts.back());
  try {
    Compile(ParseAll(texts), rows);
    FAIL() << "compiled without an error";
  } catch (const ConstraintError& error) {
    const std::string message = error.what();
    EXPECT_EQ(Name(error.code()), Name(code)) << message;
    EXPECT_EQ(error.text(), ToText(ParseConstraint(texts.back())));
    EXPECT_EQ(error.position(), std::nullopt);
    EXPECT_EQ(message.find("constraint '" + error.text() + "': "), 0U) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos)
          << "missing: " << part << "\nin: " << message;
    }
  }
}

void ExpectCompiles(const Texts& texts, const RowData& rows) {
  EXPECT_NO_THROW(Compile(ParseAll(texts), rows)) << texts.back();
}

TEST(CompileError, UnknownColumn) {
  const RowData rows = BinaryRows(50, 1);
  ExpectError({"error(sexx=F) <= 5%"}, rows, Code::kUnknownColumn,
              {"unknown group column 'sexx'", "did you mean 'sex'?", "allowed: sex, race"});
  ExpectError({"gap(error, by=rase) <= 5%"}, rows, Code::kUnknownColumn,
              {"unknown group column 'rase'", "did you mean 'race'?"});
  ExpectError({"gap(error, by=(sex, education)) <= 5%"}, rows, Code::kUnknownColumn,
              {"unknown group column 'education'; allowed: sex, race"});
  ExpectError({"error(\"class\"=1) <= 5%"}, rows, Code::kUnknownColumn,
              {"'class'"});  // not the label
  const std::string is_label = "'y' is the label, not a group column; allowed: class=...";
  ExpectError({"error(y=no) <= 5%"}, RowsWithHoles(), Code::kUnknownColumn, {is_label});
  ExpectError({"gap(error, by=y) <= 5%"}, RowsWithHoles(), Code::kUnknownColumn, {is_label});
  RowData no_groups = rows;
  no_groups.groups.clear();
  ExpectError({"error(sex=F) <= 5%"}, no_groups, Code::kUnknownColumn,
              {"'sex'", "allowed: none, the data has no group columns"});
}

TEST(CompileError, UnknownClass) {
  const RowData rows = BinaryRows(50, 2);
  ExpectError({"error(class=yess) <= 5%"}, rows, Code::kUnknownClass,
              {"class 'yess' does not occur in the labels; did you mean 'yes'? allowed: no, yes"});
  ExpectError({"precision(predicted=1) >= 5%"}, rows, Code::kUnknownClass,
              {"class '1' does not occur in the labels; allowed: no, yes"});
  ExpectError({"selection_rate(predicted=2) >= 5%"}, FourClassRows(50, 2), Code::kUnknownClass,
              {"class '2'", "allowed: a, b, c, d"});
}

TEST(CompileError, UnknownGroup) {
  const RowData rows = BinaryRows(50, 3);
  ExpectError({"error(sex=f) <= 5%"}, rows, Code::kUnknownGroup,
              {"value 'f' does not occur in group column 'sex'; did you mean 'F'? allowed: F, M"});
  ExpectError({"fnr(race=Other, sex=F) <= 5%"}, rows, Code::kUnknownGroup,
              {"value 'Other' does not occur in group column 'race'; allowed: A, B, C"});
}

TEST(CompileError, LongListsOfAllowedValuesAreCut) {
  RowData rows = BinaryRows(50, 4);
  for (int i = 0; i < 30; ++i) rows.groups[0].levels.push_back("level " + std::to_string(i));
  ExpectError({"error(sex=Z) <= 5%"}, rows, Code::kUnknownGroup,
              {"allowed: F, M, level 0", "level 17, ... (32 values)"});
}

TEST(CompileError, EmptySubset) {
  const RowData rows = RowsWithHoles();
  const std::string allowed = "(or their weights are all 0); allowed: at least one row";
  ExpectError({"error(sex=X) <= 5%"}, rows, Code::kEmptySubset, {"no rows with sex=X " + allowed});
  ExpectError({"fnr(sex=F) <= 5%"}, rows, Code::kEmptySubset,
              {"no rows with sex=F, class=yes " + allowed});
  ExpectError({"gap(fnr, by=sex) <= 5%"}, rows, Code::kEmptySubset, {"class=yes, sex=F"});
  ExpectError({"precision(sex=X) >= 5%"}, rows, Code::kEmptySubset, {"sex=X"});
  ExpectError({"balanced_error(sex=F) <= 5%"}, rows, Code::kEmptySubset, {"sex=F, class=yes"});
  ExpectCompiles({"fpr(sex=F) <= 5%"}, rows);
}

TEST(CompileError, EmptySubsetOfRowsThatWeighNothing) {
  RowData rows = RowsWithHoles();
  rows.rate_weights = {1.0, 0.0, 1.0, 0.0};
  ExpectError({"error(sex=M) <= 5%"}, rows, Code::kEmptySubset, {"no rows with sex=M"});
  ExpectError({"gap(error, by=sex) <= 5%"}, rows, Code::kEmptySubset, {"no rows with sex=M"});
}

TEST(CompileError, ClassWithoutRows) {
  RowData rows = FourClassRows(50, 5);
  for (std::int32_t& code : rows.labels.codes) code = code == 3 ? 0 : code;
  ExpectError({"error(class=d) <= 5%"}, rows, Code::kEmptySubset, {"no rows with class=d"});
  ExpectError({"balanced_error <= 5%"}, rows, Code::kEmptySubset, {"no rows with class=d"});
  ExpectCompiles({"selection_rate(predicted=d) <= 5%"}, rows);
}

TEST(CompileError, TooFewGroups) {
  RowData rows = BinaryRows(50, 6);
  rows.groups[0].codes.assign(50, 1);  // M alone, though F is a level
  const Texts parts = {"the data has 1 group(s) to compare; allowed: 2 or more"};
  ExpectError({"gap(error, by=sex) <= 5%"}, rows, Code::kTooFewGroups, parts);
  ExpectError({"ratio(error, by=sex) >= 5%"}, rows, Code::kTooFewGroups, parts);
  ExpectCompiles({"max(error, by=sex) <= 5%", "min(accuracy, by=sex) >= 5%"}, rows);
}

TEST(CompileError, TooManyGroups) {
  RowData rows = BinaryRows(1000, 7);
  CategoricalColumn& column = rows.groups[0];
  for (int level = static_cast<int>(column.levels.size()); level < 201; ++level) {
    column.levels.push_back(std::to_string(level));
  }
  for (std::size_t i = 0; i < column.codes.size(); ++i) {
    column.codes[i] = static_cast<std::int32_t>(i % 201);
  }
  const Texts parts = {"the data has 201 groups to compare; allowed: at most 200"};
  ExpectError({"gap(error, by=sex) <= 5%"}, rows, Code::kTooManyGroups, parts);
  ExpectError({"ratio(error, by=sex) >= 5%"}, rows, Code::kTooManyGroups, parts);
  ExpectCompiles({"max(error, by=sex) <= 5%"}, rows);
}

// Both orders; the later constraint is refused and names the earlier.
void ExpectContradiction(const std::string& a, const std::string& b, const RowData& rows) {
  const std::string why = "no model can hold both; allowed: bounds that leave an interval";
  const auto contradicts = [](const std::string& text) {
    return "contradicts '" + ToText(ParseConstraint(text)) + "'";
  };
  ExpectError({a, b}, rows, Code::kContradiction, {contradicts(a), why});
  ExpectError({b, a}, rows, Code::kContradiction, {contradicts(b), why});
}

TEST(CompileError, ContradictionOfOneRate) {
  for (const std::int32_t positive : {0, 1}) {
    RowData rows = BinaryRows(100, 7);
    rows.positive_class = positive;
    ExpectContradiction("fnr >= 10%", "fnr <= 5%", rows);
    ExpectContradiction("tpr <= 90%", "fnr <= 5%", rows);
    ExpectContradiction("tpr <= 90%", "tpr >= 95%", rows);
    ExpectContradiction("accuracy >= 90%", "error >= 20%", rows);
    ExpectContradiction("recall >= 90%", "fnr >= 20%", rows);
    ExpectContradiction("selection_rate >= 30%", "selection_rate <= 20%", rows);
    ExpectContradiction("2 * fnr >= 20%", "fnr <= 5%", rows);
    ExpectContradiction("fnr(sex=F) >= 10%", "max(fnr, by=sex) <= 5%", rows);
    ExpectContradiction("fnr(sex=F) - fnr(sex=M) >= 10%", "gap(fnr, by=sex) <= 5%", rows);
  }
}

TEST(CompileError, ContradictionOfComplementaryEvents) {
  const RowData rows = BinaryRows(100, 8);
  ExpectContradiction("selection_rate(predicted=yes) >= 60%", "selection_rate(predicted=no) >= 60%",
                      rows);
  ExpectContradiction("selection_rate(class=yes) >= 90%", "fnr >= 20%", rows);
  ExpectContradiction("selection_rate(class=no) <= 5%", "tnr <= 90%", rows);
}

TEST(CompileError, ContradictionDoesNotDependOnTheUnitOfWeights) {
  RowData rows = BinaryRows(100, 8);
  for (const double unit : {1e-15, 1e15}) {
    rows.rate_weights.assign(100, unit);
    ExpectContradiction("fnr >= 6%", "fnr <= 5%", rows);
    ExpectCompiles({"fnr >= 5%", "tpr >= 95%", "selection_rate(class=yes) >= 95%"}, rows);
  }
}

TEST(CompileError, ContradictionOnFourClasses) {
  const RowData rows = FourClassRows(100, 9);
  ExpectContradiction("error(class=a) >= 10%", "recall(class=a) >= 95%", rows);
  ExpectContradiction("selection_rate(predicted=b) >= 10%", "selection_rate(predicted=b) <= 5%",
                      rows);
  ExpectContradiction("disagreement >= 10%", "disagreement <= 5%", rows);
  ExpectContradiction("loss >= 1", "loss <= 0.5", rows);
}

TEST(CompileError, BoundsThatLeaveAnIntervalAreNoContradiction) {
  const RowData rows = BinaryRows(100, 10);
  ExpectCompiles({"fnr >= 5%", "fnr <= 5%"}, rows);
  ExpectCompiles({"tpr <= 95%", "fnr <= 5%"}, rows);
  ExpectCompiles({"fnr(sex=F) >= 10%", "fnr(sex=M) <= 5%", "fnr <= 7%"}, rows);
  ExpectCompiles({"selection_rate(predicted=yes) >= 60%", "selection_rate(predicted=no) >= 40%"},
                 rows);
  ExpectCompiles({"gap(fnr, by=sex) <= 0%", "gap(selection_rate, by=race) <= 0%"}, rows);
  ExpectCompiles({"fnr >= 10%", "fpr <= 5%"}, rows);
  ExpectCompiles({"precision >= 100%", "precision >= 0%"}, rows);
}

TEST(CompileError, NeedsBinary) {
  const RowData rows = FourClassRows(50, 11);
  for (const char* rate : {"fnr", "fpr", "tpr", "tnr", "recall"}) {
    ExpectError({rate + std::string(" <= 5%")}, rows, Code::kNeedsBinary,
                {rate + std::string(" needs two classes, the labels have 4; allowed: "),
                 "error(class=...)", "recall(class=...)", "selection_rate(predicted=...)"});
  }
  ExpectCompiles({"recall(class=a) >= 5%", "min(recall, by=class) >= 5%"}, rows);
}

TEST(CompileError, NeedsClassification) {
  const RowData rows = RegressionRows(50, 12);
  for (const char* rate :
       {"error", "accuracy", "balanced_error", "disagreement", "recall", "fnr", "fpr", "tpr", "tnr",
        "selection_rate", "selection_rate(predicted=1)", "precision", "precision(predicted=1)"}) {
    const std::string text = rate;
    ExpectError({text + " >= 5%"}, rows, Code::kNeedsClassification,
                {text.substr(0, text.find('(')) + " needs class labels, the target is numeric",
                 "allowed: loss"});
  }
  ExpectError({"loss(class=1) <= 5%"}, rows, Code::kNeedsClassification,
              {"class= needs class labels", "allowed: group columns"});
  ExpectError({"gap(loss, by=class) <= 5%"}, rows, Code::kNeedsClassification, {"class="});
}

TEST(CompileError, NeedsPredictedClass) {
  const RowData rows = FourClassRows(50, 13);
  for (const char* rate : {"selection_rate", "precision"}) {
    ExpectError({rate + std::string(" >= 5%")}, rows, Code::kNeedsPredictedClass,
                {rate + std::string(" on 4 classes needs predicted=CLASS; allowed: a, b, c, d")});
  }
}

TEST(CompileError, NeedsBaseline) {
  RowData rows = BinaryRows(50, 14);
  ExpectCompiles({"disagreement <= 5%"}, rows);
  rows.baseline.clear();
  ExpectError({"disagreement <= 5%"}, rows, Code::kNeedsBaseline,
              {"disagreement needs the predictions of a baseline model; none given"});
}

TEST(CompileError, RowsAreValidated) {
  RowData rows = BinaryRows(5, 15);
  rows.rate_weights[3] = -1.0;
  EXPECT_THROW(Compile(ParseAll({"fnr <= 5%"}), rows), std::invalid_argument);
}

// Evaluation on new data: what is empty is undefined, what does not exist is still an error.
TEST(CompileError, UndefinedPolicyForgivesOnlyEmptySubsets) {
  const auto compile = [](const std::string& text) {
    Compile(ParseAll({text}), RowsWithHoles(), EmptySubsetPolicy::kUndefined);
  };
  EXPECT_NO_THROW(compile("error(sex=X) <= 5%"));
  EXPECT_THROW(compile("error(sex=Y) <= 5%"), ConstraintError);
  EXPECT_THROW(compile("error(class=maybe) <= 5%"), ConstraintError);
}

// What the parser refuses is refused here too when it is built in code.
TEST(CompileError, ConstraintsBuiltInCodePassTheChecksOfTheGrammar) {
  const RowData rows = BinaryRows(50, 1);
  const auto code_of = [&](const Constraint& constraint) -> std::optional<Code> {
    try {
      Compile({constraint}, rows);
    } catch (const ConstraintError& error) {
      return error.code();
    }
    return std::nullopt;
  };
  Constraint gap = ParseConstraint("gap(error, by=sex) <= 5%");
  EXPECT_EQ(code_of(gap), std::nullopt);
  gap.relation = Relation::kAtLeast;
  EXPECT_EQ(code_of(gap), Code::kGapLowerBound);
  Constraint precision = ParseConstraint("precision >= 60%");
  precision.relation = Relation::kAtMost;
  EXPECT_EQ(code_of(precision), Code::kPrecisionUpperBound);
  Constraint wide = ParseConstraint("fnr <= 5%");
  wide.bound = 1.2;
  EXPECT_EQ(code_of(wide), Code::kBoundOutOfRange);
}

}  // namespace
}  // namespace bregboost
