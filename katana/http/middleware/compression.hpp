// Compression of replies, and decompression of request bodies, as middleware.
//
//   Router router;
//   router.use(compression());
//   router.use(decompression());                    // gzip; see CompressionOptions::codecs
//
// Owns       its options; a reply that is being compressed owns its encoder.
// Thread     any: the reactor's that serves.
// Allocates  an encoder for each reply that is compressed, from the heap.
// Fails      Router::build() for a coding that the program does not have. 406 when a client refuses
//            everything that could be sent. For requests 415 (an unknown coding), 400 (the body is
//            not in its coding), 413 (more than the limits allow).
// Invariant  a compressed reply, and one that must not be changed, is sent as it is. A reply that
//            depends on Accept-Encoding says so (Vary).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/http/coding/codec.hpp"
#include "katana/http/coding/encoder.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana {

// Selects the replies that are compressed, and the codings.
struct CompressionOptions {
  // The codecs for compression; coding::brotli() and coding::zstd() are separate components. Among
  // codings that the client likes equally it gets the first of br, zstd, gzip.
  coding::Codecs codecs = {};
  // The names of the codings that are offered; empty: all that the program has. Router::build()
  // fails for one that it does not have.
  std::vector<std::string> codings = {};
  // Smaller replies are sent as they are: a head saves no more, and the work is the same.
  std::uint64_t bytes_min = 1024;
  // Media types that are worth compressing: a full type, or one with a star at its beginning or
  // end. Server-sent events are not compressed, because each is to arrive at once.
  std::vector<std::string> types = {
      "text/html",        "text/css",        "text/plain",
      "text/javascript",  "text/csv",        "text/xml",
      "text/markdown",    "text/calendar",   "text/vtt",
      "application/json", "*+json",          "application/javascript",
      "application/xml",  "*+xml",           "application/yaml",
      "application/wasm", "application/rtf", "font/ttf",
      "font/otf",         "image/bmp",       "image/vnd.microsoft.icon"};
  coding::EncoderOptions encoder = {};
  // Also compresses replies that a page of another site requested with the cookies or credentials
  // of its user. Such a page can put guesses into the request. The length of the reply then tells
  // it the secrets in the same reply (BREACH).
  bool cross_site_secrets = false;
};

// A short reply is compressed at once. A long one is compressed in pieces like a streamed one, and
// no connection waits for the compression of another one. Use it on the router, as the first
// middleware: it must see replies last. A strong ETag becomes a weak one, because the bytes differ.
Middleware compression(CompressionOptions options = {});

// Decodes request bodies for the handlers of this group, those that take the body whole and those
// that read it in pieces. See DecompressionOptions.
Middleware decompression(DecompressionOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
