#include "data/detail/decoder.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

namespace bregboost::detail {
namespace {

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipWrapper = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipWrapper) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  Step Decode(std::span<const char> input, std::span<char> output, bool) override {
    if (is_complete_ && input.empty()) return {};
    if (is_complete_) inflateReset(&stream_);  // another member follows
    constexpr std::size_t kMaxBytes = std::numeric_limits<uInt>::max();
    const std::size_t available = std::min(input.size(), kMaxBytes);
    const std::size_t room = std::min(output.size(), kMaxBytes);
    // zlib does not write through next_in, though its type would let it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
    stream_.avail_in = static_cast<uInt>(available);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw std::runtime_error(stream_.msg != nullptr ? stream_.msg : "invalid gzip data");
    }
    is_complete_ = status == Z_STREAM_END;
    return {.consumed = available - stream_.avail_in, .produced = room - stream_.avail_out};
  }

  bool is_complete() const override { return is_complete_; }

 private:
  z_stream stream_ = {};
  bool is_complete_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() {
    if (lzma_stream_decoder(&stream_, kMaxMemory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~XzDecoder() override { lzma_end(&stream_); }

  Step Decode(std::span<const char> input, std::span<char> output, bool is_last) override {
    if (is_complete_) return {};
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    const lzma_ret status = lzma_code(&stream_, is_last ? LZMA_FINISH : LZMA_RUN);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_MEMLIMIT_ERROR) {
      throw std::runtime_error("it takes more than 512 MiB of memory to unpack");
    }
    if (status == LZMA_FORMAT_ERROR) throw std::runtime_error("not xz data");
    if (status == LZMA_OPTIONS_ERROR) throw std::runtime_error("xz options that are not known");
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR) {
      throw std::runtime_error("invalid xz data");
    }
    is_complete_ = status == LZMA_STREAM_END;
    return {.consumed = input.size() - stream_.avail_in,
            .produced = output.size() - stream_.avail_out};
  }

  bool is_complete() const override { return is_complete_; }

 private:
  // A few bytes can ask for 4 GiB; xz -9 needs 65 MiB.
  static constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 29;

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_complete_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

  Step Decode(std::span<const char> input, std::span<char> output, bool) override {
    if (input.empty() && is_complete_) return {};
    ZSTD_inBuffer in = {.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer out = {.dst = output.data(), .size = output.size(), .pos = 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(status)) throw std::runtime_error(ZSTD_getErrorName(status));
    is_complete_ = status == 0;
    return {.consumed = in.pos, .produced = out.pos};
  }

  bool is_complete() const override { return is_complete_; }

 private:
  ZSTD_DStream* stream_;
  bool is_complete_ = false;
};

}  // namespace

Compression CompressionOf(std::string_view path) {
  for (const Compression kind : {Compression::kGzip, Compression::kXz, Compression::kZstd}) {
    if (path.ends_with(Ending(kind))) return kind;
  }
  return Compression::kNone;
}

std::string_view Ending(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "";
    case Compression::kGzip:
      return ".gz";
    case Compression::kXz:
      return ".xz";
    case Compression::kZstd:
      return ".zst";
  }
  return "";
}

std::unique_ptr<Decoder> MakeDecoder(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return nullptr;
    case Compression::kGzip:
      return std::make_unique<GzipDecoder>();
    case Compression::kXz:
      return std::make_unique<XzDecoder>();
    case Compression::kZstd:
      return std::make_unique<ZstdDecoder>();
  }
  return nullptr;
}

}  // namespace bregboost::detail
