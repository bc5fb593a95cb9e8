// Decompression of a stream in steps, one class per format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace bregboost::detail {

enum class Compression { kNone, kGzip, kXz, kZstd };

// By the end of the name: .gz, .xz, .zst.
Compression CompressionOf(std::string_view path);

// ".gz"; empty for kNone.
std::string_view Ending(Compression compression);

class Decoder {
 public:
  struct Step {
    std::size_t consumed = 0, produced = 0;
  };

  virtual ~Decoder() = default;

  // Throws std::runtime_error with the reason if the input is corrupt. `is_last` says that no input
  // follows; then a step that produces nothing is the end.
  virtual Step Decode(std::span<const char> input, std::span<char> output, bool is_last) = 0;

  // Whether the input so far ends where a compressed stream may end.
  virtual bool is_complete() const = 0;
};

// Null for kNone.
std::unique_ptr<Decoder> MakeDecoder(Compression compression);

}  // namespace bregboost::detail
