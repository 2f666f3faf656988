// JSON reader: JSON (RFC 8259) into described structs, lists, dictionaries and Values, on
// simdjson's on-demand parser.
//
//   Result<NewUser> user = read_json<NewUser>(text);
//
//   Findings findings;
//   if (!read_json(text, user, findings)) … findings.list() …    every fault with its place
//
// An integer has no fraction and fits the member: 1.0 and 1e2 are integers, as in JSON Schema.
// Only std::optional takes null. Names come at most once. Text must be UTF-8. A number that no
// member can hold is a finding, never rounded or wrapped. Ignored members are validated, too:
// all accepted input is JSON.
//
// Borrows    the text, for the call.
// Thread     any: a parser for each.
// Allocates  what the members need. The parser and the copy of the text below are kept by the
//            thread, up to kept_bytes_max of text.
// Fails      Findings: one that says where the text is malformed, or all of what does not fit.
// Invariant  reads no byte outside of `text`. simdjson reads past the end of its input, so text
//            without padding is copied, once, to where that is allowed. simdjson.h, which takes a
//            compiler two seconds, is included by json_read.cpp alone (decision 0086).
#pragma once

#include <algorithm>
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

// How many bytes must be readable behind text that is not to be copied.
inline constexpr std::size_t json_padding_bytes = 64;

// Text with at least json_padding_bytes behind it that may be read, whatever they are.
struct PaddedText {
  Bytes text;  // at the beginning of the padded memory
};

namespace detail {

// A value of simdjson, or its place in an array or object; json_read.cpp knows which.
struct JsonHandle {
  alignas(void*) std::array<std::byte, 24> storage;
};

// What is visited of an array or object.
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

  // False: malformed, and noted. A value that is no object or array is given as the only item of
  // an array, because that is how simdjson reads it like any other.
  bool open(Bytes text, bool is_padded);
  bool is_wrapped() const noexcept { return is_wrapped_; }
  // False: something follows the value, and it is noted.
  bool close();

  Reading& reading() noexcept { return reading_; }
  // Notes what went wrong between tokens.
  KATANA_RARE Taken malformed(Bytes words);

 private:
  friend class JsonNode;
  struct Kept;

  static Kept& kept();
  static std::optional<std::size_t> offset(const void* self) noexcept;
  bool start(const char* text, std::size_t size);
  const char* copy(Bytes text);
  // `error` is simdjson's.
  KATANA_RARE Taken malformed_token(int error);
  KATANA_RARE bool refuse_text(int error, Bytes text);

  Kept* kept_;
  bool owns_kept_;  // when the thread's own is in use
  bool is_wrapped_ = false;
  bool is_open_ = false;
  const char* begin_ = nullptr;
  Reading reading_;
};

// A name and the quote behind it.
template <Described T, std::size_t index>
inline constexpr auto quoted_name = [] {
  constexpr Bytes name = field_of<T, index>.name;
  std::array<char, name.size() + 1> text{};
  std::copy(name.begin(), name.end(), text.begin());
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
  // True: the key has escapes, and is compared without them from here on.
  KATANA_RARE bool resolve();
  bool text(std::string& to);

 private:
  template <std::size_t index, class T>
  [[gnu::always_inline]] bool is_raw() const noexcept {
    constexpr Bytes name = field_of<T, index>.name;
    constexpr const auto& quoted = quoted_name<T, index>;
    // In the text such a name has escapes.
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

  // The document's root, which is an object or array.
  explicit JsonNode(JsonSource& source) noexcept : source_(source) {}

  std::optional<Kind> kind();
  // An integer that is written with a point or exponent, where no other number is wanted.
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

  // Of a source that is wrapped, becomes the value itself; false: there is none, and it is noted.
  bool unwrap(JsonWalk& walk);
  // Of a node that was unwrapped, when it was read; false: another value follows, and it is noted.
  bool is_last(JsonWalk& walk);

 private:
  Taken open_list(JsonWalk& walk);
  Taken open_object(JsonWalk& walk);
  Taken leave(const JsonWalk& walk) noexcept;
  // Becomes the next item; false: there is none, or what is there is malformed.
  bool next_item(JsonWalk& walk);
  // Becomes the value of the next field, and returns its name, behind the quote; null as above.
  const char* next_field(JsonWalk& walk);

  // From the value's first byte to that of the next token.
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
  bool is_root_ = true;  // and value_ is nothing
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

// Members that the text does not have keep what they were in `value`. False: see `findings`, and
// `value` is filled in part.
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
