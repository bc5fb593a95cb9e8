// Files that end in .gz, .xz and .zst: damaged ones are errors, whatever they claim to hold.
#include <array>
#include <stdexcept>

#include "data/detail/decoder.h"
#include "fuzz_target.h"

namespace {

using bregboost::detail::Compression;
using bregboost::detail::Decoder;

// A file tells its kind by its name, an input by its first byte.
Compression KindOf(std::string_view bytes) {
  if (bytes.starts_with('\x1f')) return Compression::kGzip;
  return bytes.starts_with('\xfd') ? Compression::kXz : Compression::kZstd;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = bregboost::fuzz::TextOf(data, size);
  constexpr std::size_t kMostSteps = 1000;  // a few bytes may stand for gigabytes
  std::array<char, 1000> output;
  std::span<const char> unread(bytes.data(), bytes.size());
  try {
    const auto decoder = bregboost::detail::MakeDecoder(KindOf(bytes));
    for (std::size_t step = 0; step < kMostSteps; ++step) {
      // As from a file that is read in pieces.
      const std::span<const char> piece = unread.first(std::min<std::size_t>(unread.size(), 100));
      const Decoder::Step done = decoder->Decode(piece, output, /*is_last=*/unread.empty());
      bregboost::fuzz::Require(done.consumed <= piece.size() && done.produced <= output.size(),
                               "a step stays within its input and output");
      unread = unread.subspan(done.consumed);
      if (done.consumed == 0 && done.produced == 0) break;
    }
  } catch (const std::runtime_error&) {
    // What text_file.cc says is corrupt.
  }
  return 0;
}
