// decode_by_the_rfc: the chunked coding read as its grammar is written (RFC 9112 §7.1), from a
// whole text, with no state but the place in it. What ChunkedDecoder is compared with.
//
// Owns       the content that it decodes.
// Borrows    the text and the limits, for the call.
// Thread     any.
// Fails      with the refusal of the first octet that is wrong.
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

  // BWS ";" and whatever else stands before the CR.
  void read_extensions(char c) {
    for (; c == ' ' || c == '\t'; c = take_of_line()) add_overhead();
    if (c != ';') throw Refusal::bad_chunk_size;
    for (; c != '\r'; c = take_of_line()) {
      if (c == '\n') throw Refusal::bare_line_break;
      if (!http::is(c, http::value_character)) throw Refusal::control_character;
      add_overhead();
    }
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
