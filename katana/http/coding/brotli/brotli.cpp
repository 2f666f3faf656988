#include "katana/http/coding/brotli/brotli.hpp"

#include <brotli/decode.h>
#include <brotli/encode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "katana/base/system/check.hpp"

namespace katana::coding {
namespace {

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
    std::size_t made = 0;
    // The loop runs once more after output: the encoder takes the last input while output waits,
    // and its result comes with the next call.
    do {
      std::size_t capacity = 0;  // its output is in its own memory
      if (BrotliEncoderCompressStream(state_, operation, &left, &next, &capacity, nullptr,
                                      nullptr) == BROTLI_FALSE) {
        throw std::bad_alloc();  // the only way in which it fails
      }
      made = 0;  // all of it
      const std::uint8_t* const bytes = BrotliEncoderTakeOutput(state_, &made);
      out.append({reinterpret_cast<const char*>(bytes), made});
    } while (left > 0 || made > 0);
  }

 private:
  void set(BrotliEncoderParameter parameter, int value) {
    KATANA_CHECK(BrotliEncoderSetParameter(state_, parameter, static_cast<std::uint32_t>(value)) !=
                 BROTLI_FALSE);
  }
  BrotliEncoderState* state_;
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
  // The size is stored in front of each piece: the library does not repeat it.
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

}  // namespace

Codec brotli() noexcept {
  return {.coding = http::Coding::brotli,
          .make_encoder = [](const EncoderOptions& options) -> std::unique_ptr<Encoder> {
            return std::make_unique<BrotliEncoder>(options);
          },
          .make_decoder = [](const DecoderLimits& limits) -> std::unique_ptr<Decoder> {
            return std::make_unique<BrotliDecoder>(limits);
          }};
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
