// Decoding of a reply's content (RFC 9110 §8.4), in the codings that the program has.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     the caller's, for as long as decoding takes.
// Allocates  the decoded content, and the state of a Decoder.
// Fails      decode_content() says that the content is too large, or not in the coding it names.
// Invariant  content in an unknown coding stays as it is; its fields name the coding.
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

// Returns the only content coding of the reply. Empty: there is none, more than one, or one that
// `codecs` does not have.
std::optional<http::Coding> coding_of(const Response& response,
                                      const coding::Codecs& codecs) noexcept;

// Decodes the whole body in place. Fails if it is more than `bytes_max` bytes after decoding.
Result<void> decode_content(Response& response, const coding::Codecs& codecs,
                            std::uint64_t bytes_max);

// Decodes a body of any size piece by piece.
class ContentDecoder {
 public:
  // REQUIRES that `codecs` has the coding.
  ContentDecoder(http::Coding coding, const coding::Codecs& codecs);

  // Returns the next decoded bytes, at most `bytes_max`; empty if more input is needed.
  Result<Text> next(std::size_t bytes_max);
  // Adds input. REQUIRES that next() returned nothing.
  void add(Text coded) noexcept;
  // Call it after the last input: fails if the body is incomplete. An empty body is complete.
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
