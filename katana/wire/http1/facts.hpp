// Facts: the few fields that say how a message is framed, collected while a head is parsed and
// judged at its end.
//
// Owns       nothing; borrows the head's bytes.
// Allocates  never.
// Fails      judge() gives the Refusal. Sources: RFC 9112 §3.2 (Host), §6 (lengths and codings),
// §9.3 (persistence),
//            RFC 9110 §7.8 (Upgrade), §10.1.1 (Expect).
#pragma once

#include "katana/base/bytes.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http1/head_parser.hpp"

namespace katana::http1 {

enum class KnownField : std::uint8_t {
  host,
  content_length,
  transfer_encoding,
  connection,
  expect,
  upgrade
};

class Facts {
 public:
  // `value` without surrounding white space.
  void note(KnownField field, Bytes value) noexcept {
    if (field == KnownField::host) {
      ++hosts_;
      host_ = value;
    } else {
      note_rare(field, value);
    }
  }
  Refusal judge(const http::Head& head, Framing& framing) const noexcept;

 private:
  void note_rare(KnownField field, Bytes value) noexcept;
  void note_connection(Bytes value) noexcept;
  void note_transfer_encoding(Bytes value) noexcept;
  Refusal judge_content(const http::Head& head, Framing& framing) const noexcept;

  unsigned hosts_ = 0;
  unsigned lengths_ = 0;
  unsigned codings_ = 0;
  Bytes host_;
  Bytes length_;
  bool has_encoding_ = false;
  bool last_is_chunked_ = false;
  bool other_coding_ = false;
  bool close_ = false;
  bool keep_alive_ = false;
  bool upgrade_token_ = false;
  bool upgrade_field_ = false;
  bool expects_continue_ = false;
  bool expects_other_ = false;
};

}  // namespace katana::http1
