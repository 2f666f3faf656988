#include "katana/http/coding/zstd/zstd.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "katana/base/system/check.hpp"

namespace katana::coding {
namespace {

// The room that `out` gets at a time.
constexpr std::size_t step_bytes = 4096;

class ZstdEncoder final : public Encoder {
 public:
  explicit ZstdEncoder(const EncoderOptions& options) : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    set(ZSTD_c_compressionLevel, std::clamp(options.zstd_level, 1, 19));
    // At most 23, which every decoder accepts (RFC 9659 §3).
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

class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(const DecoderLimits& limits) : Decoder(limits), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    constexpr int window_bits_max = 23;  // RFC 9659 §3
    KATANA_CHECK(
        ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_bits_max)) == 0);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  std::size_t memory_bytes() const noexcept override {
    return sizeof(*this) + ZSTD_sizeof_DCtx(context_);
  }

 private:
  Step step(Bytes& input, char* out, std::size_t capacity) override {
    ZSTD_inBuffer from{input.data(), input.size(), 0};
    ZSTD_outBuffer to{out, capacity, 0};
    const std::size_t left = ZSTD_decompressStream(context_, &to, &from);
    input.remove_prefix(from.pos);
    if (ZSTD_isError(left) != 0) return {.malformed = true, .made = to.pos};
    return {.ended = left == 0, .made = to.pos};
  }

  ZSTD_DCtx* context_;
};

}  // namespace

Codec zstd() noexcept {
  return {.coding = http::Coding::zstd,
          .make_encoder = [](const EncoderOptions& options) -> std::unique_ptr<Encoder> {
            return std::make_unique<ZstdEncoder>(options);
          },
          .make_decoder = [](const DecoderLimits& limits) -> std::unique_ptr<Decoder> {
            return std::make_unique<ZstdDecoder>(limits);
          }};
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
