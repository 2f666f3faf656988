// Decoding of request bodies, for the dispatcher and for streams. To use it, see decompression() in
// compression.hpp.
//
// Owns       a ContentDecoder its decoder, and coded bytes that are not decoded yet.
// Thread     its reactor's.
// Allocates  a decoder for each content that has a coding.
// Fails      a Reply that says why: 415, 400 or 413.
// Invariant  it never decodes more than the caller asked for, nor more than the limits allow.
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

// Limits of decoded bodies: a body beyond them is answered with 413.
struct DecompressionOptions {
  // Bodies in these codings are decoded; others are refused (415).
  coding::Codecs codecs = {};
  // The limit of a decoded body. The limit that the route has for other bodies applies as well.
  std::uint64_t bytes_max = 64 * 1024 * 1024;
  // Decoded bytes for each coded one, beyond the first 64 KiB.
  std::uint32_t ratio_max = 100;
};

namespace detail {

class ContentDecoder {
 public:
  // Makes a decoder for the request's Content-Encoding. Null: there is nothing to decode. An
  // unknown coding is a Reply.
  static std::expected<std::unique_ptr<ContentDecoder>, Reply> make(
      const http::Head& head, const DecompressionOptions& options, std::uint64_t bytes_max);

  // Decodes a complete body at once. Charges its memory to `memory` until this object is destroyed,
  // and the decoded body must not outlive it. 503 when there is no memory.
  std::expected<Text, Reply> decode_whole(Bytes coded, HeldMemory& memory);

  // Decodes a body in pieces: append() the received bytes, then read() until there are no more.
  void append(Bytes coded, bool last);
  // Appends about `bytes_max` decoded bytes. Returns false if decoding failed; refusal() says why.
  bool read(std::size_t bytes_max, Text& out);
  // Everything was decoded.
  bool ended() const noexcept { return last_ && ended_; }
  // Some of the received bytes are not decoded yet.
  bool has_more() const noexcept { return has_more_; }
  bool failed() const noexcept { return failed_; }
  Reply refusal() const;
  // The bytes of memory that it holds, with the state of the library.
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
  std::size_t begin_ = 0;  // the first byte of waiting_ that is not decoded
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
