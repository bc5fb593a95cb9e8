#include "model/detail/ubjson.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "model/detail/big_endian.h"

namespace bregboost::detail {
namespace {

// Deeper than any model; reader and writer recurse.
constexpr int kMaxDepth = 32;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Json Document() {
    Json document = Value(Marker(), 0);
    if (at_ != bytes_.size()) Fail("there is more behind the end");
    return document;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::invalid_argument(
        fmt::format("{}, byte {}: no UBJSON, or cut short: {}", name_, at_ + 1, what));
  }

  std::string_view Take(std::size_t count) {
    if (count > bytes_.size() - at_) Fail(fmt::format("{} bytes are missing", count));
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  char Marker() { return Take(1)[0]; }

  bool TakeIf(char marker) {
    if (at_ == bytes_.size() || bytes_[at_] != marker) return false;
    ++at_;
    return true;
  }

  template <class Number>
  Number Read() {
    return FromBigEndian<Number>(Take(sizeof(Number)).data());
  }

  std::int64_t Integer(char marker) {
    switch (marker) {
      case 'i':
        return Read<std::int8_t>();
      case 'U':
        return Read<std::uint8_t>();
      case 'I':
        return Read<std::int16_t>();
      case 'l':
        return Read<std::int32_t>();
      case 'L':
        return Read<std::int64_t>();
      default:
        Fail(fmt::format("'{}' for a whole number", marker));
    }
  }

  // Of things that take at least `width` bytes each.
  std::size_t Length(std::size_t width) {
    const std::int64_t length = Integer(Marker());
    const std::size_t left = (bytes_.size() - at_) / width;
    if (length < 0 || static_cast<std::uint64_t>(length) > left) {
      Fail(fmt::format("length {}, of at most {} that fit", length, left));
    }
    return static_cast<std::size_t>(length);
  }

  std::string String() { return std::string(Take(Length(1))); }

  Json Value(char marker, int depth) {
    if (depth > kMaxDepth) Fail(fmt::format("nested deeper than {}", kMaxDepth));
    switch (marker) {
      case '{':
        return Object(depth);
      case '[':
        return Array(depth);
      case 'S':
        return String();
      case 'd':
        return static_cast<double>(Read<float>());
      case 'D':
        return Read<double>();
      case 'T':
        return true;
      case 'F':
        return false;
      case 'Z':
        return nullptr;
      default:
        return Integer(marker);
    }
  }

  Json Object(int depth) {
    Json object = Json::object();
    while (!TakeIf('}')) {
      std::string key = String();
      object[std::move(key)] = Value(Marker(), depth + 1);
    }
    return object;
  }

  Json Array(int depth) {
    if (TakeIf('$')) return TypedArray();
    Json array = Json::array();
    if (TakeIf('#')) {
      for (std::size_t left = Length(1); left > 0; --left) {
        array.push_back(Value(Marker(), depth + 1));
      }
      return array;
    }
    while (!TakeIf(']')) array.push_back(Value(Marker(), depth + 1));
    return array;
  }

  Json TypedArray() {
    const char type = Marker();
    const std::size_t width = WidthOf(type);
    if (width == 0 || !TakeIf('#')) Fail(fmt::format("'{}' for an array of numbers", type));
    const std::string_view payload = Take(Length(width) * width);
    return Json::binary({payload.begin(), payload.end()}, static_cast<std::uint8_t>(type));
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

template <class Number>
void AppendNumber(char marker, Number number, std::string& out) {
  out += marker;
  std::array<char, sizeof(Number)> bytes;
  ToBigEndian(number, bytes.data());
  out.append(bytes.data(), bytes.size());
}

void AppendLength(std::size_t length, std::string& out) {
  AppendNumber('L', static_cast<std::int64_t>(length), out);
}

template <class Number>
bool Fits(std::int64_t value) {
  return value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
}

// The shortest form, as in the library.
void AppendInteger(std::int64_t value, std::string& out) {
  if (Fits<std::int8_t>(value)) return AppendNumber('i', static_cast<std::int8_t>(value), out);
  if (Fits<std::int16_t>(value)) return AppendNumber('I', static_cast<std::int16_t>(value), out);
  if (Fits<std::int32_t>(value)) return AppendNumber('l', static_cast<std::int32_t>(value), out);
  AppendNumber('L', value, out);
}

void Append(const Json& json, std::string& out);

void AppendObject(const Json& object, std::string& out) {
  out += '{';
  for (const auto& [key, value] : object.items()) {
    AppendLength(key.size(), out);
    out += key;
    Append(value, out);
  }
  out += '}';
}

void AppendTyped(const Json::binary_t& array, std::string& out) {
  const auto type = static_cast<char>(array.subtype());
  out += "[$";
  out += type;
  out += '#';
  AppendLength(array.size() / WidthOf(type), out);
  out.append(array.begin(), array.end());
}

void Append(const Json& json, std::string& out) {
  switch (json.type()) {
    case Json::value_t::object:
      return AppendObject(json, out);
    case Json::value_t::array:
      out += "[#";
      AppendLength(json.size(), out);
      for (const Json& value : json) Append(value, out);
      return;
    case Json::value_t::binary:
      return AppendTyped(json.get_binary(), out);
    case Json::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      out += 'S';
      AppendLength(text.size(), out);
      out += text;
      return;
    }
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return AppendInteger(json.get<std::int64_t>(), out);
    case Json::value_t::number_float:
      return AppendNumber('d', json.get<float>(), out);
    case Json::value_t::boolean:
      out += json.get<bool>() ? 'T' : 'F';
      return;
    case Json::value_t::null:
    case Json::value_t::discarded:
      out += 'Z';
  }
}

}  // namespace

std::size_t WidthOf(char marker) {
  switch (marker) {
    case 'i':
    case 'U':
      return 1;
    case 'I':
      return 2;
    case 'l':
    case 'd':
      return 4;
    case 'L':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

bool IsUbjson(std::string_view bytes) {
  constexpr std::string_view kLengths = "iUIlL";
  return bytes.size() >= 2 && bytes[0] == '{' && kLengths.find(bytes[1]) != std::string_view::npos;
}

Json ParseUbjson(std::string_view bytes, const std::string& name) {
  return Reader(bytes, name).Document();
}

std::string UbjsonBytes(const Json& json) {
  std::string bytes;
  Append(json, bytes);
  return bytes;
}

}  // namespace bregboost::detail
