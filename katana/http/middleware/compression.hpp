// Compression of replies, and decompression of what requests bring, as middleware.
//
//   Router router;
//   router.use(compression());
//   router.use(decompression());                    // gzip; see CompressionOptions::codecs
//
// Owns       its options; a reply that is being compressed owns its encoder.
// Thread     any: the reactor's that serves.
// Allocates  an encoder for each reply that is compressed, from the heap.
// Fails      Router::build() for a coding that the program does not have. 406 when a client refuses
//            everything that could be sent; for requests 415 (not a coding that is known), 400 (not
//            in it), 413 (more than the limits allow).
// Invariant  what is compressed already, or must not be changed, is sent as it is; a reply that
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

// Which replies are compressed, and how.
struct CompressionOptions {
  // What the program has to compress with; coding::brotli() and coding::zstd() are separate
  // components. Among codings that the client likes equally it gets the first of br, zstd, gzip.
  coding::Codecs codecs = {};
  // Those that are offered, by name; empty: all that the program has. Router::build() fails for one
  // that it does not have.
  std::vector<std::string> codings = {};
  // Less is sent as it is: a head saves no more, and the work is the same.
  std::uint64_t bytes_min = 1024;
  // Media types that are worth it: one in full, or with a star at its begin or end. Server-sent
  // events are left alone, because each is to arrive at once.
  std::vector<std::string> types = {
      "text/html",        "text/css",        "text/plain",
      "text/javascript",  "text/csv",        "text/xml",
      "text/markdown",    "text/calendar",   "text/vtt",
      "application/json", "*+json",          "application/javascript",
      "application/xml",  "*+xml",           "application/yaml",
      "application/wasm", "application/rtf", "font/ttf",
      "font/otf",         "image/bmp",       "image/vnd.microsoft.icon"};
  coding::EncoderOptions encoder = {};
  // Compress also what a page of another site has asked for with cookies or credentials of its
  // user. That page can put guesses into the request, and learns from the length of the reply what
  // secrets stand beside them (BREACH).
  bool cross_site_secrets = false;
};

// A whole reply is compressed at once when it is short, and in pieces like a streamed one when it
// is not, so that no connection waits for another one's compression. Use it on the router and
// first, for it has to see replies last. A strong ETag becomes a weak one: the bytes are others.
Middleware compression(CompressionOptions options = {});

// Decodes the content of requests for the handlers of this group: those that take it whole and
// those that read it in pieces see what the client meant. See DecompressionOptions.
Middleware decompression(DecompressionOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
