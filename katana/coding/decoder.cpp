#include "katana/coding/decoder.hpp"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "katana/base/check.hpp"

namespace katana::coding {
namespace {

constexpr std::size_t decoded_step_bytes = 16 * 1024;

class GzipDecoder final : public Decoder {
 public:
  explicit GzipDecoder(const DecoderLimits& limits) : Decoder(limits) {
    constexpr int gzip_window_bits = 15 + 16;
    if (inflateInit2(&stream_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  // What zlib says of it (zconf.h): a window of 32 KiB, and some 7 KiB.
  std::size_t memory_bytes() const noexcept override { return sizeof(*this) + 40 * 1024; }

 private:
  Step step(Bytes& input, char* out, std::size_t capacity) override {
    if (ended_ && !input.empty()) {  // members behind one another are one content (RFC 1952 §2.2)
      ended_ = false;
      KATANA_CHECK(inflateReset(&stream_) == Z_OK);
    }
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

class BrotliDecoder final : public Decoder {
 public:
  explicit BrotliDecoder(const DecoderLimits& limits)
      : Decoder(limits), state_(BrotliDecoderCreateInstance(&take, &give, this)) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~BrotliDecoder() override { BrotliDecoderDestroyInstance(state_); }
  std::size_t memory_bytes() const noexcept override { return sizeof(*this) + taken_; }

 private:
  // In front of each piece stands its size: the library does not say it again.
  static constexpr std::size_t size_bytes = alignof(std::max_align_t);
  static void* take(void* self, std::size_t bytes) {
    void* const memory = std::malloc(size_bytes + bytes);
    if (memory == nullptr) return nullptr;
    static_cast<BrotliDecoder*>(self)->taken_ += size_bytes + bytes;
    *static_cast<std::size_t*>(memory) = size_bytes + bytes;
    return static_cast<char*>(memory) + size_bytes;
  }
  static void give(void* self, void* memory) {
    if (memory == nullptr) return;
    void* const whole = static_cast<char*>(memory) - size_bytes;
    static_cast<BrotliDecoder*>(self)->taken_ -= *static_cast<std::size_t*>(whole);
    std::free(whole);
  }

  Step step(Bytes& input, char* out, std::size_t capacity) override {
    if (ended_) return {.malformed = !input.empty(), .ended = true};
    std::size_t left = input.size();
    const auto* next = reinterpret_cast<const std::uint8_t*>(input.data());
    std::size_t capacity_left = capacity;
    auto* to = reinterpret_cast<std::uint8_t*>(out);
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state_, &left, &next, &capacity_left, &to, nullptr);
    input.remove_prefix(input.size() - left);
    ended_ = result == BROTLI_DECODER_RESULT_SUCCESS;
    return {result == BROTLI_DECODER_RESULT_ERROR, ended_, capacity - capacity_left};
  }

  std::size_t taken_ = 0;
  BrotliDecoderState* state_;
  bool ended_ = false;
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

Decoding Decoder::judge() const noexcept {
  if (decoded_ > limits_.bytes_max) return Decoding::too_large;
  const bool is_dense =
      decoded_ > limits_.ratio_free_bytes && decoded_ / limits_.ratio_max > coded_;
  return is_dense ? Decoding::too_dense : Decoding::going;
}

Decoding Decoder::decode(Bytes& input, std::size_t bytes_max, Text& out) {
  if (failed()) return state_;
  for (;;) {
    const std::size_t capacity = std::min(bytes_max, decoded_step_bytes);
    const std::size_t before = out.size();
    const std::size_t left = input.size();
    out.resize(before + capacity);
    const Step made = step(input, out.data() + before, capacity);
    out.resize(before + made.made);
    coded_ += left - input.size();
    decoded_ += made.made;
    bytes_max -= made.made;
    if (left != input.size() || made.ended) whole_ = made.ended;
    state_ = made.malformed ? Decoding::malformed : judge();
    if (failed()) {
      out.resize(before);
      return state_;
    }
    // Less than there was room for, and the input is used up: it has nothing more to say.
    const bool idle = made.made == 0 && left == input.size();
    if (input.empty() && (made.made < capacity || idle)) return state_;
    if (bytes_max == 0) return state_ = Decoding::full;
    if (idle) return state_ = Decoding::malformed;  // it takes nothing and makes nothing
  }
}

std::unique_ptr<Decoder> Decoder::make(http::Coding coding, const DecoderLimits& limits) {
  switch (coding) {
    case http::Coding::gzip: return std::make_unique<GzipDecoder>(limits);
    case http::Coding::brotli: return std::make_unique<BrotliDecoder>(limits);
    case http::Coding::zstd: return std::make_unique<ZstdDecoder>(limits);
    case http::Coding::identity: break;
  }
  KATANA_REQUIRE(coding != http::Coding::identity);
  return nullptr;
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
