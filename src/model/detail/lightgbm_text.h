// LightGBM's model text, taken apart and checked: what the exporter edits is parsed, all other
// lines stay as they were written.
//
//   tree                        Tree=0                 end of trees       parameters:
//   version=v4                  num_leaves=4                              [boosting: gbdt]
//   num_class=1          ->     ...               ->   feature_     ->    ...
//   ...                         leaf_value=...         importances:
//   tree_sizes=521 583          shrinkage=0.1          ...                end of parameters
//
// with an empty line after the header and two after each tree; `tree_sizes` counts each tree's
// bytes, its empty lines included. Python appends a line `pandas_categorical:...`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bregboost::detail {

struct TextLine {
  std::string_view key;
  std::string_view value;  // what follows '='; empty in lines without one
  std::size_t number = 0;  // in the text, from 1
};

struct LightGbmTree {
  std::vector<TextLine> lines;  // below "Tree=i"
  std::vector<double> leaf_values;
  std::vector<double> internal_values;
  double shrinkage = 1.0;
  std::vector<std::size_t> split_features;  // one entry per split that gains something
};

// Views into the text that was parsed.
struct LightGbmText {
  std::vector<TextLine> header;  // below "tree"
  std::size_t trees_per_round = 1;
  std::vector<std::string_view> feature_names;
  std::vector<LightGbmTree> trees;           // a multiple of trees_per_round
  std::vector<std::string_view> parameters;  // lines "[key: value]"
  std::string_view rest;                     // below "end of parameters"

  // Of a header line, or nullptr.
  const TextLine* Find(std::string_view key) const;
};

// Throws std::invalid_argument that starts with `name` and the line, if the text is not what
// LightGBM 4 writes, is cut short, or holds what leaves cannot express.
LightGbmText ParseLightGbmText(std::string_view text, const std::string& name);

// The same of a text that LightGBM is to read, which believes what it says of itself: over some
// that are damaged it reads and writes beyond its arrays, over others it ends the process.
LightGbmText ParseForLightGbm(std::string_view text, const std::string& name);

}  // namespace bregboost::detail
