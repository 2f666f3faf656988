// JSON reader: JSON (RFC 8259) into described structs, lists, dictionaries and Values, on
// simdjson's on-demand parser.
//
//   Result<NewUser> user = read_json<NewUser>(text);
//
//   Findings findings;
//   if (!read_json(text, user, findings)) … findings.list() …    every fault with its place
//
// Types must agree: an integer is written without point and exponent and fits the member; only
// std::optional takes null. Names come at most once. Text must be UTF-8. A number that no member
// can hold is a finding, never rounded to infinity or wrapped. Members that are passed over are
// judged as well: what is accepted is JSON.
//
// Borrows    the text, for the call.
// Thread     any: a parser for each.
// Allocates  what the members need. The parser and the copy of the text below are kept by the
//            thread, up to kept_bytes_max of text.
// Fails      Findings: one that says where the text is malformed, or all of what does not fit.
// Invariant  reads no octet outside of `text`. simdjson reads past the end of its input, so text
//            without padding is copied, once, to where that is allowed.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/result.hpp"
#include "katana/container/findings.hpp"
#include "katana/container/json_scan.hpp"
#include "katana/container/reading.hpp"

namespace katana::container {

// How many octets must be readable behind text that is not to be copied.
inline constexpr std::size_t json_padding_bytes = simdjson::SIMDJSON_PADDING;

// Text with at least json_padding_bytes behind it that may be read, whatever they are.
struct PaddedText {
  Bytes text;
};

namespace detail {

namespace ondemand = simdjson::ondemand;

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

  ondemand::document& document() noexcept { return document_; }
  Reading& reading() noexcept { return reading_; }
  // Notes what went wrong between tokens.
  KATANA_RARE Taken malformed(simdjson::error_code error);
  KATANA_RARE Taken malformed(Bytes words);

 private:
  struct Kept;
  static Kept& kept();
  static std::optional<std::size_t> offset(const void* self) noexcept;
  bool start(const char* text, std::size_t size);
  const char* copy(Bytes text);
  KATANA_RARE bool refuse_text(simdjson::error_code error, Bytes text);

  Kept* kept_;
  bool owns_kept_;  // when the thread's own is in use
  bool is_wrapped_ = false;
  bool is_open_ = false;
  const char* begin_ = nullptr;
  ondemand::document document_;
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
  KATANA_RARE bool resolve() {
    if (is_resolved_ || *find_string_end(raw_) != '\\') return false;
    is_resolved_ = text(text_);
    return is_resolved_;
  }
  bool text(std::string& to) {
    const char* const end = find_string_end(raw_);
    if (*end == '"') [[likely]] {
      to.assign(raw_, end);
      return true;
    }
    if (unescape_string(raw_, to)) return true;
    source_.malformed("an escape that JSON does not have, or half a surrogate pair");
    return false;
  }

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
      return Bytes(raw_, find_string_end(raw_)) == name;
    }
  }

  JsonSource& source_;
  const char* raw_;
  bool is_resolved_ = false;
  std::string text_;
};

class JsonNode {
 public:
  static constexpr Bytes octets_words = "string of base64";

  JsonNode(JsonSource& source, ondemand::value value) noexcept : source_(source), value_(value) {}
  // The document's root, which is an object or array.
  explicit JsonNode(JsonSource& source) noexcept : source_(source), is_root_(true) {}

  std::optional<Kind> kind();
  bool is_null() { return token().starts_with('n'); }
  std::string number_text();
  std::string shown();
  bool skip();
  Peeked peek(Bytes name);

  bool take_null() { return token_trimmed() == "null" || malformed("expected a value"); }
  Taken take(bool& to) {
    if (is_root_) return Taken::mismatch;
    if (value_.get_bool().get(to) == simdjson::SUCCESS) [[likely]]
      return Taken::good;
    return is_literal() ? unread() : Taken::mismatch;
  }
  Taken take(std::int64_t& to) {
    if (is_root_) return Taken::mismatch;
    if (value_.get_int64().get(to) == simdjson::SUCCESS) [[likely]]
      return Taken::good;
    return number_fault(true);
  }
  Taken take(std::uint64_t& to) {
    if (is_root_) return Taken::mismatch;
    if (value_.get_uint64().get(to) == simdjson::SUCCESS) [[likely]]
      return Taken::good;
    return number_fault(true);
  }
  Taken take(double& to) {
    if (is_root_) return Taken::mismatch;
    if (value_.get_double().get(to) == simdjson::SUCCESS) [[likely]]
      return Taken::good;
    return number_fault(false);
  }
  [[gnu::always_inline]] Taken take(std::string& to) {
    if (is_root_) return Taken::mismatch;
    ondemand::raw_json_string raw;
    if (value_.get_raw_json_string().get(raw) != simdjson::SUCCESS) [[unlikely]]
      return unread();
    const char* const begin = raw.raw();
    const char* const end = find_string_end(begin);
    if (*end != '"') [[unlikely]]
      return take_escaped(begin, to);
    to.assign(begin, end);
    return Taken::good;
  }
  Taken take(Octets& to);

  template <class Visit>
  [[gnu::always_inline]] Taken each_item(Visit&& visit) {
    ondemand::array array;
    const auto error =
        is_root_ ? source_.document().get_array().get(array) : value_.get_array().get(array);
    if (error != simdjson::SUCCESS) [[unlikely]]
      return container_fault(error, Kind::list);
    if (!source_.reading().enter()) return too_deep();
    for (auto item : array) {
      ondemand::value value;
      if (const auto fault = item.get(value)) [[unlikely]]
        return source_.malformed(fault);
      JsonNode node(source_, value);
      if (!visit(node)) return Taken::malformed;
    }
    source_.reading().leave();
    return Taken::good;
  }

  template <class Visit>
  [[gnu::always_inline]] Taken each_field(Visit&& visit) {
    ondemand::object object;
    const auto error =
        is_root_ ? source_.document().get_object().get(object) : value_.get_object().get(object);
    if (error != simdjson::SUCCESS) [[unlikely]]
      return container_fault(error, Kind::object);
    if (!source_.reading().enter()) return too_deep();
    for (auto item : object) {
      ondemand::field field;
      if (const auto fault = std::move(item).get(field)) [[unlikely]] {
        return source_.malformed(fault);
      }
      JsonKey key(source_, field.key().raw());
      JsonNode node(source_, field.value());
      if (!visit(key, node)) return Taken::malformed;
    }
    source_.reading().leave();
    return Taken::good;
  }

 private:
  // From the value's first octet to that of the next token.
  Bytes token() {
    if (!is_root_) return value_.raw_json_token();
    Bytes token;
    return source_.document().raw_json_token().get(token) == simdjson::SUCCESS ? token : Bytes();
  }
  Bytes token_trimmed();
  bool is_literal();
  bool malformed(Bytes words) {
    source_.malformed(words);
    return false;
  }
  KATANA_RARE Taken unread();
  KATANA_RARE Taken number_fault(bool wants_integer);
  KATANA_RARE Taken container_fault(simdjson::error_code error, Kind wanted);
  KATANA_RARE Taken take_escaped(const char* begin, std::string& to);
  KATANA_RARE Taken too_deep();

  JsonSource& source_;
  ondemand::value value_;
  bool is_root_ = false;
};

template <class T>
bool read_wrapped(JsonSource& source, T& value) {
  ondemand::array array;
  bool is_read = false;
  if (const auto error = source.document().get_array().get(array)) {
    source.malformed(error);
    return false;
  }
  for (auto item : array) {
    ondemand::value inner;
    if (const auto error = item.get(inner)) return source.malformed(error), false;
    if (is_read) return source.malformed("something follows the value"), false;
    is_read = true;
    JsonNode node(source, inner);
    const Outcome outcome = read_value<WithoutRules<T>>(node, value, Place(), source.reading());
    if (outcome == Outcome::stop) return false;
  }
  if (!is_read) source.malformed("there is no value");
  return is_read && source.close();
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
