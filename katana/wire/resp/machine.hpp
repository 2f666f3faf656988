// Machine: reads the replies of a Redis server, RESP3 and RESP2
// (github.com/redis/redis-specifications, protocol/RESP3.md).
//
//   first byte   kind              line                 followed by
//   +             simple_string    any text
//   -             simple_error     any text
//   :             integer          64 bits, signed
//   _             null             nothing              (RESP2: $-1 and *-1)
//   #             boolean          t or f
//   ,             number           decimal, inf, nan
//   (             big_number       digits
//   $  !  =       bulk_string, bulk_error, verbatim     so many bytes, CRLF
//   * ~ >         array, set, push  count               so many values
//   %  |          map, attribute    count               twice as many values
//
// The state names the part that comes next:
//
//   value        a first byte and its line    -> value, content
//   content      of a string, and its CRLF    -> value
//   refused      for ever
//
// next() reports one value, or one part of a string, at a time. Code that builds replies of them
// has a stack. It pushes an aggregate when its value is reported, and pops Step::ended aggregates
// after each value.
//
// Owns       the counts of the aggregates that are open, depth_limit of them at most.
// Borrows    the input, for the call.
// Thread     its user's.
// Allocates  never.
// Fails      Event::refused; refusal() says why, and no event follows.
// Invariant  however the bytes are cut, the values, and the contents of strings put together, are
//            the same. The unconsumed bytes are less than a line of line_bytes_max and its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/resp/refusal.hpp"

namespace katana::resp {

// The upper bound of Limits::depth_max.
inline constexpr std::uint32_t depth_limit = 32;

// The limits of a Machine, which refuses input beyond any of them.
struct Limits {
  std::size_t line_bytes_max = 16 * 1024;    // without its CRLF; at most 16 KiB less than a carry
  std::uint32_t depth_max = 8;               // aggregates within one another; 1 … depth_limit
  std::uint64_t elements_max = 1024 * 1024;  // of a reply, at every depth together
  std::uint64_t reply_bytes_max = std::uint64_t{64} * 1024 * 1024;  // lines and strings together
};

// The kind of a value, which its first byte decides: see the table above.
enum class Kind : std::uint8_t {
  null,           // also RESP2's $-1 and *-1
  simple_string,  // Step::text, one line
  simple_error,   // likewise
  integer,        // Step::integer
  boolean,        // Step::integer, 0 or 1
  number,         // Step::number
  big_number,     // Step::text, its digits
  bulk_string,    // its content in parts
  bulk_error,     // likewise
  verbatim,       // its first four bytes are the format and a colon, as in "txt:"
  array,          // Step::count values follow
  set,            // likewise, without order
  map,            // Step::count values follow, a key before each value
  push,           // not the reply to a command, such as a message of a subscription
  attribute,      // of the value that follows it
  count_,
};
// The name of a kind, for messages: "a bulk string".
Bytes name_of(Kind kind) noexcept;

// The events of next().
enum class Event : std::uint8_t {
  need_bytes,  // call again with more bytes behind those that were not consumed
  value,       // a whole value, or the beginning of an aggregate or of a string
  part,        // the next part of a string's content, perhaps empty
  refused,     // the bytes are no RESP, or beyond a limit
};

// The result of one call of next().
struct Step {
  Event event = Event::need_bytes;  // decides which members are valid
  Kind kind = Kind::null;           // of a value, and of a part's string
  // For a string: its content is complete with this step. For every other value true.
  bool complete = true;
  // The reply is complete: the next byte belongs to another one.
  bool reply_ended = false;
  // The number of aggregates that this step completes, the innermost first. An empty aggregate
  // counts itself.
  std::uint8_t ended = 0;
  std::size_t consumed = 0;
  std::int64_t integer = 0;  // also of a boolean
  double number = 0;
  std::uint64_t count = 0;  // of an aggregate: the values in it; of a string its bytes
  Bytes text = {};          // in the input: a line without its type, or a part of a content
};

class Machine {
 public:
  explicit Machine(const Limits& limits = {}) noexcept;

  // `input` begins where the last call's `consumed` ended.
  Step next(Bytes input) noexcept;
  // `none` until Event::refused.
  Refusal refusal() const noexcept { return refusal_; }
  // A reply has begun and is not complete, as far as is consumed.
  bool within_reply() const noexcept {
    return state_ != State::value || depth_ > 0 || follows_attribute_;
  }

 private:
  enum class State : std::uint8_t { value, content, refused };
  struct Open {
    std::uint64_t left = 0;
    bool is_attribute = false;
  };

  Step refuse(Refusal why) noexcept;
  Step read_value(Bytes input) noexcept;
  Step read_line(Kind kind, Bytes line) noexcept;
  Step begin_string(Kind kind, Bytes line, Bytes rest) noexcept;
  Step begin_aggregate(Kind kind, Bytes line) noexcept;
  Step read_content(Bytes input) noexcept;
  // A value that is no aggregate with something in it is complete: others may be with it.
  void end_value(Step& step) noexcept;
  bool count_value(std::size_t bytes) noexcept;
  bool is_place_for(Kind kind) const noexcept;

  const Limits limits_;
  std::array<Open, depth_limit> open_{};
  std::uint32_t depth_ = 0;
  std::uint64_t elements_ = 0;     // of this reply
  std::uint64_t bytes_ = 0;        // likewise
  std::size_t searched_ = 0;       // of a line whose end has not come
  std::uint64_t left_ = 0;         // of a string's content
  std::uint32_t prefix_left_ = 0;  // likewise, of what a verbatim one begins with
  Kind string_ = Kind::bulk_string;
  bool follows_attribute_ = false;
  State state_ = State::value;
  Refusal refusal_ = Refusal::none;
};

}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
