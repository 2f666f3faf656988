// Codec: one content coding that a program was built with. Codecs: a set of them.
//
//   router.use(compression({.codecs = {coding::gzip(), coding::brotli(), coding::zstd()}}));
//
// A codec is a value from its own module, such as coding/brotli. There is no registry: a program
// links the libraries of the codecs that it names. gzip is in every set by default.
//
// Owns       nothing but pointers to functions.
// Thread     values.
// Allocates  pick() and names() their results; for encoders and decoders see encoder.hpp,
//            decoder.hpp.
// Fails      pick() names the coding that is unknown, or that the set does not have.
// Invariant  a set has at most one codec for a coding: the last one that it was given.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/http/coding/decoder.hpp"
#include "katana/http/coding/encoder.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana::coding {

// A coding, with the functions that make its encoder and decoder.
struct Codec {
  // One of http::Coding but `identity`.
  http::Coding coding = http::Coding::identity;
  // Never null results; see encoder.hpp and decoder.hpp for threads and errors.
  std::unique_ptr<Encoder> (*make_encoder)(const EncoderOptions& options) = nullptr;
  // As make_encoder.
  std::unique_ptr<Decoder> (*make_decoder)(const DecoderLimits& limits) = nullptr;
};

// RFC 1952, by zlib.
Codec gzip() noexcept;

// The codings that a program can read and write: gzip alone, unless it names others.
class Codecs {
 public:
  Codecs() noexcept : Codecs(gzip()) {}
  Codecs(const Codec& codec) noexcept : Codecs({codec}) {}  // NOLINT: a codec is a set
  Codecs(std::initializer_list<Codec> codecs) noexcept;

  // True if there is a codec for the coding.
  bool contains(http::Coding coding) const noexcept { return codings_.contains(coding); }
  // All codings of the set.
  http::Codings codings() const noexcept { return codings_; }
  // "br, zstd, gzip": the names of the set's codings, in the order of http::Coding.
  std::string names() const;
  // The codings that `wanted` names; all of the set, if it names none.
  Result<http::Codings> pick(std::span<const std::string> wanted) const;

  // REQUIRES contains(coding).
  std::unique_ptr<Encoder> make_encoder(http::Coding coding, const EncoderOptions& options) const;
  std::unique_ptr<Decoder> make_decoder(http::Coding coding, const DecoderLimits& limits) const;

 private:
  std::array<Codec, http::coding_count> codecs_;
  http::Codings codings_;
};

// "br, zstd, gzip": the names of the codings, in the order of http::Coding.
std::string names_of(http::Codings codings);

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
