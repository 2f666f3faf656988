// Machine: the header of the PROXY protocol, versions 1 and 2. A proxy sends it in front of a
// connection's own bytes to name the client that it speaks for
// (haproxy.org/download/3.0/doc/proxy-protocol.txt).
//
//   1   "PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n", TCP6, or UNKNOWN and anything; 107 bytes
//   2   a signature of 12 bytes, version and command, family and transport, a length, addresses.
//       Fields of type, length and value follow and are skipped. A CRC32C among them is checked
//
// The state names the part of the header that comes next:
//
//   start        nothing came yet          "P" -> line, CR -> signature
//   line         version 1                 CRLF -> done
//   signature    of version 2, 16 bytes    -> addresses, or skipped, or done
//   addresses    12 or 36 bytes            -> fields, or done
//   fields       type and length           -> value, or done
//   value        of a field                -> fields, or done
//   skipped      LOCAL, UNSPEC, UNIX       -> done
//   refused      for ever
//
// Owns       at most 107 bytes of the input.
// Borrows    the input, for the call.
// Thread     its user's.
// Allocates  never.
// Fails      Event::refused; refusal() says why. Such a header has no Source.
// Invariant  every byte of an accepted header was checked, and no byte behind the header is taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/wire/proxy/crc32c.hpp"

namespace katana::proxy {

inline constexpr std::size_t line_bytes_max = 107;     // of version 1, with its CRLF
inline constexpr std::size_t header_bytes_max = 4096;  // of version 2, with all its fields

// The events of next().
enum class Event : std::uint8_t {
  need_bytes,  // all of the input was taken, and more of the header is to come
  done,        // the header is complete; the rest of the input is behind it
  refused,     // refusal() says why
};

// Why a header is refused.
enum class Refusal : std::uint8_t {
  none,  // it is

  signature,  // it begins like neither version
  line,       // of version 1: too long, or not in its form
  command,    // a version, command, family or transport that is not served
  length,     // larger than header_bytes_max, or too small for its addresses or fields
  checksum,   // the CRC32C does not match
  count_
};
// For logs and tests.
Bytes name_of(Refusal refusal) noexcept;

// The result of one call of next().
struct Step {
  Event event = Event::need_bytes;  // its outcome
  std::size_t consumed = 0;         // bytes of the input that it took
};

// The client that a proxy speaks for.
struct Source {
  IpAddress address;       // of the client
  std::uint16_t port = 0;  // from which it connected to the proxy
  friend bool operator==(const Source&, const Source&) noexcept = default;
};

class Machine {
 public:
  // Takes the part of the input that belongs to the header, perhaps all of it.
  Step next(Bytes input) noexcept;
  // The client. None: the header is not complete or was refused, or the proxy speaks for itself
  // (LOCAL), or it names no client.
  std::optional<Source> source() const noexcept {
    return state_ == State::done ? source_ : std::nullopt;
  }
  Refusal refusal() const noexcept { return refusal_; }

 private:
  enum class State : std::uint8_t {
    start,
    line,
    signature,
    addresses,
    fields,
    value,
    skipped,
    done,
    refused
  };

  // Each takes some off the front of `input` and goes on to another state, or needs more.
  void take(Bytes& input) noexcept;
  void take_line(Bytes& input) noexcept;
  void take_value(Bytes& input) noexcept;
  // True once `kept_` has so many.
  bool collect(Bytes& input, std::size_t bytes) noexcept;
  void read_line(Bytes line) noexcept;
  void read_signature() noexcept;
  void read_addresses() noexcept;
  void read_field() noexcept;
  // Behind addresses and behind each field.
  void enter_fields() noexcept;
  void end_header() noexcept;
  void refuse(Refusal refusal) noexcept;

  std::array<char, line_bytes_max> kept_;
  std::size_t kept_bytes_ = 0;
  std::size_t left_ = 0;   // of version 2: bytes of the header that are to come
  std::size_t value_ = 0;  // of the field's value, likewise
  std::array<char, 4> sum_{};
  std::optional<Source> source_;
  Crc32c crc_;
  bool has_sum_ = false;
  bool in_sum_ = false;  // the value is that of the checksum
  bool is_v6_ = false;
  State state_ = State::start;
  Refusal refusal_ = Refusal::none;
};

}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
