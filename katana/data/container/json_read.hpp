// JSON reader: reads JSON (RFC 8259) into described structs, lists, dictionaries and Values, with
// simdjson's on-demand parser.
//
//   Result<NewUser> user = read_json<NewUser>(text);
//
//   Findings findings;
//   if (!read_json(text, user, findings)) … findings.list() …    every fault with its place
//
// An integer has no fraction and fits the member: 1.0 and 1e2 are integers, as in JSON Schema.
// Only std::optional takes null. A name occurs at most once. Text must be UTF-8. A number that does
// not fit its member is a finding, and never rounded or wrapped. Ignored members are validated,
// too: all accepted input is JSON.
//
// Borrows    the text, for the call.
// Thread     any: each has its parser.
// Allocates  for the members. The thread keeps the parser and the copy of the text (see below), up
//            to kept_bytes_max of text.
// Fails      Findings: one with the place of malformed text, or all values that do not fit.
// Invariant  reads no byte outside of `text`. simdjson reads past the end of its input. Text
//            without padding is therefore copied, once, to padded memory. Only json_read.cpp
//            includes simdjson.h, which takes a compiler two seconds (decision 0086).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/container/reading.hpp"

namespace katana::container {

// The number of bytes that must be readable behind text that is not copied.
inline constexpr std::size_t json_padding_bytes = 64;

// Text with at least json_padding_bytes readable bytes of any content behind it.
struct PaddedText {
  Bytes text;  // at the beginning of the padded memory
};

namespace detail {

// A value of simdjson, or its place in an array or object; json_read.cpp knows which.
struct JsonHandle {
  alignas(void*) std::array<std::byte, 24> storage;
};

// The state of a walk through an array or object.
struct JsonWalk {
  JsonHandle place;
  bool is_begun = false;
  bool is_malformed = false;  // noted already
};

// The parser of this thread, while a text is read.
class JsonSource {
 public:
  static constexpr std::size_t kept_bytes_max = 1024 * 1024;

  JsonSource(Findings& findings, const ReadOptions& options);
  ~JsonSource();
  JsonSource(const JsonSource&) = delete;
  JsonSource& operator=(const JsonSource&) = delete;

  // Begins a text. False: it is malformed, and noted. A value that is no object or array is wrapped
  // as the only item of an array: simdjson then reads it like any other value.
  bool open(Bytes text, bool is_padded);
  bool is_wrapped() const noexcept { return is_wrapped_; }
  // Ends the text. False: more text follows the value, and it is noted.
  bool close();

  Reading& reading() noexcept { return reading_; }
  // Notes an error between tokens.
  KATANA_RARE Taken malformed(Bytes words);

 private:
  friend class JsonNode;
  struct Kept;

  static Kept& kept();
  static std::optional<std::size_t> offset(const void* self) noexcept;
  bool start(const char* text, std::size_t size);
  const char* copy(Bytes text);
  // `error` is an error code of simdjson.
  KATANA_RARE Taken malformed_token(int error);
  KATANA_RARE bool refuse_text(int error, Bytes text);

  Kept* kept_;
  bool owns_kept_;  // true if the parser that the thread keeps was already in use
  bool is_wrapped_ = false;
  bool is_open_ = false;
  const char* begin_ = nullptr;
  Reading reading_;
};

// The name of a member with the quote behind it.
template <Described T, std::size_t index>
inline constexpr auto quoted_name = [] {
  constexpr Bytes name = field_of<T, index>.name;
  std::array<char, name.size() + 1> text{};
  std::char_traits<char>::copy(text.data(), name.data(), name.size());
  text[name.size()] = '"';
  return text;
}();

class JsonKey {
 public:
  JsonKey(JsonSource& source, const char* raw) noexcept : source_(source), raw_(raw) {}

  template <std::size_t index, class T>
  [[gnu::always_inline]] bool is() const noexcept {
    constexpr Bytes name = field_of<T, index>.name;
    if (is_resolved_) [[unlikely]]
      return text_ == name;
    return is_raw<index, T>();
  }
  // True: the key has escapes. Later comparisons use the key without them.
  KATANA_RARE bool resolve();
  bool text(std::string& to);

 private:
  template <std::size_t index, class T>
  [[gnu::always_inline]] bool is_raw() const noexcept {
    constexpr Bytes name = field_of<T, index>.name;
    constexpr const auto& quoted = quoted_name<T, index>;
    // Such a name has escapes in the text.
    if constexpr (name.find_first_of("\"\\") != Bytes::npos) return false;
    if constexpr (quoted.size() <= json_padding_bytes) {
      return std::memcmp(raw_, quoted.data(), quoted.size()) == 0;  // the padding may be read
    } else {
      return raw_text() == name;
    }
  }
  Bytes raw_text() const noexcept;

  JsonSource& source_;
  const char* raw_;
  bool is_resolved_ = false;
  std::string text_;
};

class JsonNode {
 public:
  static constexpr Bytes octets_words = "string of base64";

  // Takes the root of the document, which is an object or array.
  explicit JsonNode(JsonSource& source) noexcept : source_(source) {}

  std::optional<Kind> kind();
  // Treats a number with a point or exponent as an integer if it is one and only integers are
  // wanted.
  std::optional<Kind> kind_among(Kinds wanted);
  bool is_null() { return token().starts_with('n'); }
  std::string number_text();
  std::string shown();
  bool skip();
  Looked look(MemberVisitor& visitor);

  bool take_null();
  Taken take(bool& to);
  Taken take(std::int64_t& to);
  Taken take(std::uint64_t& to);
  Taken take(double& to);
  Taken take(std::string& to);
  Taken take(Octets& to);

  template <class Visit>
  [[gnu::always_inline]] Taken each_item(Visit&& visit) {
    JsonWalk walk;
    const Taken opened = open_list(walk);
    if (opened != Taken::good) [[unlikely]]
      return opened;
    JsonNode item(source_);
    while (item.next_item(walk)) {
      if (!visit(item)) return Taken::malformed;
    }
    return leave(walk);
  }

  template <class Visit>
  [[gnu::always_inline]] Taken each_field(Visit&& visit) {
    JsonWalk walk;
    const Taken opened = open_object(walk);
    if (opened != Taken::good) [[unlikely]]
      return opened;
    JsonNode value(source_);
    while (const char* const name = value.next_field(walk)) {
      JsonKey key(source_, name);
      if (!visit(key, value)) return Taken::malformed;
    }
    return leave(walk);
  }

  // For a wrapped source: becomes the value itself. False: there is none, and it is noted.
  bool unwrap(JsonWalk& walk);
  // Called after an unwrapped node was read. False: another value follows, and it is noted.
  bool is_last(JsonWalk& walk);

 private:
  Taken open_list(JsonWalk& walk);
  Taken open_object(JsonWalk& walk);
  Taken leave(const JsonWalk& walk) noexcept;
  // Becomes the next item. False: there is none, or it is malformed.
  bool next_item(JsonWalk& walk);
  // Becomes the value of the next field. Returns its name, behind the quote; null: as false above.
  const char* next_field(JsonWalk& walk);

  // The text from the value's first byte to the first byte of the next token.
  Bytes token();
  Bytes token_trimmed();
  bool is_literal();
  KATANA_RARE Taken unread();
  KATANA_RARE Taken number_fault();
  template <class T>
  KATANA_RARE Taken take_whole(T& to);
  KATANA_RARE Taken container_fault(int error, Kind wanted);
  KATANA_RARE Taken take_escaped(const char* begin, std::string& to);

  JsonSource& source_;
  JsonHandle value_;
  bool is_root_ = true;  // value_ is then unused
};

template <class T>
bool read_wrapped(JsonSource& source, T& value) {
  JsonWalk walk;
  JsonNode node(source);
  if (!node.unwrap(walk)) return false;
  const Outcome outcome = read_value<WithoutRules<T>>(node, value, Place(), source.reading());
  return outcome != Outcome::stop && node.is_last(walk) && source.close();
}

template <class T>
bool read_json_text(Bytes text, bool is_padded, T& value, Findings& findings,
                    const ReadOptions& options) {
  JsonSource source(findings, options);
  if (!source.open(text, is_padded)) return false;
  if (source.is_wrapped()) return read_wrapped(source, value) && findings.empty();
  JsonNode node(source);
  const Outcome outcome = read_value<WithoutRules<T>>(node, value, Place(), source.reading());
  return outcome != Outcome::stop && source.close() && findings.empty();
}

}  // namespace detail

// Reads JSON into `value`. Members that the text does not have keep their value. False: see
// `findings`; `value` is partly filled.
template <class T>
bool read_json(Bytes text, T& value, Findings& findings, const ReadOptions& options = {}) {
  return detail::read_json_text(text, false, value, findings, options);
}
template <class T>
bool read_json(PaddedText text, T& value, Findings& findings, const ReadOptions& options = {}) {
  return detail::read_json_text(text.text, true, value, findings, options);
}

template <class T>
Result<T> read_json(Bytes text, const ReadOptions& options = {}) {
  Result<T> value{std::in_place};
  Findings findings(options.findings_max);
  if (!read_json(text, *value, findings, options)) return std::unexpected(findings.error());
  return value;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
