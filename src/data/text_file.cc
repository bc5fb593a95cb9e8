#include "bregboost/data/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "data/detail/decoder.h"
#include "data/detail/place.h"

namespace bregboost {
namespace {

[[noreturn]] void Fail(const std::string& name, const std::string& reason) {
  throw std::invalid_argument(fmt::format("cannot read '{}': {}", name, reason));
}

bool IsAscii(std::string_view block) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + sizeof(seen) <= block.size(); i += sizeof(seen)) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + i, sizeof(word));
    seen |= word;
  }
  for (; i < block.size(); ++i) seen |= static_cast<unsigned char>(block[i]);
  return (seen & kHighBits) == 0;
}

}  // namespace

std::size_t TextSource::Read(std::span<char> buffer) {
  const std::size_t size = ReadUnchecked(buffer);
  if (size == 0) {
    CheckEnd();
  } else {
    Check({buffer.data(), size});
  }
  return size;
}

void TextSource::Rewind() {
  RewindUnchecked();
  lines_before_ = columns_before_ = 0;
  is_empty_ = true;
  continuation_bytes_ = 0;
}

void TextSource::Check(std::string_view block) {
  is_empty_ = false;
  if (const std::size_t offset = block.find('\0'); offset != std::string_view::npos) {
    throw std::invalid_argument(fmt::format(
        "{}: a NUL byte, so this is a binary file; allowed: text, or text compressed into a "
        "file that ends in .gz, .xz or .zst",
        PlaceOf(block, offset)));
  }
  if (continuation_bytes_ > 0 || !IsAscii(block)) CheckUtf8(block);
  std::size_t line_start = 0;
  for (std::size_t at = block.find('\n'); at != std::string_view::npos;
       at = block.find('\n', line_start)) {
    line_start = at + 1;
    ++lines_before_;
    columns_before_ = 0;
  }
  columns_before_ += detail::NumCharacters(block.substr(line_start));
}

// Unicode's table of well-formed UTF-8: the first byte tells how many follow, and the range of the
// second rules out overlong forms, surrogates and what lies beyond U+10FFFF.
void TextSource::CheckUtf8(std::string_view block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto byte = static_cast<unsigned char>(block[i]);
    bool is_valid = true;
    if (continuation_bytes_ > 0) {
      is_valid = byte >= next_at_least_ && byte <= next_at_most_;
      --continuation_bytes_;
      next_at_least_ = 0x80;
      next_at_most_ = 0xBF;
    } else if (byte >= 0x80) {
      is_valid = byte >= 0xC2 && byte <= 0xF4;
      continuation_bytes_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      next_at_least_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
      next_at_most_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
    }
    if (!is_valid) {
      throw std::invalid_argument(
          fmt::format("{}: byte 0x{:02x} is not UTF-8; allowed: text in UTF-8", PlaceOf(block, i),
                      static_cast<unsigned>(byte)));
    }
  }
}

void TextSource::FailAsEmpty() const { Fail(name_, "it is empty; allowed: at least one line"); }

void TextSource::CheckEnd() const {
  if (is_empty_) FailAsEmpty();
  if (continuation_bytes_ > 0) {
    throw std::invalid_argument(
        fmt::format("{}: the text ends inside a character; allowed: text in UTF-8",
                    detail::Place(name_, lines_before_ + 1, columns_before_)));
  }
}

std::string TextSource::PlaceOf(std::string_view block, std::size_t offset) const {
  const std::string_view before = block.substr(0, offset);
  const auto breaks = std::count(before.begin(), before.end(), '\n');
  const std::size_t last_break = before.rfind('\n');
  const bool is_same_line = last_break == std::string_view::npos;
  const std::uint64_t characters = is_same_line
                                       ? columns_before_ + detail::NumCharacters(before)
                                       : detail::NumCharacters(before.substr(last_break + 1));
  return detail::Place(name_, lines_before_ + static_cast<std::uint64_t>(breaks) + 1,
                       characters + 1);
}

TextView::TextView(std::string_view text, std::string name, std::size_t block_bytes)
    : TextSource(std::move(name)), text_(text), block_bytes_(block_bytes) {
  if (block_bytes == 0) throw std::invalid_argument("block_bytes: 0; allowed: at least 1");
}

std::size_t TextView::ReadUnchecked(std::span<char> buffer) {
  const std::size_t size = std::min({buffer.size(), block_bytes_, text_.size() - read_});
  std::copy_n(text_.data() + read_, size, buffer.data());
  read_ += size;
  return size;
}

namespace {

class TextFile final : public TextSource {
 public:
  explicit TextFile(const std::string& path)
      : TextSource(path), compression_(detail::CompressionOf(path)) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) FailWithSystemError();
    if (S_ISDIR(status.st_mode)) Fail(path, "it is a folder; allowed: a file");
    can_rewind_ = S_ISREG(status.st_mode);
    if (can_rewind_ && status.st_size == 0) FailAsEmpty();
    Open();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static constexpr std::size_t kCompressedBytes = 1U << 16;

  std::size_t ReadUnchecked(std::span<char> buffer) override {
    if (decoder_ == nullptr) return ReadFile(buffer);
    for (;;) {
      if (unread_.empty() && !is_at_end_) {
        const std::size_t size = ReadFile(compressed_);
        is_at_end_ = size == 0;
        unread_ = std::span<const char>(compressed_).first(size);
      }
      const detail::Decoder::Step step = Decode(buffer);
      unread_ = unread_.subspan(step.consumed);
      if (step.produced > 0) return step.produced;
      const bool is_stuck = step.consumed == 0 && !unread_.empty();
      if (!is_at_end_ && !is_stuck) continue;
      if (!decoder_->is_complete()) {
        Fail(name(), fmt::format("its {} compression ends too early; allowed: a whole file",
                                 detail::Ending(compression_)));
      }
      return 0;
    }
  }

  detail::Decoder::Step Decode(std::span<char> buffer) {
    try {
      return decoder_->Decode(unread_, buffer, is_at_end_);
    } catch (const std::runtime_error& error) {
      Fail(name(), fmt::format("its {} compression is corrupt ({}); allowed: a whole file",
                               detail::Ending(compression_), error.what()));
    }
  }

  void RewindUnchecked() override {
    if (!can_rewind_) Fail(name(), "it is needed twice; allowed: a file, not a pipe");
    Open();
  }

  void Open() {
    file_.reset(std::fopen(name().c_str(), "rb"));
    if (file_ == nullptr) FailWithSystemError();
    // Blocks are large, and a buffer in between would only copy them.
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    decoder_ = detail::MakeDecoder(compression_);
    if (decoder_ != nullptr) compressed_.resize(kCompressedBytes);
    unread_ = {};
    is_at_end_ = false;
  }

  std::size_t ReadFile(std::span<char> buffer) {
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file_.get());
    if (size == 0 && std::ferror(file_.get()) != 0) FailWithSystemError();
    return size;
  }

  [[noreturn]] void FailWithSystemError() const {
    Fail(name(), std::error_code(errno, std::generic_category()).message());
  }

  detail::Compression compression_;
  bool can_rewind_ = false;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<detail::Decoder> decoder_;
  std::vector<char> compressed_;
  std::span<const char> unread_;  // of compressed_
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<TextSource> OpenTextFile(const std::string& path) {
  return std::make_unique<TextFile>(path);
}

std::string_view WithoutCompression(std::string_view path) {
  path.remove_suffix(detail::Ending(detail::CompressionOf(path)).size());
  return path;
}

}  // namespace bregboost
