#include "katana/http/coding/codec.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "katana/base/system/check.hpp"

namespace katana::coding {
namespace {

// The room that `out` gets at a time.
constexpr std::size_t step_bytes = 4096;

class GzipEncoder final : public Encoder {
 public:
  explicit GzipEncoder(const EncoderOptions& options) {
    constexpr int gzip_window_bits = 15 + 16;
    constexpr int memory_level = 8;
    const int made = deflateInit2(&stream_, std::clamp(options.gzip_level, 1, 9), Z_DEFLATED,
                                  gzip_window_bits, memory_level, Z_DEFAULT_STRATEGY);
    if (made != Z_OK) throw std::bad_alloc();
  }
  ~GzipEncoder() override { deflateEnd(&stream_); }

  void encode(Bytes input, Flush flush, Text& out) override {
    const int mode = flush == Flush::finish  ? Z_FINISH
                     : flush == Flush::flush ? Z_SYNC_FLUSH
                                             : Z_NO_FLUSH;
    // zlib's input is not const, but zlib does not write to it. It counts in 32 bits.
    constexpr std::size_t piece_bytes_max = 1U << 30;
    do {
      const Bytes piece = input.substr(0, piece_bytes_max);
      input.remove_prefix(piece.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      drain(input.empty() ? mode : Z_NO_FLUSH, out);
    } while (!input.empty());
  }

 private:
  void drain(int mode, Text& out) {
    do {
      const std::size_t before = out.size();
      out.resize(before + step_bytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = step_bytes;
      const int result = deflate(&stream_, mode);
      KATANA_CHECK(result != Z_STREAM_ERROR);
      out.resize(before + step_bytes - stream_.avail_out);
    } while (stream_.avail_out == 0);
    KATANA_CHECK(stream_.avail_in == 0);
  }

  z_stream stream_{};
};

class GzipDecoder final : public Decoder {
 public:
  explicit GzipDecoder(const DecoderLimits& limits) : Decoder(limits) {
    constexpr int gzip_window_bits = 15 + 16;
    if (inflateInit2(&stream_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  // zlib needs a window of 32 KiB, and some 7 KiB (zconf.h).
  std::size_t memory_bytes() const noexcept override { return sizeof(*this) + 40 * 1024; }

 private:
  Step step(Bytes& input, char* out, std::size_t capacity) override {
    // Several members are one body (RFC 1952 §2.2).
    if (ended_) KATANA_CHECK(inflateReset(&stream_) == Z_OK);
    const auto taken = static_cast<uInt>(std::min<std::size_t>(input.size(), 1U << 30));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // not written
    stream_.avail_in = taken;
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(capacity);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    input.remove_prefix(taken - stream_.avail_in);
    ended_ = result == Z_STREAM_END;
    const bool fine = result == Z_OK || result == Z_BUF_ERROR || ended_;
    return {!fine, ended_, capacity - stream_.avail_out};
  }

  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

Codec gzip() noexcept {
  return {.coding = http::Coding::gzip,
          .make_encoder = [](const EncoderOptions& options) -> std::unique_ptr<Encoder> {
            return std::make_unique<GzipEncoder>(options);
          },
          .make_decoder = [](const DecoderLimits& limits) -> std::unique_ptr<Decoder> {
            return std::make_unique<GzipDecoder>(limits);
          }};
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
