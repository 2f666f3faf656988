#include "katana/wire/http1/facts.hpp"

#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::http1 {
namespace {

using http::equals_ignoring_case;

// Decimal digits only, and a value that fits 63 bits (RFC 9110 §8.6).
bool parse_content_length(Bytes text, std::uint64_t& value) noexcept {
  value = 0;
  if (text.empty()) return false;
  for (const char c : text) {
    if (!http::is(c, http::digit_character)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (INT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  return true;
}

}  // namespace

void Facts::note_rare(KnownField field, Bytes value) noexcept {
  switch (field) {
    case KnownField::host: break;
    case KnownField::content_length:
      ++lengths_;
      length_ = value;
      break;
    case KnownField::transfer_encoding: note_transfer_encoding(value); break;
    case KnownField::connection: note_connection(value); break;
    case KnownField::expect:
      if (equals_ignoring_case(value, "100-continue")) {
        expects_continue_ = true;
      } else {
        expects_other_ = true;
      }
      break;
    case KnownField::upgrade: upgrade_field_ = true; break;
  }
}

void Facts::note_connection(Bytes value) noexcept {
  http::ListReader tokens(value);
  for (Bytes token; tokens.next(token);) {
    close_ = close_ || equals_ignoring_case(token, "close");
    keep_alive_ = keep_alive_ || equals_ignoring_case(token, "keep-alive");
    upgrade_token_ = upgrade_token_ || equals_ignoring_case(token, "upgrade");
  }
}

void Facts::note_transfer_encoding(Bytes value) noexcept {
  has_encoding_ = true;
  http::ListReader codings(value);
  for (Bytes coding; codings.next(coding);) {
    ++codings_;
    last_is_chunked_ = equals_ignoring_case(coding, "chunked");
    other_coding_ = other_coding_ || !last_is_chunked_;
  }
}

Refusal Facts::judge_content(const http::Head& head, Framing& framing) const noexcept {
  framing.content = ContentKind::none;
  framing.content_length = 0;
  if (has_encoding_) {
    if (lengths_ > 0) return Refusal::length_and_encoding;
    if (head.minor_version() == 0) return Refusal::encoding_in_http10;
    if (!last_is_chunked_) return Refusal::last_coding_not_chunked;
    if (other_coding_) return Refusal::unknown_coding;
    if (codings_ > 1)
      return Refusal::last_coding_not_chunked;  // chunked may be applied once only (§6.1)
    framing.content = ContentKind::chunked;
    return Refusal::none;
  }
  if (lengths_ > 1) return Refusal::repeated_content_length;
  if (lengths_ == 0) return Refusal::none;
  if (!parse_content_length(length_, framing.content_length)) return Refusal::bad_content_length;
  if (framing.content_length > 0) framing.content = ContentKind::length;
  return Refusal::none;
}

Refusal Facts::judge(const http::Head& head, Framing& framing) const noexcept {
  const bool is_http11 = head.minor_version() >= 1;
  if (hosts_ != 1) {
    if (hosts_ > 1) return Refusal::repeated_host;
    if (is_http11) return Refusal::missing_host;
  } else if (!http::valid_authority(host_)) {
    return Refusal::bad_host;
  }
  if (const Refusal refusal = judge_content(head, framing); refusal != Refusal::none)
    return refusal;
  if (expects_other_ && is_http11) return Refusal::unknown_expectation;
  // An expectation without content is void, as is one from HTTP/1.0 (RFC 9110 §10.1.1).
  framing.expects_continue = expects_continue_ && is_http11 && framing.content != ContentKind::none;
  framing.keep_alive = !close_ && (is_http11 || keep_alive_);
  framing.wants_upgrade = upgrade_field_ && upgrade_token_ && is_http11;
  return Refusal::none;
}

}  // namespace katana::http1
