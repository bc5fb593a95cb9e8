// What certificates are simulated on: every kind of constraint, with weights, in small groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "certify_simulation.h"

namespace bregboost::simulation {

// Half of the rows are light. An event that happens in 1.8 `rate` of these and in 0.8 `rate` of the
// heavy ones has the weighted rate (0.25 * 1.8 + 1 * 0.8) / (0.25 + 1) `rate`, which is `rate`:
// counting rows would find it 1.3 times as often.
struct DrawnWeight {
  bool is_light = false;
  double weight() const { return is_light ? 0.25 : 1.0; }
  double RateFor(double rate) const { return (is_light ? 1.8 : 0.8) * rate; }
};

inline DrawnWeight DrawWeight(Random& random) { return {.is_light = Happens(0.5, random)}; }

// A loss that is `mean` on average: mostly a third of that, else much more, up to 7 times.
inline double DrawLoss(double mean, Random& random) {
  const double extra = std::uniform_real_distribution<double>(0.2, 1.8)(random);
  return mean * (1.0 + (Happens(0.2, random) ? 10.0 * extra : 0.0)) / 3.0;
}

inline std::vector<Scenario> RatesOfOneSubset() {
  std::vector<Scenario> all;
  all.push_back({.name = "class error",
                 .constraints = {"error(class=yes) <= 5%"},
                 .rows = 400,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random);
                   return {.label = label, .error_rate = label == 1 ? 0.05 * level : 0.3};
                 }});
  all.push_back({.name = "rate of one group",
                 .constraints = {"fnr(sex=F) <= 10%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random), sex = Uniform(2, random);
                   const bool limited = label == 1 && sex == 0;
                   return {.label = label, .sex = sex, .error_rate = limited ? 0.1 * level : 0.4};
                 }});
  all.push_back(
      {.name = "rate of an intersection",
       .constraints = {"fpr(sex=M, age=old) <= 10%"},
       .rows = 400,
       .plan = [](double level, Random& random) -> RowPlan {
         const std::int32_t label = Uniform(2, random), sex = Uniform(2, random),
                            age = Uniform(2, random);
         const bool limited = label == 0 && sex == 1 && age == 1;
         return {.label = label, .sex = sex, .age = age, .error_rate = limited ? 0.1 * level : 0.4};
       }});
  all.push_back({.name = "accuracy",
                 .constraints = {"accuracy >= 85%"},
                 .rows = 200,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random);
                   return {.label = label, .error_rate = (label == 1 ? 0.25 : 0.05) * level};
                 }});
  all.push_back({.name = "recall of one of three classes",
                 .constraints = {"recall(class=perhaps) >= 80%"},
                 .rows = 300,
                 .classes = 3,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(3, random);
                   return {.label = label, .error_rate = label == 2 ? 0.2 * level : 0.4};
                 }});
  all.push_back({.name = "selection rate",
                 .constraints = {"selection_rate <= 10%"},
                 .rows = 200,
                 .plan = [](double level, Random& random) -> RowPlan {
                   return {.label = Happens(0.1 * level, random) ? 1 : 0};
                 }});
  all.push_back({.name = "alert budget of one group",
                 .constraints = {"selection_rate(sex=F) <= 5%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   const double selected = sex == 0 ? 0.05 * level : 0.4;
                   return {.label = Happens(selected, random) ? 1 : 0, .sex = sex};
                 }});
  all.push_back({.name = "selection of one of three classes",
                 .constraints = {"selection_rate(predicted=perhaps) <= 20%"},
                 .rows = 200,
                 .classes = 3,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const bool perhaps = Happens(0.2 * level, random);
                   return {.label = perhaps ? 2 : Uniform(2, random)};
                 }});
  all.push_back({.name = "churn",
                 .constraints = {"churn <= 10%"},
                 .rows = 200,
                 .plan = [](double level, Random& random) -> RowPlan {
                   return {
                       .label = Uniform(2, random), .error_rate = 0.2, .churn_rate = 0.1 * level};
                 }});
  all.push_back({.name = "mean loss",
                 .constraints = {"loss <= 0.3"},
                 .rows = 300,
                 .options = {.loss_range = LossRange{.low = 0.0, .high = 2.0}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   return {.label = Uniform(2, random), .loss = DrawLoss(0.3 * level, random)};
                 }});
  all.push_back({.name = "mean loss of one group",
                 .constraints = {"loss(sex=F) <= 0.3"},
                 .rows = 400,
                 .options = {.loss_range = LossRange{.low = 0.0, .high = 2.0}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   const double loss = DrawLoss(0.3 * (sex == 0 ? level : 0.9), random);
                   return {.label = Uniform(2, random), .sex = sex, .loss = loss};
                 }});
  return all;
}

// No yes is missed, and 0.3 of the rows are selected; `errors` of these are a no.
inline std::pair<std::int32_t, double> LabelAndErrorRate(double errors, Random& random) {
  const double yes = 0.3 * (1.0 - errors);
  if (Happens(yes, random)) return {1, 0.0};
  return {0, 0.3 * errors / (1.0 - yes)};
}

inline std::vector<Scenario> Precisions() {
  std::vector<Scenario> all;
  all.push_back({.name = "precision",
                 .constraints = {"precision >= 80%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const auto [label, error_rate] = LabelAndErrorRate(0.2 * level, random);
                   return {.label = label, .error_rate = error_rate};
                 }});
  all.push_back({.name = "precision in one group",
                 .constraints = {"precision(sex=F) >= 70%"},
                 .rows = 400,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   const auto [label, error_rate] =
                       LabelAndErrorRate(sex == 0 ? 0.3 * level : 0.6, random);
                   return {.label = label, .sex = sex, .error_rate = error_rate};
                 }});
  return all;
}

// Of several groups, only one pair or one group is at the limit, as little as a certificate could
// go wrong by: were all, each would have to err.
inline std::vector<Scenario> Comparisons() {
  std::vector<Scenario> all;
  all.push_back({.name = "gap of two groups",
                 .constraints = {"gap(error, by=sex) <= 10%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Happens(0.35, random) ? 0 : 1;
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.12 + 0.1 * level : 0.12};
                 }});
  all.push_back(
      {.name = "gap of four groups",
       .constraints = {"gap(error, by=sex) <= 20%"},
       .rows = 400,
       .sexes = {"F", "M", "X", "Y"},
       .plan = [](double level, Random& random) -> RowPlan {
         const std::int32_t sex = Uniform(4, random);
         const double share = sex == 0 ? 1.0 : sex == 3 ? 0.0 : 0.5;
         return {.label = Uniform(2, random), .sex = sex, .error_rate = 0.1 + 0.2 * level * share};
       }});
  all.push_back({.name = "gap over intersections",
                 .constraints = {"gap(error, by=(sex, age)) <= 30%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random), age = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .age = age,
                           .error_rate = 0.1 + 0.3 * level * 0.5 * (sex + age)};
                 }});
  all.push_back({.name = "gap of churn",
                 .constraints = {"gap(churn, by=sex) <= 15%"},
                 .rows = 200,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = 0.2,
                           .churn_rate = sex == 0 ? 0.05 + 0.15 * level : 0.05};
                 }});
  all.push_back({.name = "gap of sums",
                 .constraints = {"gap(fnr + fpr, by=sex) <= 40%"},
                 .rows = 400,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.1 + 0.2 * level : 0.1};
                 }});
  all.push_back({.name = "gap of losses",
                 .constraints = {"gap(loss, by=sex) <= 0.3"},
                 .rows = 400,
                 .options = {.loss_range = LossRange{.low = 0.0, .high = 3.0}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   const double loss = DrawLoss(sex == 0 ? 0.1 + 0.3 * level : 0.1, random);
                   return {.label = Uniform(2, random), .sex = sex, .loss = loss};
                 }});
  all.push_back({.name = "ratio",
                 .constraints = {"ratio(selection_rate, by=sex) >= 80%"},
                 .rows = 150,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   const double selected = sex == 0 ? 0.5 * (1.0 - 0.2 * level) : 0.5;
                   return {.label = Happens(selected, random) ? 1 : 0, .sex = sex};
                 }});
  all.push_back({.name = "ratio of four groups",
                 .constraints = {"ratio(selection_rate, by=sex) >= 50%"},
                 .rows = 120,
                 .sexes = {"F", "M", "X", "Y"},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(4, random);
                   const double share = sex == 0 ? 1.0 : sex == 3 ? 0.0 : 0.5;
                   const double selected = 0.6 * (1.0 - 0.5 * level * share);
                   return {.label = Happens(selected, random) ? 1 : 0, .sex = sex};
                 }});
  all.push_back(
      {.name = "ratio over intersections",
       .constraints = {"ratio(tpr, by=(sex, age)) >= 60%"},
       .rows = 400,
       .plan = [](double level, Random& random) -> RowPlan {
         const std::int32_t sex = Uniform(2, random), age = Uniform(2, random);
         const double found = 0.9 * (1.0 - 0.4 * level * 0.5 * (sex + age));
         return {.label = Uniform(2, random), .sex = sex, .age = age, .error_rate = 1.0 - found};
       }});
  all.push_back({.name = "largest of four groups",
                 .constraints = {"max(error, by=sex) <= 20%"},
                 .rows = 200,
                 .sexes = {"F", "M", "X", "Y"},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(4, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.2 * level : 0.0};
                 }});
  all.push_back({.name = "smallest of four intersections",
                 .constraints = {"min(tpr, by=(sex, age)) >= 80%"},
                 .rows = 400,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random), age = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .age = age,
                           .error_rate = sex + age == 0 ? 0.2 * level : 0.0};
                 }});
  return all;
}

inline std::vector<Scenario> Sums() {
  std::vector<Scenario> all;
  all.push_back({.name = "difference of rates",
                 .constraints = {"fpr(sex=F) - fpr(sex=M) <= 20%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.05 + 0.2 * level : 0.05};
                 }});
  all.push_back({.name = "sum of two rates",
                 .constraints = {"0.5 * fnr + 2 * fpr <= 40%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random);
                   return {.label = label, .error_rate = (label == 1 ? 0.2 : 0.15) * level};
                 }});
  all.push_back({.name = "sum of four rates",
                 .constraints = {"fnr(sex=F) + fpr(sex=F) + fnr(sex=M) + fpr(sex=M) <= 60%"},
                 .rows = 300,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random), sex = Uniform(2, random);
                   return {
                       .label = label, .sex = sex, .error_rate = (label == 1 ? 0.2 : 0.1) * level};
                 }});
  all.push_back({.name = "sum of differences",
                 .constraints = {"fnr(sex=F) - fnr(sex=M) + fpr(sex=F) - fpr(sex=M) <= 30%"},
                 .rows = 600,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.1 + 0.15 * level : 0.1};
                 }});
  all.push_back({.name = "balanced error",
                 .constraints = {"balanced_error <= 20%"},
                 .rows = 200,
                 .classes = 4,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(4, random);
                   return {.label = label, .error_rate = (0.05 + 0.1 * label) * level};
                 }});
  all.push_back({.name = "overlapping subsets",
                 .constraints = {"error(sex=F) - error <= 5%"},
                 .rows = 600,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.1 + 0.1 * level : 0.1};
                 }});
  all.push_back({.name = "three limits at once",
                 .constraints = {"fnr <= 10%", "fpr <= 30%", "gap(error, by=sex) <= 20%"},
                 .rows = 600,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random);
                   return {.label = label,
                           .sex = Uniform(2, random),
                           .error_rate = label == 1 ? 0.1 * level : 0.15};
                 }});
  return all;
}

inline std::vector<Scenario> WeightedRates() {
  std::vector<Scenario> all;
  all.push_back({.name = "weighted class error",
                 .constraints = {"error(class=yes) <= 10%"},
                 .rows = 400,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   return {.label = Uniform(2, random),
                           .error_rate = drawn.RateFor(0.1 * level),
                           .weight = drawn.weight()};
                 }});
  all.push_back({.name = "weights that differ between classes alone",
                 .constraints = {"error(class=yes) <= 5%"},
                 .rows = 400,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Uniform(2, random);
                   return {.label = label,
                           .error_rate = label == 1 ? 0.05 * level : 0.3,
                           .weight = label == 1 ? 7.0 : 0.5};
                 }});
  all.push_back({.name = "weighted selection rate",
                 .constraints = {"selection_rate <= 20%"},
                 .rows = 300,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const bool selected = Happens(drawn.RateFor(0.2 * level), random);
                   return {.label = selected ? 1 : 0, .weight = drawn.weight()};
                 }});
  all.push_back(
      {.name = "weighted precision",
       .constraints = {"precision >= 70%"},
       .rows = 400,
       .options = {.max_weight = 1.0},
       .plan = [](double level, Random& random) -> RowPlan {
         const DrawnWeight drawn = DrawWeight(random);
         const auto [label, error_rate] = LabelAndErrorRate(0.3 * level, random);
         return {.label = label, .error_rate = drawn.RateFor(error_rate), .weight = drawn.weight()};
       }});
  all.push_back({.name = "weighted churn of one group",
                 .constraints = {"churn(sex=F) <= 15%"},
                 .rows = 400,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .churn_rate = drawn.RateFor(0.15 * (sex == 0 ? level : 2.0)),
                           .weight = drawn.weight()};
                 }});
  all.push_back({.name = "weighted loss",
                 .constraints = {"loss <= 0.2"},
                 .rows = 300,
                 .options = {.max_weight = 1.0, .loss_range = LossRange{.low = 0.0, .high = 2.3}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const double loss = DrawLoss(drawn.RateFor(0.2 * level), random);
                   return {.label = Uniform(2, random), .loss = loss, .weight = drawn.weight()};
                 }});
  all.push_back({.name = "weighted gap",
                 .constraints = {"gap(error, by=sex) <= 30%"},
                 .rows = 300,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const std::int32_t sex = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = drawn.RateFor(sex == 0 ? 0.05 + 0.3 * level : 0.05),
                           .weight = drawn.weight()};
                 }});
  all.push_back({.name = "weighted ratio",
                 .constraints = {"ratio(selection_rate, by=sex) >= 50%"},
                 .rows = 300,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const std::int32_t sex = Uniform(2, random);
                   const double selected = sex == 0 ? 0.5 * (1.0 - 0.5 * level) : 0.5;
                   return {.label = Happens(drawn.RateFor(selected), random) ? 1 : 0,
                           .sex = sex,
                           .weight = drawn.weight()};
                 }});
  all.push_back({.name = "weighted sum of class errors",
                 .constraints = {"balanced_error <= 20%"},
                 .rows = 300,
                 .options = {.max_weight = 1.0},
                 .classes = 3,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const std::int32_t label = Uniform(3, random);
                   return {.label = label,
                           .error_rate = drawn.RateFor(0.1 * (1 + label) * level),
                           .weight = drawn.weight()};
                 }});
  return all;
}

// Every kind, each with something to find at 60% of its limit.
inline std::vector<Scenario> Scenarios() {
  std::vector<Scenario> all;
  for (const std::vector<Scenario>& some :
       {RatesOfOneSubset(), Precisions(), Comparisons(), Sums(), WeightedRates()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// Five rows of a hundred, more or less: sometimes none.
inline std::int32_t MostlyMen(Random& random) { return Happens(0.05, random) ? 0 : 1; }

// A handful of rows decide, at limits that a handful can show by chance.
inline std::vector<Scenario> FewRows() {
  std::vector<Scenario> all;
  all.push_back({.name = "rate of a small group",
                 .constraints = {"fnr(sex=F) <= 50%"},
                 .rows = 100,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   return {.label = 1, .sex = sex, .error_rate = sex == 0 ? 0.5 * level : 0.05};
                 }});
  all.push_back({.name = "largest with a small group",
                 .constraints = {"max(error, by=sex) <= 50%"},
                 .rows = 100,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.5 * level : 0.05};
                 }});
  all.push_back({.name = "gap with a small group",
                 .constraints = {"gap(error, by=sex) <= 50%"},
                 .rows = 100,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.05 + 0.5 * level : 0.05};
                 }});
  all.push_back({.name = "gap of churn with a small group",
                 .constraints = {"gap(churn, by=sex) <= 60%"},
                 .rows = 100,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .churn_rate = sex == 0 ? 0.1 + 0.6 * level : 0.1};
                 }});
  all.push_back({.name = "ratio with a small group",
                 .constraints = {"ratio(selection_rate, by=sex) >= 50%"},
                 .rows = 100,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   const double selected = sex == 0 ? 1.0 - 0.5 * level : 1.0;
                   return {.label = Happens(selected, random) ? 1 : 0, .sex = sex};
                 }});
  all.push_back({.name = "gap over intersections some of which are small",
                 .constraints = {"gap(error, by=(sex, age)) <= 60%"},
                 .rows = 100,
                 .options = {.expected_groups = {4}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Happens(0.2, random) ? 0 : 1, age = Uniform(2, random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .age = age,
                           .error_rate = sex + age == 0 ? 0.6 * level : 0.0};
                 }});
  all.push_back({.name = "precision of a handful of selected rows",
                 .constraints = {"precision >= 50%"},
                 .rows = 20,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const auto [label, error_rate] = LabelAndErrorRate(0.5 * level, random);
                   return {.label = label, .error_rate = error_rate};
                 }});
  all.push_back({.name = "difference from a small group",
                 .constraints = {"fpr(sex=F) - fpr(sex=M) <= 50%"},
                 .rows = 120,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   return {
                       .label = 0, .sex = sex, .error_rate = sex == 0 ? 0.1 + 0.5 * level : 0.1};
                 }});
  all.push_back({.name = "balanced error with a rare class",
                 .constraints = {"balanced_error <= 40%"},
                 .rows = 100,
                 .classes = 3,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t label = Happens(0.05, random) ? 2 : Uniform(2, random);
                   return {.label = label, .error_rate = (label == 2 ? 0.8 : 0.2) * level};
                 }});
  all.push_back({.name = "mean loss of a small group",
                 .constraints = {"loss(sex=F) <= 1"},
                 .rows = 160,
                 .options = {.loss_range = LossRange{.low = 0.0, .high = 2.0}},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = MostlyMen(random);
                   const bool large = Happens(0.5 * level, random);
                   return {.label = Uniform(2, random), .sex = sex, .loss = large ? 2.0 : 0.0};
                 }});
  all.push_back({.name = "weighted rate of a small group",
                 .constraints = {"error(sex=F) <= 50%"},
                 .rows = 200,
                 .options = {.max_weight = 1.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const DrawnWeight drawn = DrawWeight(random);
                   const std::int32_t sex = MostlyMen(random);
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = drawn.RateFor(sex == 0 ? 0.5 * level : 0.05),
                           .weight = drawn.weight()};
                 }});
  // All errors are in a hundredth of the rows, which have half of the weight: a third of the sets
  // shows none of them.
  all.push_back({.name = "rare rows of great weight",
                 .constraints = {"error <= 20%"},
                 .rows = 100,
                 .options = {.max_weight = 99.0},
                 .plan = [](double level, Random& random) -> RowPlan {
                   const bool heavy = Happens(0.01, random);
                   return {.label = Uniform(2, random),
                           .error_rate = heavy ? 0.4 * level : 0.0,
                           .weight = heavy ? 99.0 : 1.0};
                 }});
  // Most sets have no such row or one: nothing can be said, and a limit is never met by absence.
  all.push_back({.name = "largest with a group that is often missing",
                 .constraints = {"max(error, by=sex) <= 90%"},
                 .rows = 50,
                 .plan = [](double level, Random& random) -> RowPlan {
                   const std::int32_t sex = Happens(0.02, random) ? 0 : 1;
                   return {.label = Uniform(2, random),
                           .sex = sex,
                           .error_rate = sex == 0 ? 0.9 * level : 0.0};
                 }});
  return all;
}

}  // namespace bregboost::simulation
