#include "katana/stores/database/postgres/target/server_choice.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::database::postgres::target {
namespace {

using katana::postgres::TlsStart;

constexpr std::size_t reason_bytes_max = 512;

enum class Then : std::uint8_t { server, address, end };

struct Rule {
  Failure failure = Failure::count_;
  Action during = Action::end;  // the action that can fail in this way
  Then then = Then::end;
  Code code = Code::unavailable;  // of the error, if this is the last failure
};
constexpr std::array<Rule, static_cast<std::size_t>(Failure::count_)> rules = {{
    {Failure::unresolved, Action::resolve, Then::server, Code::unavailable},
    {Failure::unreachable, Action::connect, Then::address, Code::unavailable},
    {Failure::timed_out, Action::connect, Then::address, Code::deadline_exceeded},
    {Failure::lost, Action::connect, Then::address, Code::unavailable},
    {Failure::no_tls, Action::connect, Then::end, Code::unavailable},
    {Failure::tls, Action::connect, Then::end, Code::unavailable},
    {Failure::starting, Action::connect, Then::server, Code::unavailable},
    {Failure::forbidden, Action::connect, Then::end, Code::unavailable},
    {Failure::refused, Action::connect, Then::end, Code::unavailable},
    {Failure::broken, Action::connect, Then::end, Code::unavailable},
    {Failure::no_answer, Action::ask, Then::server, Code::unavailable},
}};

constexpr bool has_a_rule_for_each() {
  for (std::size_t index = 0; index < rules.size(); ++index) {
    if (static_cast<std::size_t>(rules[index].failure) != index) return false;
  }
  return true;
}
static_assert(has_a_rule_for_each());

TlsStart first_tls(const Target& target, const Server& server) {
  const bool begins_plain =
      target.tls.mode == TlsMode::disable || target.tls.mode == TlsMode::allow;
  if (!server.socket_path.empty() || begins_plain) return TlsStart::off;
  return target.tls.is_direct ? TlsStart::direct : TlsStart::request;
}

std::string place_of(const Server& server, std::string_view address) {
  if (!server.socket_path.empty()) {
    return fmt::format("server on socket '{}'", server.socket_path);
  }
  if (address.empty() || address == server.host) return "server at " + server.describe();
  return fmt::format("server at {} ({})", server.describe(), address);
}

}  // namespace

Failure failure_of(Bytes sqlstate) noexcept {
  if (sqlstate == "57P03") return Failure::starting;   // cannot_connect_now
  if (sqlstate == "28000") return Failure::forbidden;  // invalid_authorization_specification
  return Failure::refused;
}

ServerChoice::ServerChoice(const Target& target, Random& random)
    : target_(target), random_(random), order_(target.servers.size()) {
  KATANA_REQUIRE(!target.servers.empty());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (target.is_balanced) shuffle(order_);
  begin_server();
}

ServerStep ServerChoice::step() const noexcept {
  ServerStep step{.action = action_};
  if (action_ == Action::end) return step;
  step.server = order_[place_];
  if (action_ == Action::connect) {
    if (!addresses_.empty()) step.address = addresses_[address_];
    step.tls = tls_;
    step.timeout = target_.connect_timeout.value_or(Duration{});
  }
  if (action_ == Action::ask) step.question = judge_role(want(), facts_).text;
  return step;
}

SessionKind ServerChoice::want() const noexcept {
  const bool takes_any = target_.session == SessionKind::prefer_standby && is_second_pass_;
  return takes_any ? SessionKind::any : target_.session;
}

void ServerChoice::begin_server() {
  addresses_.clear();
  address_ = 0;
  const bool has_name = server().socket_path.empty() && server().address.empty();
  if (!server().address.empty()) addresses_.push_back(server().address);
  action_ = Action::resolve;
  if (!has_name) begin_address();
}

void ServerChoice::begin_address() {
  tls_ = first_tls(target_, server());
  has_tried_both_ = false;
  action_ = Action::connect;
}

void ServerChoice::next_address() {
  if (address_ + 1 >= addresses_.size()) return next_server();
  ++address_;
  begin_address();
}

void ServerChoice::next_server() {
  if (++place_ < order_.size()) return begin_server();
  if (target_.session != SessionKind::prefer_standby || is_second_pass_) {
    action_ = Action::end;
    return;
  }
  is_second_pass_ = true;
  place_ = 0;
  begin_server();
}

void ServerChoice::resolved(std::vector<std::string> addresses) {
  KATANA_REQUIRE(action_ == Action::resolve);
  if (addresses.empty()) return failed(Failure::unresolved, "the name has no address");
  addresses_ = std::move(addresses);
  if (target_.is_balanced) shuffle(addresses_);
  if (addresses_.size() > addresses_max) addresses_.resize(addresses_max);
  begin_address();
}

void ServerChoice::established(const SessionFacts& facts) {
  KATANA_REQUIRE(action_ == Action::connect);
  facts_ = facts;
  judge();
}

void ServerChoice::answered(Bytes value) {
  KATANA_REQUIRE(action_ == Action::ask);
  if (!facts_.answer(want(), value)) {
    return failed(Failure::no_answer, "the server's answer is neither on nor off");
  }
  judge();
}

// Compares the session with the wish.
void ServerChoice::judge() {
  const RoleVerdict verdict = judge_role(want(), facts_);
  switch (verdict.kind) {
    case RoleVerdict::Kind::use: action_ = Action::use; return;
    case RoleVerdict::Kind::ask: action_ = Action::ask; return;
    case RoleVerdict::Kind::refuse: return reject(verdict.text);
  }
}

void ServerChoice::reject(std::string_view reason) {
  note(reason);
  last_ = Failure::no_answer;
  next_server();
}

// sslmode=prefer and sslmode=allow try the same address in both ways.
bool ServerChoice::try_other_tls(Failure failure) {
  if (has_tried_both_ || !server().socket_path.empty()) return false;
  const bool is_forbidden = failure == Failure::forbidden;
  const bool is_of_tls = failure == Failure::no_tls || failure == Failure::tls;
  const bool may_drop = target_.tls.mode == TlsMode::prefer && (is_forbidden || is_of_tls);
  const bool may_add = target_.tls.mode == TlsMode::allow && is_forbidden;
  if (!may_drop && !may_add) return false;
  tls_ = may_drop ? TlsStart::off : TlsStart::request;
  has_tried_both_ = true;
  return true;
}

void ServerChoice::failed(Failure failure, std::string_view reason) {
  KATANA_REQUIRE(failure < Failure::count_);
  const Rule& rule = rules[static_cast<std::size_t>(failure)];
  KATANA_REQUIRE(rule.during == action_);
  note(reason);
  last_ = failure;
  if (try_other_tls(failure)) return;
  switch (rule.then) {
    case Then::server: return next_server();
    case Then::address: return next_address();
    case Then::end: action_ = Action::end; return;
  }
}

void ServerChoice::note(std::string_view reason) {
  if (reasons_.size() == reasons_max) {
    ++reasons_left_out_;
    return;
  }
  const std::string_view address = addresses_.empty() ? "" : std::string_view(addresses_[address_]);
  reasons_.push_back(
      fmt::format("{}: {}", place_of(server(), address), reason.substr(0, reason_bytes_max)));
}

katana::Error ServerChoice::error() const {
  KATANA_REQUIRE(action_ == Action::end);
  std::string text;
  for (const std::string& reason : reasons_) text += (text.empty() ? "" : "; ") + reason;
  if (reasons_left_out_ > 0) text += fmt::format("; and {} more failures", reasons_left_out_);
  return katana::Error(rules[static_cast<std::size_t>(last_)].code, std::move(text));
}

// Fisher and Yates, as libpq does it.
template <class T>
void ServerChoice::shuffle(std::vector<T>& values) {
  for (std::size_t index = 1; index < values.size(); ++index) {
    std::swap(values[index], values[random_.below(index + 1)]);
  }
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
