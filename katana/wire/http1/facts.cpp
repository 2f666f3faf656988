#include "katana/wire/http1/facts.hpp"

#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::http1 {

using http::equals_ignoring_case;

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

void Facts::note(KnownField field, Bytes value) noexcept {
  switch (field) {
    case KnownField::content_length:
      seen_ |= content_length;
      ++lengths_;
      length_ = value;
      break;
    case KnownField::transfer_encoding: note_transfer_encoding(value); break;
    case KnownField::connection: note_connection(value); break;
    case KnownField::expect:
      seen_ |= equals_ignoring_case(value, "100-continue") ? expects_continue : expects_other;
      break;
    case KnownField::upgrade: seen_ |= upgrade_field; break;
  }
}

void Facts::note_connection(Bytes value) noexcept {
  http::ListReader tokens(value);
  for (Bytes token; tokens.next(token);) {
    if (equals_ignoring_case(token, "close")) seen_ |= close_token;
    if (equals_ignoring_case(token, "keep-alive")) seen_ |= keep_alive_token;
    if (equals_ignoring_case(token, "upgrade")) seen_ |= upgrade_token;
  }
}

void Facts::note_transfer_encoding(Bytes value) noexcept {
  seen_ |= transfer_encoding;
  http::ListReader codings(value);
  for (Bytes coding; codings.next(coding);) {
    ++codings_;
    if (equals_ignoring_case(coding, "chunked")) {
      seen_ |= last_is_chunked;
    } else {
      seen_ = (seen_ & ~unsigned{last_is_chunked}) | other_coding;
    }
  }
}

Refusal Facts::judge_content(const http::Head& head, Framing& framing) const noexcept {
  if (has(transfer_encoding)) {
    if (lengths_ > 0) return Refusal::length_and_encoding;
    if (head.minor_version() == 0) return Refusal::encoding_in_http10;
    if (!has(last_is_chunked)) return Refusal::last_coding_not_chunked;
    if (has(other_coding)) return Refusal::unknown_coding;
    // Chunked may be applied once only (§6.1).
    if (codings_ > 1) return Refusal::last_coding_not_chunked;
    framing.content = ContentKind::chunked;
    return Refusal::none;
  }
  if (lengths_ > 1) return Refusal::repeated_content_length;
  if (lengths_ == 0) return Refusal::none;
  if (!parse_content_length(length_, framing.content_length)) return Refusal::bad_content_length;
  if (framing.content_length > 0) framing.content = ContentKind::length;
  return Refusal::none;
}

// RFC 9112 §3.2.2 lets the target's authority win. A client that keeps §3.2 sends the same
// authority in Host. Where the two differ, a server in front may have judged one host, and this one
// would serve the other. When they are the same, all readers can rely on Host. Targets that are
// wrong, or of another scheme, are answered for that.
bool Facts::target_names_other_host(const http::Head& head) const noexcept {
  if (!has(rare_target) || hosts_ == 0) return false;
  const auto target = http::split_target(head.target(), head.method());
  if (!target || target->form != http::TargetForm::absolute) return false;
  const bool is_http =
      equals_ignoring_case(target->scheme, "http") || equals_ignoring_case(target->scheme, "https");
  return is_http && !http::same_authority(target->authority, host_, target->scheme);
}

Refusal Facts::judge_all(const http::Head& head, Framing& framing) const noexcept {
  framing = Framing{};
  const bool is_http11 = head.minor_version() >= 1;
  if (hosts_ > 1) return Refusal::repeated_host;
  if (hosts_ == 0 && is_http11) return Refusal::missing_host;
  if (has(host_unchecked) && !http::valid_authority(host_)) return Refusal::bad_host;
  if (target_names_other_host(head)) return Refusal::target_is_not_host;
  const Refusal refusal = judge_content(head, framing);
  if (refusal != Refusal::none) return refusal;
  if (has(expects_other) && is_http11) return Refusal::unknown_expectation;
  // An expectation without content is void, as is one from HTTP/1.0 (RFC 9110 §10.1.1).
  framing.expects_continue =
      has(expects_continue) && is_http11 && framing.content != ContentKind::none;
  framing.keep_alive = !has(close_token) && (is_http11 || has(keep_alive_token));
  framing.wants_upgrade = has(upgrade_field) && has(upgrade_token) && is_http11;
  return Refusal::none;
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
