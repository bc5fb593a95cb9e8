// Properties of the language over random constraints: what is printed reads back as the same value,
// every spelling of a constraint means the same, and no text whatever does worse than an error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/problem/constraint.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"

namespace bregboost {
namespace {

constexpr int kRounds = 10'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // Not std::uniform_int_distribution: its draws differ between standard libraries.
  int Below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool Chance(double p) { return Uniform() < p; }
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  char Byte() { return static_cast<char>(static_cast<unsigned char>(Below(256))); }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(Below(static_cast<int>(items.size())))];
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (int i = static_cast<int>(items.size()); i > 1; --i) {
      std::swap(items[static_cast<std::size_t>(i - 1)], items[static_cast<std::size_t>(Below(i))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

// --- Random constraints that ParseConstraint can return ---

enum class Numbers {
  kAny,     // any finite doubles
  kDyadic,  // few bits, so that adding and scaling them is exact
};

bool TakesClass(RateKind kind) {
  return kind == RateKind::kError || kind == RateKind::kAccuracy || kind == RateKind::kLoss ||
         kind == RateKind::kDisagreement || kind == RateKind::kSelectionRate ||
         kind == RateKind::kRecall;
}

class ConstraintSource {
 public:
  ConstraintSource(std::uint64_t seed, Numbers numbers) : random_(seed), numbers_(numbers) {}

  Constraint Draw() {
    Constraint constraint;
    constraint.aggregate = static_cast<Aggregate>(random_.Below(5));
    constraint.expression = DrawExpression(constraint.aggregate);
    constraint.relation = DrawRelation(constraint);
    if (constraint.aggregate != Aggregate::kNone) constraint.by = DrawGroups(constraint.expression);
    constraint.bound = DrawBound(constraint);
    return constraint;
  }

 private:
  static bool IsPrecision(const RateExpression& expression) {
    return expression.terms.front().rate.kind == RateKind::kPrecision;
  }

  std::string DrawName() {
    static const std::vector<std::string> kNames = {"sex",
                                                    "race",
                                                    "class",
                                                    "predicted",
                                                    "by",
                                                    "gap",
                                                    "error",
                                                    "",
                                                    " ",
                                                    "a b",
                                                    "it's",
                                                    "say \"hi\"",
                                                    "back\\slash",
                                                    "\\x41",
                                                    "Größe",
                                                    "東京",
                                                    "tab\there",
                                                    "-x",
                                                    "9lives",
                                                    "marital-status",
                                                    "v.1",
                                                    "<=50K",
                                                    ">50K",
                                                    "<missing>",
                                                    "=",
                                                    "=x",
                                                    "x=y",
                                                    "a,b",
                                                    "(",
                                                    "f(x)",
                                                    "50%",
                                                    "1e5",
                                                    std::string("nul\0byte", 8)};
    if (random_.Chance(0.8)) return random_.Pick(kNames);
    std::string name;
    for (int i = random_.Below(7); i > 0; --i) name += random_.Byte();
    return name;
  }

  Rate DrawRate(RateKind kind) {
    Rate rate{.kind = kind, .where = {}, .predicted = std::nullopt};
    const bool is_about_predicted =
        kind == RateKind::kSelectionRate || kind == RateKind::kPrecision;
    if (is_about_predicted && random_.Chance(0.5)) rate.predicted = DrawName();
    for (int i = random_.Below(4); i > 0; --i) {
      const bool is_label = TakesClass(kind) && random_.Chance(0.3);
      const Column column = is_label ? Column::Label() : Column::Group(DrawName());
      const bool is_taken = std::any_of(rate.where.begin(), rate.where.end(),
                                        [&](const auto& c) { return c.column == column; });
      if (!is_taken) rate.where.push_back({column, DrawName()});
    }
    std::sort(rate.where.begin(), rate.where.end());
    return rate;
  }

  // A few bits, or any of the magnitudes that people and programs write.
  double DrawPositive() {
    if (numbers_ == Numbers::kDyadic) return (1 + random_.Below(24)) / 8.0;
    if (random_.Chance(0.5)) return (1 + random_.Below(999)) / 100.0;
    return (random_.Uniform() + 0x1p-53) * std::pow(10.0, random_.Below(41) - 20);
  }

  double DrawCoefficient() {
    const double size = random_.Chance(0.4) ? 1.0 : DrawPositive();
    return random_.Chance(0.5) ? size : -size;
  }

  RateExpression DrawExpression(Aggregate aggregate) {
    const bool precision_fits = aggregate == Aggregate::kNone || aggregate == Aggregate::kMin;
    if (precision_fits && random_.Chance(0.1)) {
      return {.terms = {{1.0, DrawRate(RateKind::kPrecision)}}, .constant = 0.0};
    }
    RateExpression expression;
    const int terms = aggregate == Aggregate::kRatio ? 1 : 1 + random_.Below(4);
    for (int i = 0; i < terms; ++i) {
      const auto kind = static_cast<RateKind>(random_.Below(12));
      const Rate rate = DrawRate(kind == RateKind::kPrecision ? RateKind::kLoss : kind);
      const bool is_taken = std::any_of(expression.terms.begin(), expression.terms.end(),
                                        [&](const Term& term) { return term.rate == rate; });
      const double coefficient = aggregate == Aggregate::kRatio ? 1.0 : DrawCoefficient();
      if (!is_taken) expression.terms.push_back({coefficient, rate});
    }
    const bool takes_constant = aggregate != Aggregate::kNone && aggregate != Aggregate::kRatio;
    if (takes_constant && random_.Chance(0.3)) expression.constant = DrawCoefficient();
    return expression;
  }

  Relation DrawRelation(const Constraint& constraint) {
    switch (constraint.aggregate) {
      case Aggregate::kGap:
      case Aggregate::kMax:
        return Relation::kAtMost;
      case Aggregate::kRatio:
      case Aggregate::kMin:
        return Relation::kAtLeast;
      case Aggregate::kNone:
        break;
    }
    if (IsPrecision(constraint.expression) || random_.Chance(0.5)) return Relation::kAtLeast;
    return Relation::kAtMost;
  }

  std::vector<Column> DrawGroups(const RateExpression& expression) {
    const auto fits = [&](const Column& column) {
      return std::all_of(expression.terms.begin(), expression.terms.end(), [&](const Term& term) {
        const bool is_fixed = std::any_of(term.rate.where.begin(), term.rate.where.end(),
                                          [&](const Condition& c) { return c.column == column; });
        return !is_fixed && (!column.is_label || TakesClass(term.rate.kind));
      });
    };
    std::vector<Column> by;
    for (const int wanted = 1 + random_.Below(3); static_cast<int>(by.size()) < wanted;) {
      const Column column = random_.Chance(0.2) ? Column::Label() : Column::Group(DrawName());
      if (fits(column) && std::find(by.begin(), by.end(), column) == by.end()) by.push_back(column);
    }
    return by;
  }

  double DrawBound(const Constraint& constraint) {
    Range range = ValueRange(constraint.expression);
    if (constraint.aggregate == Aggregate::kGap) range = {0.0, range.high - range.low};
    if (constraint.aggregate == Aggregate::kRatio) range = {0.0, 1.0};
    if (std::isinf(range.low)) range.low = std::isinf(range.high) ? -4.0 : range.high - 4.0;
    if (std::isinf(range.high)) range.high = range.low + 4.0;
    const double share = numbers_ == Numbers::kDyadic ? random_.Below(9) / 8.0 : random_.Uniform();
    const double bound = std::clamp(range.low + share * (range.high - range.low),  //
                                    range.low, range.high);
    if (numbers_ == Numbers::kDyadic || random_.Chance(0.5)) return bound + 0.0;
    const double rounded = std::round(bound * 100.0) / 100.0;
    return rounded < range.low || rounded > range.high ? bound : rounded + 0.0;
  }

  Random random_;
  Numbers numbers_;
};

// --- Random spellings of a constraint whose numbers are dyadic ---

class Speller {
 public:
  explicit Speller(std::uint64_t seed) : random_(seed) {}

  std::string Spell(const Constraint& constraint) {
    const bool at_most = constraint.relation == Relation::kAtMost;
    if (constraint.aggregate != Aggregate::kNone) {
      const std::string aggregate = SpellAggregate(constraint);
      const std::string bound = SpellSum({}, constraint.bound);
      return random_.Chance(0.5) ? Compare(aggregate, at_most, bound)
                                 : Compare(bound, !at_most, aggregate);
    }
    return SpellLinear(constraint, at_most);
  }

 private:
  using Terms = std::vector<Term>;

  std::string Space() {
    static const std::vector<std::string> kSpaces = {"", "", " ", "  ", "\t", "\n ", "\r\n"};
    return random_.Pick(kSpaces);
  }

  // Tokens with random space around each.
  std::string Join(const std::vector<std::string>& tokens) {
    std::string text = Space();
    for (const std::string& token : tokens) text += token + Space();
    return text;
  }

  static std::string CommaSeparated(const std::vector<std::string>& parts) {
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) text += ',' + parts[i];
    return text;
  }

  std::string Compare(const std::string& left, bool at_most, const std::string& right) {
    return Join({left, at_most ? "<=" : ">=", right});
  }

  std::string Parenthesised(const std::string& text) {
    return random_.Chance(0.2) ? Join({"(", text, ")"}) : text;
  }

  std::string Quoted(const std::string& content) {
    const char quote = random_.Chance(0.5) ? '"' : '\'';
    std::string text(1, quote);
    for (const char c : content) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f || random_.Chance(0.05)) {
        const bool is_upper = random_.Chance(0.5);
        text += is_upper ? fmt::format("\\x{:02X}", byte) : fmt::format("\\x{:02x}", byte);
      } else {
        const bool is_other_quote = (c == '"' || c == '\'') && c != quote;
        if (c == quote || c == '\\' || (is_other_quote && random_.Chance(0.5))) text += '\\';
        text += c;
      }
    }
    return text + quote;
  }

  std::string SpellName(const std::string& name) {
    const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(),
                                                       [](char c) { return c >= 'a' && c <= 'z'; });
    const bool is_reserved = name == "class" || name == "predicted" || name == "by";
    return is_plain && !is_reserved && random_.Chance(0.7) ? name : Quoted(name);
  }

  std::string SpellColumn(const Column& column) {
    return column.is_label ? "class" : SpellName(column.name);
  }

  std::string SpellKind(RateKind kind) {
    static const std::vector<std::pair<RateKind, std::string>> kAliases = {
        {RateKind::kDisagreement, "churn"},     {RateKind::kDisagreement, "disagrees"},
        {RateKind::kTpr, "sensitivity"},        {RateKind::kTnr, "specificity"},
        {RateKind::kSelectionRate, "selected"}, {RateKind::kFnr, "misses"}};
    const auto& [aliased, alias] = random_.Pick(kAliases);
    return aliased == kind ? alias : std::string(Name(kind));
  }

  std::string SpellRate(const Rate& rate) {
    std::vector<std::string> arguments;
    for (const Condition& condition : rate.where) {
      arguments.push_back(Join({SpellColumn(condition.column), "=", SpellName(condition.value)}));
    }
    if (rate.predicted) arguments.push_back(Join({"predicted", "=", SpellName(*rate.predicted)}));
    if (arguments.empty()) return SpellKind(rate.kind);
    random_.Shuffle(arguments);
    return Join({SpellKind(rate.kind), "(", CommaSeparated(arguments), ")"});
  }

  std::string SpellNumber(double value) {  // value >= 0
    switch (random_.Below(5)) {
      case 0:
        return fmt::format("{}", value);
      case 1:
        return fmt::format("{:.17e}", value);
      case 2:
        return fmt::format("{:.12f}0", value);
      case 3:
        return fmt::format("{}{}%", value * 100.0, Space());
      default:
        return fmt::format("{}e2{}%", value, Space());
    }
  }

  // |coefficient| * rate. Powers of two scale exactly.
  std::string SpellScaled(double size, const std::string& rate) {
    const bool is_one = size == 1.0;
    switch (random_.Below(is_one ? 5 : 4)) {
      case 0:
        return Join({SpellNumber(size), "*", rate});
      case 1:
        return Join({rate, "*", SpellNumber(size)});
      case 2:
        return Join({SpellNumber(size * 4.0), "*", rate, "/", SpellNumber(4.0)});
      case 3:
        return Join({rate, "/", SpellNumber(8.0), "*", "(", SpellNumber(size * 8.0), ")"});
      default:
        return rate;
    }
  }

  void AddSigned(std::vector<std::string>& tokens, bool negative, const std::string& operand) {
    if (tokens.empty()) {
      tokens = {negative ? "-" : "", operand};
    } else if (random_.Chance(0.2)) {
      tokens.insert(tokens.end(), {negative ? "+" : "-", "-", operand});
    } else {
      tokens.insert(tokens.end(), {negative ? "-" : "+", operand});
    }
  }

  // Some coefficients in two parts, some rates added and taken away again.
  Terms Scattered(const Terms& terms) {
    Terms scattered = terms;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (random_.Chance(0.2)) {
        scattered[i].coefficient *= 0.5;
        scattered.push_back(scattered[i]);
      }
    }
    if (random_.Chance(0.1)) {
      Rate spare;
      spare.kind = RateKind::kTnr;
      spare.where = {{Column::Group("spare"), "x"}};
      scattered.push_back({0.75, spare});
      scattered.push_back({-0.75, spare});
    }
    return scattered;
  }

  std::string SpellSum(const Terms& terms, double constant) {
    std::vector<std::string> tokens;
    for (const Term& term : Scattered(terms)) {
      const std::string scaled = SpellScaled(std::abs(term.coefficient),  //
                                             Parenthesised(SpellRate(term.rate)));
      AddSigned(tokens, term.coefficient < 0.0, Parenthesised(scaled));
    }
    if (constant != 0.0 || tokens.empty() || random_.Chance(0.1)) {
      AddSigned(tokens, constant < 0.0, Parenthesised(SpellNumber(std::abs(constant))));
    }
    return Parenthesised(Join(tokens));
  }

  std::string SpellLinear(const Constraint& constraint, bool at_most) {
    const Terms& terms = constraint.expression.terms;
    const double shift = random_.Chance(0.3) ? random_.Below(9) / 4.0 : 0.0;
    if (random_.Chance(0.3)) {
      return Compare(SpellSum({}, constraint.bound + shift), !at_most, SpellSum(terms, shift));
    }
    // A head of the terms on the left, the others on the right with the other sign.
    const auto head = 1 + random_.Below(static_cast<int>(terms.size()));
    const Terms left(terms.begin(), terms.begin() + head);
    Terms right(terms.begin() + head, terms.end());
    for (Term& term : right) term.coefficient = -term.coefficient;
    return Compare(SpellSum(left, shift), at_most, SpellSum(right, constraint.bound + shift));
  }

  std::string SpellAggregate(const Constraint& constraint) {
    static const std::vector<std::string> kWords = {"", "gap", "ratio", "max", "min"};
    std::vector<std::string> columns;
    for (const Column& column : constraint.by) columns.push_back(Join({SpellColumn(column)}));
    std::string by = CommaSeparated(columns);
    if (columns.size() > 1 || random_.Chance(0.2)) by = Join({"(", by, ")"});
    const RateExpression& expression = constraint.expression;
    return Parenthesised(
        Join({kWords[static_cast<std::size_t>(constraint.aggregate)], "(",
              SpellSum(expression.terms, expression.constant), ",", "by", "=", by, ")"}));
  }

  Random random_;
};

// --- Damaged texts ---

std::string Damaged(std::string text, Random& random) {
  static const std::string kTelling = "()=<>,\"'\\%*/+-. e09\n\xc3";
  const auto place = [&] {
    return static_cast<std::size_t>(random.Below(static_cast<int>(text.size()) + 1));
  };
  const auto byte = [&] {
    if (random.Chance(0.3)) return random.Byte();
    return kTelling[static_cast<std::size_t>(random.Below(static_cast<int>(kTelling.size())))];
  };
  for (int edits = 1 + random.Below(4); edits > 0; --edits) {
    const std::size_t at = place();
    const auto length = static_cast<std::size_t>(1 + random.Below(8));
    switch (random.Below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, 1, byte());
        break;
      case 3:
        text.insert(at, text.substr(place(), length));
        break;
      case 4:
        if (random.Chance(0.3)) text.resize(at);
        break;
      default:
        if (at < text.size()) text[at] = byte();
    }
  }
  return text;
}

// Parses, or throws ConstraintError within the text. Returns whether it parsed.
template <typename Parse>
bool ParsesOrFailsCleanly(const std::string& text, Parse parse) {
  try {
    const auto value = parse(text);
    EXPECT_EQ(parse(ToText(value)), value) << text;
    return true;
  } catch (const ConstraintError& error) {
    EXPECT_EQ(error.text(), text);
    EXPECT_GE(error.position().value_or(0), 1U) << error.what();
    EXPECT_LE(error.position().value_or(0), text.size() + 1) << error.what();
    EXPECT_FALSE(std::string_view(error.what()).empty());
  }
  return false;
}

// --- The properties ---

TEST(ConstraintLanguage, PrintedConstraintsReadBackAsThemselves) {
  ConstraintSource source(/*seed=*/1, Numbers::kAny);
  for (int i = 0; i < kRounds && !HasFailure(); ++i) {
    const Constraint constraint = source.Draw();
    const std::string text = ToText(constraint);
    SCOPED_TRACE(text);
    const Constraint parsed = ParseConstraint(text);
    ASSERT_EQ(parsed, constraint);
    ASSERT_EQ(ToText(parsed), text);
    ASSERT_EQ(ParseExpression(ToText(constraint.expression)), constraint.expression);
  }
}

TEST(ConstraintLanguage, AllSpellingsMeanTheSame) {
  ConstraintSource source(/*seed=*/2, Numbers::kDyadic);
  Speller speller(/*seed=*/3);
  for (int i = 0; i < kRounds; ++i) {
    const Constraint constraint = source.Draw();
    const std::string text = speller.Spell(constraint);
    SCOPED_TRACE(text + "\nof: " + ToText(constraint));
    const Constraint parsed = ParseConstraint(text);
    ASSERT_EQ(parsed, constraint) << ToText(parsed);
  }
}

TEST(ConstraintLanguage, DamagedTextsParseOrFailWithAPosition) {
  ConstraintSource source(/*seed=*/4, Numbers::kDyadic);
  Speller speller(/*seed=*/5);
  Random random(/*seed=*/6);
  int parsed = 0;
  for (int i = 0; i < kRounds && !HasFailure(); ++i) {
    const Constraint constraint = source.Draw();
    const std::string whole = random.Chance(0.5) ? ToText(constraint) : speller.Spell(constraint);
    const std::string text = Damaged(whole, random);
    SCOPED_TRACE(text);
    parsed += ParsesOrFailsCleanly(text, ParseConstraint);
    ParsesOrFailsCleanly(text, ParseExpression);
  }
  // Both outcomes must occur, else the damage is too light or too heavy to test anything.
  EXPECT_GT(parsed, kRounds / 20);
  EXPECT_LT(parsed, kRounds - kRounds / 20);
}

TEST(ConstraintLanguage, RandomBytesParseOrFailWithAPosition) {
  Random random(/*seed=*/7);
  for (int i = 0; i < kRounds && !HasFailure(); ++i) {
    std::string text;
    for (int length = random.Below(60); length > 0; --length) text += random.Byte();
    ParsesOrFailsCleanly(text, ParseConstraint);
    ParsesOrFailsCleanly(text, ParseExpression);
  }
}

TEST(ConstraintLanguage, RandomTokensParseOrFailWithAPosition) {
  static const std::vector<std::string> kTokens = {
      "fnr", "error", "precision", "loss", "gap",   "ratio", "max", "min",
      "by",  "class", "predicted", "(",    ")",     "(",     ")",   ",",
      "=",   "<=",    ">=",        "+",    "-",     "*",     "/",   "5%",
      "0.5", "1e308", "0",         "sex",  "'a b'", "\"",    " "};
  Random random(/*seed=*/8);
  for (int i = 0; i < kRounds && !HasFailure(); ++i) {
    std::string text;
    for (int length = random.Below(25); length > 0; --length) text += random.Pick(kTokens);
    ParsesOrFailsCleanly(text, ParseConstraint);
    ParsesOrFailsCleanly(text, ParseExpression);
  }
}

}  // namespace
}  // namespace bregboost
