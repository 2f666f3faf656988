// decode_by_the_rfc: the chunked coding read as its grammar is written (RFC 9112 §7.1), from a
// whole text, with no state but the place in it. Tests compare ChunkedDecoder with it.
//
// Owns       the content that it decodes.
// Borrows    the text and the limits, for the call.
// Thread     any.
// Fails      with the refusal of the first byte that is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http1/refusal.hpp"

namespace katana::http1 {

struct Decoded {
  std::string content;
  std::size_t consumed = 0;
  bool done = false;
  Refusal refusal = Refusal::none;
  bool operator==(const Decoded&) const = default;
};

namespace detail {

struct EndOfText {};

class ReferenceDecoder {
 public:
  ReferenceDecoder(Bytes text, const Limits& limits, std::uint64_t content_left)
      : text_(text), limits_(limits), content_left_(content_left) {}

  Decoded decode() {
    try {
      while (read_chunk()) {
      }
      read_trailers();
      decoded_.done = true;
    } catch (Refusal refusal) {
      decoded_.refusal = refusal;
    } catch (EndOfText) {
    }
    return decoded_;
  }

 private:
  char take() {
    if (decoded_.consumed == text_.size()) throw EndOfText();
    return text_[decoded_.consumed++];
  }
  void expect(char wanted, Refusal refusal) {
    if (take() != wanted) throw refusal;
  }

  // chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF. False: it was the last-chunk.
  bool read_chunk() {
    line_bytes_ = 0;
    const std::uint64_t size = read_size_line();
    if (size == 0) return false;
    if (size > content_left_) throw Refusal::content_too_large;
    content_left_ -= size;
    for (std::uint64_t count = 0; count < size; ++count) decoded_.content += take();
    expect('\r', Refusal::bad_chunk_end);
    expect('\n', Refusal::bad_chunk_end);
    return true;
  }

  char take_of_line() {
    const char c = take();
    if (++line_bytes_ > limits_.chunk_line_bytes_max) throw Refusal::chunk_line_too_long;
    return c;
  }
  void add_overhead() {
    if (++overhead_bytes_ > limits_.chunk_overhead_bytes_max) throw Refusal::chunk_line_too_long;
  }

  std::uint64_t read_size_line() {
    std::string digits;
    char c = take_of_line();
    for (; http::is(c, http::hex_character); c = take_of_line()) {
      const bool is_leading_zero = !digits.empty() && std::stoull(digits, nullptr, 16) == 0;
      if (digits.size() == 15 && !is_leading_zero) throw Refusal::bad_chunk_size;
      digits = is_leading_zero ? std::string(1, c) : digits + c;
      if (is_leading_zero) add_overhead();
    }
    if (digits.empty()) throw Refusal::bad_chunk_size;
    if (c != '\r') read_extensions(c);
    if (take_of_line() != '\n') throw Refusal::bare_line_break;
    return std::stoull(digits, nullptr, 16);
  }

  // chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ), and the CR.
  void read_extensions(char c) {
    for (; c == ' ' || c == '\t'; c = take_of_line()) add_overhead();
    if (c != ';') throw Refusal::bad_chunk_size;
    while (c != '\r') {
      if (c != ';') throw Refusal::bad_chunk_extension;
      add_overhead();
      c = skip_token(skip_white_space(take_of_extension()));
      const bool spaced = is_white_space(c);
      c = skip_white_space(c);
      if (c == '=') {
        add_overhead();
        c = read_value(skip_white_space(take_of_extension()));
      } else if (spaced && c != ';') {
        throw Refusal::bad_chunk_extension;
      }
    }
  }
  // chunk-ext-val = token / quoted-string. Gives the ";" or CR behind it.
  char read_value(char c) {
    if (c == '"') {
      add_overhead();
      for (c = take_of_extension(); c != '"'; c = take_of_extension()) {
        if (c == '\\') {
          add_overhead();
          c = take_of_extension();
        }
        if (c == '\r') throw Refusal::bad_chunk_extension;
        add_overhead();
      }
      add_overhead();
      c = take_of_extension();
    } else {
      c = skip_token(c);
    }
    if (!is_white_space(c)) return c;
    c = skip_white_space(c);
    if (c != ';') throw Refusal::bad_chunk_extension;
    return c;
  }
  static bool is_white_space(char c) { return c == ' ' || c == '\t'; }
  char skip_white_space(char c) {
    for (; is_white_space(c); c = take_of_extension()) add_overhead();
    return c;
  }
  char skip_token(char c) {
    if (!http::is(c, http::token_character)) throw Refusal::bad_chunk_extension;
    for (; http::is(c, http::token_character); c = take_of_extension()) add_overhead();
    return c;
  }
  char take_of_extension() {
    const char c = take_of_line();
    if (c == '\n') throw Refusal::bare_line_break;
    if (c != '\r' && !http::is(c, http::value_character)) throw Refusal::control_character;
    return c;
  }

  // trailer-section = *( field-line CRLF ), and the CRLF behind it.
  void read_trailers() {
    for (std::size_t fields = 1;; ++fields) {
      char c = take_of_trailer();
      if (c == '\r') break;
      if (fields > limits_.trailer_fields_max) throw Refusal::trailer_too_long;
      if (c == ':') throw Refusal::bad_trailer;
      for (; c != ':'; c = take_of_trailer()) {
        if (!http::is(c, http::token_character)) throw Refusal::bad_trailer;
      }
      for (c = take_of_trailer(); c != '\r'; c = take_of_trailer()) {
        if (!http::is(c, http::value_character)) throw Refusal::bad_trailer;
      }
      if (take_of_trailer() != '\n') throw Refusal::bare_line_break;
    }
    if (take_of_trailer() != '\n') throw Refusal::bare_line_break;
  }
  char take_of_trailer() {
    const char c = take();
    if (++trailer_bytes_ > limits_.trailer_bytes_max) throw Refusal::trailer_too_long;
    return c;
  }

  Bytes text_;
  const Limits& limits_;
  std::uint64_t content_left_;
  Decoded decoded_;
  std::size_t line_bytes_ = 0;
  std::size_t overhead_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace detail

inline Decoded decode_by_the_rfc(Bytes text, const Limits& limits, std::uint64_t content_left) {
  return detail::ReferenceDecoder(text, limits, content_left).decode();
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
