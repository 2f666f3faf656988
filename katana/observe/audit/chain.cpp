#include "katana/observe/audit/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "katana/base/text/format.hpp"
#include "katana/base/values/base64.hpp"

namespace katana::audit {
namespace {

constexpr Bytes begin_of_line = R"({"seq":)";
constexpr Bytes begin_of_chain = R"(,"chain":")";
constexpr Bytes end_of_line = R"("})";
constexpr std::size_t digest_text_bytes = 43;

std::optional<std::uint64_t> parse_number(Bytes text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  return number;
}

}  // namespace

std::string write_digest(const crypto::Sha256& digest) { return encode_base64url(digest.bytes()); }

std::optional<crypto::Sha256> parse_digest(Bytes text) {
  const auto octets = decode_base64url(text);
  crypto::Sha256 digest;
  if (!octets || octets->size() != digest.octets.size()) return std::nullopt;
  std::ranges::copy(*octets, digest.octets.begin());
  return digest;
}

std::string write_head(const AuditHead& head) {
  if (head.next == 0) return {};
  return fmt::format("{}:{}", head.next - 1, write_digest(head.chain));
}

std::optional<AuditHead> parse_head(Bytes text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return AuditHead{};
  const std::size_t colon = text.find(':');
  if (colon == Bytes::npos) return std::nullopt;
  const auto number = parse_number(text.substr(0, colon));
  const auto chain = parse_digest(text.substr(colon + 1));
  if (!number || !chain || *number == UINT64_MAX) return std::nullopt;
  return AuditHead{*number + 1, *chain};
}

std::optional<AuditLine> parse_line(Bytes line) {
  constexpr std::size_t tail = begin_of_chain.size() + digest_text_bytes + end_of_line.size();
  if (line.size() < begin_of_line.size() + tail || !line.starts_with(begin_of_line) ||
      !line.ends_with(end_of_line)) {
    return std::nullopt;
  }
  AuditLine parsed;
  parsed.text = line.substr(0, line.size() - tail);
  Bytes rest = line.substr(parsed.text.size());
  if (!rest.starts_with(begin_of_chain)) return std::nullopt;
  const auto chain = parse_digest(rest.substr(begin_of_chain.size(), digest_text_bytes));
  const Bytes members = parsed.text.substr(begin_of_line.size());
  const auto number = parse_number(members.substr(0, members.find(',')));
  if (!chain || !number) return std::nullopt;
  parsed.chain = *chain;
  parsed.number = *number;
  return parsed;
}

AuditChain::AuditChain(Bytes key) {
  if (!key.empty()) hmac_.emplace(crypto::Hash::sha256, key);
}

crypto::Sha256 AuditChain::link(const crypto::Sha256& before, Bytes text) const {
  std::string message(before.bytes());
  message += text;
  if (!hmac_) return crypto::sha256(message);
  crypto::Sha256 digest;
  std::ranges::copy(hmac_->of(message).bytes(), digest.octets.begin());
  return digest;
}

void AuditChain::append_line(std::string& to, Bytes members, AuditHead& head) const {
  const std::size_t from = to.size();
  fmt::format_to(std::back_inserter(to), "{}{},{}", begin_of_line, head.next, members);
  head.chain = link(head.chain, Bytes(to).substr(from));
  ++head.next;
  fmt::format_to(std::back_inserter(to), "{}{}{}\n", begin_of_chain, write_digest(head.chain),
                 end_of_line);
}

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
