// MessagePack reader: reads MessagePack into described structs, lists, dictionaries and Values.
//
//   Result<NewUser> user = read_message_pack<NewUser>(bytes);
//
// Types must match as for JSON (json_read.hpp). A real member takes integers, too. The keys of maps
// are of type str. Extension types are refused.
//
// Borrows    the bytes, for the call.
// Thread     any.
// Allocates  for the members.
// Fails      Findings: one with the place of malformed bytes, or all values that do not fit.
// Invariant  reads nothing outside of the bytes. It allocates memory only for the present part of a
//            list or map.
// Source     the MessagePack specification (msgpack/spec.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/data/container/endian.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/container/reading.hpp"

namespace katana::container {
namespace detail {

class PackSource {
 public:
  PackSource(Bytes octets, Findings& findings, const ReadOptions& options)
      : begin_(octets.data()),
        at_(octets.data()),
        end_(octets.data() + octets.size()),
        reading_(findings, options, {"MessagePack", offset, this}) {}
  PackSource(const PackSource&) = delete;
  PackSource& operator=(const PackSource&) = delete;

  Reading& reading() noexcept { return reading_; }
  bool is_allowed();
  // Ends the input. False: more bytes follow the value, and it is noted.
  bool close();
  KATANA_RARE Taken malformed(Bytes words) {
    reading_.malformed(words);
    return Taken::malformed;
  }
  KATANA_RARE Taken ends() { return malformed("it ends within a value"); }

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  const char* at() const noexcept { return at_; }
  std::uint8_t tag() const noexcept { return static_cast<std::uint8_t>(*at_); }  // REQUIRES left()
  void advance(std::size_t count) noexcept { at_ += count; }
  void go_back(const char* at) noexcept { at_ = at; }

 private:
  static std::optional<std::size_t> offset(const void* self) noexcept;

  const char* begin_;
  const char* at_;
  const char* end_;
  Reading reading_;
};

class PackKey {
 public:
  PackKey(PackSource& source, Bytes name) noexcept : source_(source), name_(name) {}
  template <std::size_t index, class T>
  [[gnu::always_inline]] bool is() const noexcept {
    constexpr Bytes name = field_of<T, index>.name;
    return name_.size() == name.size() && std::memcmp(name_.data(), name.data(), name.size()) == 0;
  }
  bool resolve() const noexcept { return false; }
  bool text(std::string& to);

 private:
  PackSource& source_;
  Bytes name_;
};

// The value at the front of the source.
class PackNode {
 public:
  static constexpr Bytes octets_words = "bytes";

  explicit PackNode(PackSource& source) noexcept : source_(source) {}

  std::optional<Kind> kind();
  bool is_null() { return source_.left() != 0 && source_.tag() == 0xc0; }
  std::string number_text() { return shown(); }  // only for integers
  std::string shown();
  bool skip();
  Looked look(MemberVisitor& visitor);
  bool take_null();

  Taken take(bool& to);
  // Small numbers are equal to their tags; most numbers are small.
  [[gnu::always_inline]] Taken take(std::int64_t& to) {
    if (source_.left() == 0 || source_.tag() >= 0x80) return take_integer(to);
    to = source_.tag();
    source_.advance(1);
    return Taken::good;
  }
  [[gnu::always_inline]] Taken take(std::uint64_t& to) {
    if (source_.left() == 0 || source_.tag() >= 0x80) return take_natural(to);
    to = source_.tag();
    source_.advance(1);
    return Taken::good;
  }
  Taken take(double& to);
  Taken take(std::string& to);
  Taken take(Octets& to);

  template <class Visit>
  Taken each_item(Visit&& visit) {
    std::uint32_t count = 0;
    if (const Taken taken = take_count(0x90, 0xdc, count); taken != Taken::good) return taken;
    if (!source_.reading().enter()) return source_.reading().too_deep(), Taken::malformed;
    for (; count > 0; --count) {
      if (!visit(*this)) return Taken::malformed;
    }
    source_.reading().leave();
    return Taken::good;
  }

  template <class Visit>
  Taken each_field(Visit&& visit) {
    std::uint32_t count = 0;
    if (const Taken taken = take_count(0x80, 0xde, count); taken != Taken::good) return taken;
    if (!source_.reading().enter()) return source_.reading().too_deep(), Taken::malformed;
    for (; count > 0; --count) {
      Bytes name;
      if (const Taken taken = take_run(name, Kind::text); taken != Taken::good) {
        if (taken == Taken::mismatch) source_.malformed("a key that is no string");
        return Taken::malformed;
      }
      PackKey key(source_, name);
      if (!visit(key, *this)) return Taken::malformed;
    }
    source_.reading().leave();
    return Taken::good;
  }

 private:
  Taken take_integer(std::int64_t& to);
  Taken take_natural(std::uint64_t& to);
  // An integer as its 64 bits.
  struct Number {
    std::uint64_t bits;
    bool is_negative;
    std::uint8_t size;  // in bytes, with its tag
  };
  Taken peek_integer(Number& number);
  // Takes text or bytes; `run` refers to the source.
  Taken take_run(Bytes& run, Kind wanted);
  // Takes the count of a list or map. `fixed` is its short form, `tag16` the tag of the form with
  // 16 bits.
  Taken take_count(std::uint8_t fixed, std::uint8_t tag16, std::uint32_t& count);

  PackSource& source_;
};

template <class T>
bool read_pack(Bytes octets, T& value, Findings& findings, const ReadOptions& options) {
  PackSource source(octets, findings, options);
  if (!source.is_allowed()) return false;
  PackNode node(source);
  const Outcome outcome = read_value<WithoutRules<T>>(node, value, Place(), source.reading());
  return outcome != Outcome::stop && source.close() && findings.empty();
}

}  // namespace detail

// Reads MessagePack into `value`. Members that the bytes do not have keep their value. False: see
// `findings`; `value` is partly filled.
template <class T>
bool read_message_pack(Bytes octets, T& value, Findings& findings,
                       const ReadOptions& options = {}) {
  return detail::read_pack(octets, value, findings, options);
}

template <class T>
Result<T> read_message_pack(Bytes octets, const ReadOptions& options = {}) {
  Result<T> value{std::in_place};
  Findings findings(options.findings_max);
  if (!read_message_pack(octets, *value, findings, options)) {
    return std::unexpected(findings.error());
  }
  return value;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
