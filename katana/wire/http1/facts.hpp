// Facts: the few fields that say how a message is framed, collected while a head is parsed and
// judged at its end.
//
// Owns       nothing; borrows the head's bytes.
// Allocates  never.
// Fails      judge() gives the Refusal. Sources: RFC 9112 §3.2 (Host), §6 (lengths and codings),
//            §9.3 (persistence), RFC 9110 §7.8 (Upgrade), §10.1.1 (Expect).
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http1/head_parser.hpp"

namespace katana::http1 {

// Headers that say how a message is framed.
enum class KnownField : std::uint8_t {
  content_length,     // RFC 9112 §6.2
  transfer_encoding,  // RFC 9112 §6.1
  connection,         // RFC 9110 §7.6.1
  expect,             // RFC 9110 §10.1.1
  upgrade             // RFC 9110 §7.8
};

// Decimal digits only, and a value that fits 63 bits (RFC 9110 §8.6).
bool parse_content_length(Bytes text, std::uint64_t& value) noexcept;

class Facts {
 public:
  // `value` without surrounding white space. `plain`: known to be a valid host with an optional
  // port.
  void note_host(Bytes value, bool plain) noexcept {
    ++hosts_;
    host_ = value;
    if (!plain) seen_ |= host_unchecked;
  }
  void note(KnownField field, Bytes value) noexcept;
  // The target begins with no "/": it may name its own host.
  void note_rare_target() noexcept { seen_ |= rare_target; }

  // Judges the meaning of a head whose form is right.
  Refusal judge(const http::Head& head, Framing& framing) const noexcept {
    if (seen_ == 0 && hosts_ == 1 && head.minor_version() == 1) [[likely]] {
      framing = Framing{};
      return Refusal::none;
    }
    return judge_all(head, framing);
  }

 private:
  enum Seen : unsigned {
    host_unchecked = 1 << 0,
    content_length = 1 << 1,
    transfer_encoding = 1 << 2,
    last_is_chunked = 1 << 3,
    other_coding = 1 << 4,
    close_token = 1 << 5,
    keep_alive_token = 1 << 6,
    upgrade_token = 1 << 7,
    upgrade_field = 1 << 8,
    expects_continue = 1 << 9,
    expects_other = 1 << 10,
    rare_target = 1 << 11,
  };

  bool has(Seen what) const noexcept { return (seen_ & what) != 0; }
  void note_connection(Bytes value) noexcept;
  void note_transfer_encoding(Bytes value) noexcept;
  bool target_names_other_host(const http::Head& head) const noexcept;
  Refusal judge_all(const http::Head& head, Framing& framing) const noexcept;
  Refusal judge_content(const http::Head& head, Framing& framing) const noexcept;

  unsigned seen_ = 0;
  std::uint16_t hosts_ = 0;
  std::uint16_t lengths_ = 0;
  std::uint16_t codings_ = 0;
  Bytes host_;
  Bytes length_;
};

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
