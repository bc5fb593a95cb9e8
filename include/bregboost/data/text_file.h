// Text in blocks, out of a file (plain, .gz, .xz or .zst by its name) or out of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bregboost {

// Every byte that Read() hands out has been checked: no NUL, valid UTF-8, at least one byte in all.
// Whatever is wrong is a std::invalid_argument that names the source and says what it is, with line
// and column where it has a place.
class TextSource {
 public:
  virtual ~TextSource() = default;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  // Writes the next bytes to the start of `buffer`, which has room, and returns how many; 0 means
  // the end.
  std::size_t Read(std::span<char> buffer);

  // Starts again at the first byte. Throws std::invalid_argument for a pipe.
  void Rewind();

  // What errors call it: the file's path.
  const std::string& name() const { return name_; }

 protected:
  explicit TextSource(std::string name) : name_(std::move(name)) {}

  [[noreturn]] void FailAsEmpty() const;

 private:
  virtual std::size_t ReadUnchecked(std::span<char> buffer) = 0;
  virtual void RewindUnchecked() = 0;

  void Check(std::string_view block);
  void CheckUtf8(std::string_view block);
  void CheckEnd() const;
  std::string PlaceOf(std::string_view block, std::size_t offset) const;

  std::string name_;
  std::uint64_t lines_before_ = 0;    // line breaks in earlier blocks
  std::uint64_t columns_before_ = 0;  // characters of the last line that earlier blocks hold
  bool is_empty_ = true;
  // The rest of a character that an earlier block began.
  int continuation_bytes_ = 0;
  unsigned char next_at_least_ = 0, next_at_most_ = 0;
};

// Throws std::invalid_argument if the file is missing, a folder, or may not be read. Several
// members, streams or frames in one compressed file are read as one text.
std::unique_ptr<TextSource> OpenTextFile(const std::string& path);

// Reads `text`, which must outlive it, at most `block_bytes` at a time.
class TextView final : public TextSource {
 public:
  explicit TextView(std::string_view text, std::string name = "text",
                    std::size_t block_bytes = std::numeric_limits<std::size_t>::max());

 private:
  std::size_t ReadUnchecked(std::span<char> buffer) override;
  void RewindUnchecked() override { read_ = 0; }

  std::string_view text_;
  std::size_t block_bytes_, read_ = 0;
};

// "rows.csv.gz" becomes "rows.csv": the name without the ending that tells the compression.
std::string_view WithoutCompression(std::string_view path);

}  // namespace bregboost
