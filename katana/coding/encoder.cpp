#include "katana/coding/encoder.hpp"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "katana/base/check.hpp"

namespace katana::coding {
namespace {

// Room that `out` is given at a time.
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
    // zlib's input is not const, and is not written either. It counts by 32 bits.
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

class BrotliEncoder final : public Encoder {
 public:
  explicit BrotliEncoder(const EncoderOptions& options)
      : state_(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    if (state_ == nullptr) throw std::bad_alloc();
    set(BROTLI_PARAM_QUALITY, std::clamp(options.brotli_quality, 0, 11));
    set(BROTLI_PARAM_LGWIN, std::clamp(options.window_bits, 16, 24));
  }
  ~BrotliEncoder() override { BrotliEncoderDestroyInstance(state_); }

  void encode(Bytes input, Flush flush, Text& out) override {
    const BrotliEncoderOperation operation = flush == Flush::finish  ? BROTLI_OPERATION_FINISH
                                             : flush == Flush::flush ? BROTLI_OPERATION_FLUSH
                                                                     : BROTLI_OPERATION_PROCESS;
    std::size_t left = input.size();
    const auto* next = reinterpret_cast<const std::uint8_t*>(input.data());
    do {
      std::size_t capacity = 0;  // its output is taken from where it has it
      if (BrotliEncoderCompressStream(state_, operation, &left, &next, &capacity, nullptr,
                                      nullptr) == BROTLI_FALSE) {
        throw std::bad_alloc();  // the only way in which it fails
      }
      std::size_t made = 0;
      const std::uint8_t* const bytes = BrotliEncoderTakeOutput(state_, &made);
      out.append({reinterpret_cast<const char*>(bytes), made});
    } while (left > 0 || BrotliEncoderHasMoreOutput(state_) != BROTLI_FALSE);
  }

 private:
  void set(BrotliEncoderParameter parameter, int value) {
    KATANA_CHECK(BrotliEncoderSetParameter(state_, parameter, static_cast<std::uint32_t>(value)) !=
                 BROTLI_FALSE);
  }
  BrotliEncoderState* state_;
};

class ZstdEncoder final : public Encoder {
 public:
  explicit ZstdEncoder(const EncoderOptions& options) : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    set(ZSTD_c_compressionLevel, std::clamp(options.zstd_level, 1, 19));
    // No more than 23, which every peer takes (RFC 9659 §3).
    set(ZSTD_c_windowLog, std::clamp(options.window_bits, 16, 23));
  }
  ~ZstdEncoder() override { ZSTD_freeCCtx(context_); }

  void encode(Bytes input, Flush flush, Text& out) override {
    const ZSTD_EndDirective mode = flush == Flush::finish  ? ZSTD_e_end
                                   : flush == Flush::flush ? ZSTD_e_flush
                                                           : ZSTD_e_continue;
    ZSTD_inBuffer from{input.data(), input.size(), 0};
    for (bool more = true; more;) {
      const std::size_t before = out.size();
      out.resize(before + step_bytes);
      ZSTD_outBuffer to{out.data() + before, step_bytes, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &to, &from, mode);
      if (ZSTD_isError(left) != 0) throw std::bad_alloc();  // the only way in which it fails
      out.resize(before + to.pos);
      more = mode == ZSTD_e_continue ? from.pos < from.size : left != 0;
    }
  }

 private:
  void set(ZSTD_cParameter parameter, int value) {
    KATANA_CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(context_, parameter, value)) == 0);
  }
  ZSTD_CCtx* context_;
};

}  // namespace

std::unique_ptr<Encoder> Encoder::make(http::Coding coding, const EncoderOptions& options) {
  switch (coding) {
    case http::Coding::gzip: return std::make_unique<GzipEncoder>(options);
    case http::Coding::brotli: return std::make_unique<BrotliEncoder>(options);
    case http::Coding::zstd: return std::make_unique<ZstdEncoder>(options);
    case http::Coding::identity: break;
  }
  KATANA_REQUIRE(coding != http::Coding::identity);
  return nullptr;
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
