// Scores where a library left them: LightGBM hands out doubles class by class, XGBoost floats row
// by row. Passes read either as it is, so that no round pays for a conversion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace bregboost::detail {

enum class ScoreLayout {
  kClassMajor,  // score k of row i at [k * num_rows + i]
  kRowMajor,    // at [i * num_scores + k]
};

struct ScoreView {
  std::variant<const double*, const float*> data;
  std::size_t num_rows = 0;
  std::size_t num_scores = 1;
  ScoreLayout layout = ScoreLayout::kClassMajor;

  std::size_t size() const { return num_rows * num_scores; }
};

// Scores of one's own, in the type and layout of a view.
class ScoreCopy {
 public:
  void Assign(const ScoreView& scores) {
    view_ = scores;
    const std::size_t size = scores.size();
    if (const auto* from = std::get_if<const double*>(&scores.data)) {
      doubles_.assign(*from, *from + size);
      view_.data = doubles_.data();
    } else {
      const float* floats = std::get<const float*>(scores.data);
      floats_.assign(floats, floats + size);
      view_.data = floats_.data();
    }
  }
  // Class-major scores in the type and layout of `like`.
  void AssignClassMajor(std::span<const double> scores, const ScoreView& like) {
    view_ = like;
    const auto put = [&](auto& values) {
      values.resize(like.size());
      const bool class_major = like.layout == ScoreLayout::kClassMajor;
      for (std::size_t j = 0; j < like.size(); ++j) {
        const std::size_t row = j % like.num_rows;
        const std::size_t at = class_major ? j : row * like.num_scores + j / like.num_rows;
        values[at] = static_cast<typename std::decay_t<decltype(values)>::value_type>(scores[j]);
      }
      view_.data = values.data();
    };
    if (std::holds_alternative<const double*>(like.data)) {
      put(doubles_);
    } else {
      put(floats_);
    }
  }
  // One score per class for all rows, in the type and layout of `like`.
  void AssignConstants(std::span<const double> by_class, const ScoreView& like) {
    view_ = like;
    const auto put = [&](auto& values) {
      values.resize(like.size());
      const bool class_major = like.layout == ScoreLayout::kClassMajor;
      for (std::size_t j = 0; j < like.size(); ++j) {
        const std::size_t k = class_major ? j / like.num_rows : j % like.num_scores;
        values[j] = static_cast<typename std::decay_t<decltype(values)>::value_type>(by_class[k]);
      }
      view_.data = values.data();
    };
    if (std::holds_alternative<const double*>(like.data)) {
      put(doubles_);
    } else {
      put(floats_);
    }
  }
  void Clear() { *this = {}; }
  // No rows before the first Assign() and after Clear().
  const ScoreView& view() const { return view_; }

 private:
  std::vector<double> doubles_;
  std::vector<float> floats_;
  ScoreView view_;
};

// body(row, score, value), value as a double; class by class where the layout is.
template <class Body>
void ForEachScore(const ScoreView& scores, const Body& body) {
  std::visit(
      [&](const auto* data) {
        const bool class_major = scores.layout == ScoreLayout::kClassMajor;
        const std::size_t row_stride = class_major ? 1 : scores.num_scores;
        const std::size_t class_stride = class_major ? scores.num_rows : 1;
        for (std::size_t k = 0; k < scores.num_scores; ++k) {
          for (std::size_t i = 0; i < scores.num_rows; ++i) {
            body(i, k, static_cast<double>(data[i * row_stride + k * class_stride]));
          }
        }
      },
      scores.data);
}

inline void ToClassMajor(const ScoreView& scores, std::vector<double>& result) {
  result.resize(scores.size());
  ForEachScore(scores, [&](std::size_t row, std::size_t k, double value) {
    result[k * scores.num_rows + row] = value;
  });
}

// The score of each class where all rows have the same, as those of a model without trees; else
// nothing.
inline std::vector<double> ConstantScores(const ScoreView& scores) {
  return std::visit(
      [&](const auto* data) -> std::vector<double> {
        const bool class_major = scores.layout == ScoreLayout::kClassMajor;
        const std::size_t row_stride = class_major ? 1 : scores.num_scores;
        const std::size_t class_stride = class_major ? scores.num_rows : 1;
        std::vector<double> by_class;
        for (std::size_t k = 0; k < scores.num_scores; ++k) {
          const auto first = data[k * class_stride];
          for (std::size_t i = 0; i < scores.num_rows; ++i) {
            if (data[i * row_stride + k * class_stride] != first) return {};
          }
          by_class.push_back(static_cast<double>(first));
        }
        return by_class;
      },
      scores.data);
}

}  // namespace bregboost::detail
