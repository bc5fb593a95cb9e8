#include "bregboost/data/text_file.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "error_text.h"

namespace bregboost {
namespace {

using testing::ErrorOf;

std::string ReadAll(TextSource& source, std::size_t buffer_bytes = 4096) {
  std::string text;
  std::vector<char> buffer(buffer_bytes);
  while (const std::size_t size = source.Read(buffer)) text.append(buffer.data(), size);
  return text;
}

class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& contents)
      : path_(::testing::TempDir() + "bregboost_" + std::to_string(getpid()) + "_" + name) {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::uint8_t* Bytes(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
std::uint8_t* Bytes(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }

std::string Gzip(std::string text) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = Bytes(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = Bytes(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, Bytes(text), text.size(),
                                    Bytes(packed), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

std::string Zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

struct Packer {
  std::string ending;
  std::string (*pack)(std::string);
};

const std::vector<Packer> kPackers = {
    {".gz", Gzip},
    {".xz", [](std::string text) { return Xz(text); }},
    {".zst", [](std::string text) { return Zstd(text); }},
};

// Lines of digits, so that compression neither fails nor wins by much.
std::string ManyLines(std::size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random()) + '\n';
  return text;
}

TEST(TextFile, ReadsPlainFiles) {
  const std::string text = ManyLines(300'000);
  const TemporaryFile file("plain.csv", text);
  EXPECT_EQ(ReadAll(*OpenTextFile(file.path())), text);
}

TEST(TextFile, CompressedEqualsPlain) {
  const std::string text = ManyLines(300'000);
  for (const Packer& packer : kPackers) {
    const TemporaryFile file("packed" + packer.ending, packer.pack(text));
    const auto source = OpenTextFile(file.path());
    EXPECT_EQ(ReadAll(*source), text) << packer.ending;
    source->Rewind();
    EXPECT_EQ(ReadAll(*source, 777), text) << packer.ending << " again";
  }
}

TEST(TextFile, HighlyCompressedEqualsPlain) {
  const std::string text(5'000'000, 'x');  // a block of input makes many blocks of output
  for (const Packer& packer : kPackers) {
    const TemporaryFile file("runs" + packer.ending, packer.pack(text));
    EXPECT_EQ(ReadAll(*OpenTextFile(file.path())), text) << packer.ending;
  }
}

TEST(TextFile, ReadsSeveralMembersAsOneText) {
  for (const Packer& packer : kPackers) {
    const TemporaryFile file("two" + packer.ending, packer.pack("one\n") + packer.pack("two\n"));
    EXPECT_EQ(ReadAll(*OpenTextFile(file.path())), "one\ntwo\n") << packer.ending;
  }
}

TEST(TextFile, TruncatedCompressionIsAnError) {
  const std::string text = ManyLines(2'000);
  for (const Packer& packer : kPackers) {
    const std::string packed = packer.pack(text);
    for (std::size_t size = 1; size < packed.size(); size += 1 + size / 7) {
      const TemporaryFile file("cut" + packer.ending, packed.substr(0, size));
      const std::string error = ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); });
      EXPECT_NE(error.find("compression ends too early"), std::string::npos)
          << packer.ending << ' ' << size << ": " << error;
      EXPECT_NE(error.find(file.path()), std::string::npos);
    }
  }
}

TEST(TextFile, CorruptCompressionIsAnError) {
  const std::string text = ManyLines(2'000);
  for (const Packer& packer : kPackers) {
    for (const double where : {0.0, 0.5, 0.9}) {
      std::string packed = packer.pack(text);
      char& byte = packed[static_cast<std::size_t>(where * static_cast<double>(packed.size()))];
      byte = static_cast<char>(byte ^ 0x55);
      const TemporaryFile file("corrupt" + packer.ending, packed);
      EXPECT_NE(ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); }), "no error")
          << packer.ending << ' ' << where;
    }
    const TemporaryFile file("plain" + packer.ending, text);
    const std::string error = ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); });
    EXPECT_NE(error.find("compression is corrupt"), std::string::npos) << error;
  }
}

// Writes the checksum of these bytes behind them, as xz does.
void PutChecksum(std::string& packed, std::size_t begin, std::size_t length) {
  const std::uint32_t checksum = lzma_crc32(Bytes(packed) + begin, length, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    packed[begin + length + i] = static_cast<char>((checksum >> (8 * i)) & 0xFFU);
  }
}

// The header of a block names its dictionary, of up to 4 GiB, whatever the block holds.
TEST(TextFile, XzMayNotTakeAllMemory) {
  std::string packed = Xz("a,b\n1,2\n");
  constexpr std::size_t kBlock = 12;  // behind the header of the stream
  const std::size_t filter = packed.find("\x21\x01", kBlock);
  packed[filter + 2] = 40;
  PutChecksum(packed, kBlock, 4U * static_cast<unsigned char>(packed[kBlock]));
  const TemporaryFile file("large.xz", packed);
  const std::string error = ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); });
  EXPECT_NE(error.find("more than 512 MiB of memory"), std::string::npos) << error;
}

// Of a newer xz, say: what the flags of the stream ask for is not known.
TEST(TextFile, XzWithUnknownOptionsIsAnError) {
  std::string packed = Xz("a,b\n1,2\n");
  constexpr std::size_t kFlags = 6;  // behind the magic bytes
  packed[kFlags] = 1;
  PutChecksum(packed, kFlags, 2);
  const TemporaryFile file("newer.xz", packed);
  EXPECT_EQ(ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); }),
            "cannot read '" + file.path() +
                "': its .xz compression is corrupt (xz options that are not known); allowed: a "
                "whole file");
}

TEST(TextFile, APipeIsReadOnce) {
  const std::string path = ::testing::TempDir() + "bregboost_" + std::to_string(getpid()) + "_pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(path) << "a\n1\n"; });
  const auto source = OpenTextFile(path);
  EXPECT_EQ(ReadAll(*source), "a\n1\n");
  EXPECT_EQ(ErrorOf([&] { source->Rewind(); }),
            "cannot read '" + path + "': it is needed twice; allowed: a file, not a pipe");
  std::filesystem::remove(path);
}

TEST(TextFile, SaysWhatIsWrongWithAFile) {
  const std::string folder = ::testing::TempDir();
  EXPECT_NE(ErrorOf([&] { OpenTextFile(folder); }).find("it is a folder"), std::string::npos);
  const std::string missing = folder + "bregboost_no_such_file.csv";
  EXPECT_EQ(ErrorOf([&] { OpenTextFile(missing); }),
            "cannot read '" + missing + "': No such file or directory");
  for (const char* name : {"empty.csv", "empty.csv.gz", "empty.csv.xz", "empty.csv.zst"}) {
    const TemporaryFile file(name, "");
    EXPECT_NE(ErrorOf([&] { OpenTextFile(file.path()); }).find("it is empty"), std::string::npos);
  }
  for (const Packer& packer : kPackers) {
    const TemporaryFile file("nothing" + packer.ending, packer.pack(""));
    const std::string error = ErrorOf([&] { ReadAll(*OpenTextFile(file.path())); });
    EXPECT_NE(error.find("it is empty"), std::string::npos) << packer.ending << error;
  }
}

TEST(TextFile, FilesThatMayNotBeReadAreAnError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const TemporaryFile file("secret.csv", "a\n1\n");
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  EXPECT_NE(ErrorOf([&] { OpenTextFile(file.path()); }).find("Permission denied"),
            std::string::npos);
}

TEST(TextSource, NulIsABinaryFile) {
  using namespace std::string_literals;
  for (std::size_t block = 1; block < 9; ++block) {
    const std::string text = "a,b\n1,\0"s;
    TextView view(text, "x.csv", block);
    const std::string error = ErrorOf([&] { ReadAll(view); });
    EXPECT_TRUE(error.starts_with("'x.csv', line 2, column 3: a NUL byte")) << error;
    EXPECT_NE(error.find("binary file"), std::string::npos);
  }
}

TEST(TextSource, AcceptsEveryCharacterOfUnicode) {
  std::string all;
  for (std::uint32_t c = 1; c <= 0x10FFFF; c += c < 0x900 ? 1 : 61) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const auto tail = [&](unsigned shift) {
      all += static_cast<char>(0x80U | ((c >> shift) & 0x3FU));
    };
    if (c < 0x80) {
      all += static_cast<char>(c);
    } else if (c < 0x800) {
      all += static_cast<char>(0xC0U | (c >> 6U));
      tail(0);
    } else if (c < 0x10000) {
      all += static_cast<char>(0xE0U | (c >> 12U));
      tail(6);
      tail(0);
    } else {
      all += static_cast<char>(0xF0U | (c >> 18U));
      tail(12);
      tail(6);
      tail(0);
    }
  }
  for (const std::size_t block : {std::size_t{1}, std::size_t{2}, std::size_t{3}, all.size()}) {
    TextView view(all, "all", block);
    EXPECT_EQ(ReadAll(view), all);
  }
}

TEST(TextSource, RefusesWhatIsNotUtf8) {
  // A continuation alone, overlong forms, a surrogate, beyond the last plane, Latin-1, cut short.
  const std::vector<std::string> wrong = {
      "\x80",         "\xC0\xAF",         "\xC1\xBF",         "\xE0\x9F\xBF",
      "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFF",
      "\xE9t",        "\xE2\x82x"};
  for (const std::string& bytes : wrong) {
    const std::string text = "a\n\xC3\xA4" + bytes + "\n";
    for (std::size_t block = 1; block < 9; ++block) {
      TextView view(text, "x.csv", block);
      const std::string error = ErrorOf([&] { ReadAll(view); });
      EXPECT_TRUE(error.starts_with("'x.csv', line 2, column ")) << error;
      EXPECT_NE(error.find("is not UTF-8"), std::string::npos) << error;
    }
  }
  TextView cut("a\n\xE2\x82", "x.csv");
  EXPECT_NE(ErrorOf([&] { ReadAll(cut); }).find("line 2, column 1: the text ends inside"),
            std::string::npos);
}

TEST(TextView, RewindsAndChecksItsBlock) {
  TextView view("abc", "x", 2);
  EXPECT_EQ(ReadAll(view), "abc");
  view.Rewind();
  EXPECT_EQ(ReadAll(view), "abc");
  EXPECT_THROW(TextView("abc", "x", 0), std::invalid_argument);
  TextView empty("");
  EXPECT_NE(ErrorOf([&] { ReadAll(empty); }).find("it is empty"), std::string::npos);
}

TEST(WithoutCompression, CutsOneEnding) {
  EXPECT_EQ(WithoutCompression("a/b.csv.gz"), "a/b.csv");
  EXPECT_EQ(WithoutCompression("b.tsv.xz"), "b.tsv");
  EXPECT_EQ(WithoutCompression("b.zst"), "b");
  EXPECT_EQ(WithoutCompression("b.csv"), "b.csv");
}

}  // namespace
}  // namespace bregboost
