// Decoding of request contents: what the dispatcher and streams need of it. To use it, see
// decompression() in compression.hpp.
//
// Owns       a ContentDecoder its decoder, and coded bytes that wait.
// Thread     its reactor's.
// Allocates  a decoder for each content that has a coding.
// Fails      a Reply that says why: 415, 400 or 413.
// Invariant  never more is decoded than was asked for, nor than the limits allow.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include "katana/base/memory/held_memory.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/wire/http/head.hpp"

namespace katana {

// Limits of content that is decoded: what is beyond them is answered with 413.
struct DecompressionOptions {
  // Contents in these codings are decoded; others are refused (415).
  coding::Codecs codecs = {};
  // Of a decoded content, beside what its route allows of one that is not coded.
  std::uint64_t bytes_max = 64 * 1024 * 1024;
  // Decoded bytes for each coded one, beyond the first 64 KiB.
  std::uint32_t ratio_max = 100;
};

namespace detail {

class ContentDecoder {
 public:
  // What a request's Content-Encoding asks for; null: nothing is to be decoded. Otherwise a Reply.
  static std::expected<std::unique_ptr<ContentDecoder>, Reply> make(
      const http::Head& head, const DecompressionOptions& options, std::uint64_t bytes_max);

  // All of a content at once. Its memory is charged to `memory` until this object goes, which
  // the decoded content must not outlive; 503 when there is none.
  std::expected<Text, Reply> decode_whole(Bytes coded, HeldMemory& memory);

  // A content in pieces: append() what came, then read() until there is nothing more.
  void append(Bytes coded, bool last);
  // Appends about `bytes_max` decoded bytes. False: failed; refusal() says why.
  bool read(std::size_t bytes_max, Text& out);
  // Everything was decoded.
  bool ended() const noexcept { return last_ && ended_; }
  // There is more to decode of what came.
  bool has_more() const noexcept { return has_more_; }
  bool failed() const noexcept { return failed_; }
  Reply refusal() const;
  // What it keeps, the state of its library with it.
  std::size_t held_bytes() const noexcept { return decoder_->memory_bytes() + waiting_.capacity(); }
  ~ContentDecoder() {
    if (memory_ != nullptr) memory_->set(Holder::request, charged_, 0);
  }
  ContentDecoder(const ContentDecoder&) = delete;
  ContentDecoder& operator=(const ContentDecoder&) = delete;

 private:
  explicit ContentDecoder(std::unique_ptr<coding::Decoder> decoder) noexcept
      : decoder_(std::move(decoder)) {}

  std::unique_ptr<coding::Decoder> decoder_;
  Text waiting_;
  std::size_t begin_ = 0;  // of waiting_ that is not decoded
  HeldMemory* memory_ = nullptr;
  std::size_t charged_ = 0;
  coding::Decoding state_ = coding::Decoding::going;
  bool last_ = false;
  bool ended_ = false;
  bool has_more_ = false;
  bool failed_ = false;
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
