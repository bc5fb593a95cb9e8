// Numbers and texts as bytes and back, for files that this library alone writes and reads. Whatever
// the bytes are, reading them ends in values or in std::runtime_error, and takes no more memory
// than they have.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bregboost::detail {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  void Put(std::int64_t value) { Append(&value, sizeof value); }
  void Put(double value) { Append(&value, sizeof value); }
  void Put(std::string_view text) {
    Put(static_cast<std::int64_t>(text.size()));
    Append(text.data(), text.size());
  }
  template <class Number>
  void Put(const std::vector<Number>& values) {
    static_assert(std::is_arithmetic_v<Number>);
    Put(static_cast<std::int64_t>(values.size()));
    Append(values.data(), values.size() * sizeof(Number));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void Append(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t Integer() { return Number<std::int64_t>(); }
  double Real() { return Number<double>(); }
  std::string Text() { return std::string(Take(Count(1))); }
  template <class Value>
  std::vector<Value> Numbers() {
    static_assert(std::is_arithmetic_v<Value>);
    const std::size_t count = Count(sizeof(Value));
    std::vector<Value> values(count);
    const std::string_view bytes = Take(count * sizeof(Value));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // How many things follow, each of which takes at least `bytes_each`.
  std::size_t Count(std::size_t bytes_each) {
    const std::int64_t count = Integer();
    if (count < 0 || static_cast<std::uint64_t>(count) > rest_.size() / bytes_each) {
      throw std::runtime_error("a length that exceeds the bytes that are there");
    }
    return static_cast<std::size_t>(count);
  }

  void RequireEnd() const {
    if (!rest_.empty()) throw std::runtime_error("more bytes than there should be");
  }

 private:
  template <class Value>
  Value Number() {
    Value value;
    std::memcpy(&value, Take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view Take(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("the bytes end too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace bregboost::detail
