// Decoding of a reply's content (RFC 9110 §8.4), in the codings that the program has.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     the caller's, for as long as decoding takes.
// Allocates  the decoded content, and the state of a Decoder.
// Fails      decode_content() says that the content is too large, or not in the coding it names.
// Invariant  content in a coding that is not known stays as it is; its fields say what it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/client/response.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana::client {

// The one coding of the content. Empty: none, more than one, or one that `codecs` does not have.
std::optional<http::Coding> coding_of(const Response& response,
                                      const coding::Codecs& codecs) noexcept;

// At most `bytes_max` bytes after decoding.
Result<void> decode_content(Response& response, const coding::Codecs& codecs,
                            std::uint64_t bytes_max);

// The same piece by piece, for content of any size.
class ContentDecoder {
 public:
  // REQUIRES that `codecs` has the coding.
  ContentDecoder(http::Coding coding, const coding::Codecs& codecs);

  // What follows, at most `bytes_max` bytes; empty: it needs more input.
  Result<Text> next(std::size_t bytes_max);
  // More input. REQUIRES that next() was empty.
  void add(Text coded) noexcept;
  // After the last input: an error if the content is incomplete. No content at all is complete.
  Result<void> finish() const;

 private:
  const http::Coding coding_;
  std::unique_ptr<coding::Decoder> decoder_;
  Text coded_;
  Bytes rest_;  // of coded_
  bool begun_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
