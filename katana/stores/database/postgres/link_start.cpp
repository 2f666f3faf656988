// The start of a link: servers in turn, the socket, TLS, authentication, and the server's role.
#include <netinet/tcp.h>
#include <pwd.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "katana/net/engine/sockets.hpp"
#include "katana/stores/database/postgres/link.hpp"
#include "katana/stores/database/postgres/link_tls.hpp"
#include "katana/stores/database/postgres/opening_link.hpp"
#include "katana/stores/database/postgres/socket_address.hpp"

namespace katana::database::postgres {
namespace {

using protocol::StartEvent;
using protocol::StartStep;
using Mode = LinkTlsOptions::Mode;

std::string path_of(const Target& target) {
  return fmt::format("{}/.s.PGSQL.{}", target.name, target.port);
}

std::string place_of(const Target& target) {
  if (target.address.empty()) return path_of(target);
  return fmt::format("{}:{}", target.name, target.port);
}

void set_number(int socket, int level, int option, unsigned value) noexcept {
  const int number = static_cast<int>(value);
  (void)setsockopt(socket, level, option, &number, sizeof number);  // Linux always takes it
}

void set_probes(int socket, const TcpProbes& probes) noexcept {
  if (probes.sent_ms > 0) set_number(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, probes.sent_ms);
  if (!probes.are_sent) return;
  set_number(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  if (probes.idle_s > 0) set_number(socket, IPPROTO_TCP, TCP_KEEPIDLE, probes.idle_s);
  if (probes.interval_s > 0) set_number(socket, IPPROTO_TCP, TCP_KEEPINTVL, probes.interval_s);
  if (probes.count > 0) set_number(socket, IPPROTO_TCP, TCP_KEEPCNT, probes.count);
}

katana::Result<int> connect_socket(const Target& target) {
  const bool is_local = target.address.empty();
  if (is_local && target.name.starts_with('@')) {
    return connect_to(unix_address(path_of(target)), place_of(target));
  }
  if (target.address.find('%') != std::string::npos) {
    return connect_to(zoned_address(target.address, target.port), place_of(target));
  }
  return engine::open_connection({.address = is_local ? path_of(target) : target.address,
                                  .port = is_local ? std::uint16_t{0} : target.port});
}

katana::Result<int> connect_within(const net::Destinations& destinations,
                                   engine::SocketCalls& sockets, const Target& target) {
  const auto found = destinations.find("postgresql", target.name, target.port);
  if (!found) return std::unexpected(found.error());
  return sockets.connect(*found);
}

std::string refusal_text(protocol::Refusal refusal) {
  std::string text(protocol::text_of(refusal));
  if (refusal == protocol::Refusal::method_not_allowed) {
    text +=
        ". Without 'require_auth' that is scram-sha-256. Change password_encryption of the server, "
        "or allow it by require_auth=md5 or require_auth=password in the URL";
  }
  return text;
}

std::string in_one_line(Bytes text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

void Link::begin() noexcept { try_next(); }

// Adds the reason why this server cannot be had. False, for the callers that return it.
bool Link::note(std::string why) {
  // The attempt in the clear does not change why the one within TLS was refused.
  if (!start_->is_second) problem_.state.clear();
  if (!problem_.text.empty()) problem_.text += "; ";
  problem_.text += fmt::format("{}: {}", start_->host, why);
  return false;
}

bool Link::note(const protocol::Report& report) {
  (void)note(fmt::format("{}: {} (SQLSTATE {})", report.severity, in_one_line(report.message),
                         report.sqlstate));
  problem_.state = report.sqlstate;
  return false;
}

// As libpq does with `prefer`, if the server refuses TLS by its pg_hba.conf. A proof of the
// password that was sent within TLS is not sent again without it.
bool Link::may_try_in_clear(const protocol::Report& report) const noexcept {
  const OpeningLink& start = *start_;
  return report.sqlstate == "28000" && tls_ != nullptr && !start.has_answered &&
         start.options.tls.mode == Mode::preferred &&
         start.options.binding != protocol::ChannelBinding::required;
}

// A wrong password is the same for each server, and each try counts as a failed login.
bool Link::note_refused(const protocol::Report& report) {
  if (may_try_in_clear(report)) {
    start_->tries_in_clear = true;
    --start_->target;
  }
  if (report.sqlstate == "28P01" && start_->options.target_passwords.empty()) {
    start_->target = start_->options.targets.size();
    start_->takes_any = true;
  }
  return note(report);
}

void Link::close() noexcept {
  if (socket_ >= 0) sockets_.close(std::exchange(socket_, -1));
  tls_.reset();
  machine_.reset();
  pending_ = {};
  connecting_ = full_ = send_failed_ = may_have_more_ = false;
  facts_ = {};
  process_ = 0;
  erase_secret(key_);
  key_.clear();
  input_ = {};
  kept_.clear();
  output_.clear();
  sent_ = 0;
}

void Link::try_next() noexcept {
  OpeningLink& start = *start_;
  for (;;) {
    close();
    if (start.target == start.options.targets.size()) {
      const bool again =
          start.options.session == target::SessionKind::prefer_standby && !start.takes_any;
      if (!again) break;
      start.takes_any = true;
      start.target = 0;
    }
    start.is_second = std::exchange(start.tries_in_clear, false);
    start.is_clear = start.is_second;
    if (open(start.options.targets[start.target++])) return;
  }
  failed_ = true;
}

bool Link::open(const Target& target) {
  start_->host = place_of(target);
  server_ = fmt::format("{} {} {}", target.name, target.address, target.port);
  start_->has_answered = false;
  const bool is_local = target.address.empty();
  socket_path_ = is_local ? path_of(target) : std::string();
  auto opened = start_->destinations != nullptr
                    ? connect_within(*start_->destinations, sockets_, target)
                    : connect_socket(target);
  if (!opened) {  // it names the place
    problem_.state.clear();
    if (!problem_.text.empty()) problem_.text += "; ";
    problem_.text += opened.error().message();
    return false;
  }
  socket_ = *opened;
  if (!is_local && start_->destinations == nullptr) set_probes(socket_, start_->options.probes);
  connecting_ = true;
  return true;
}

void Link::advance() noexcept {
  bool good = true;
  if (connecting_) {
    connecting_ = false;
    if (const int why = sockets_.take_error(socket_); why != 0) {
      good = note(std::generic_category().message(why));
    } else {
      good = begin_session();
    }
  } else {
    flush();
    LinkProblem others = std::exchange(problem_, {});
    const bool goes_on = receive();
    const std::string why = std::exchange(problem_, std::move(others)).text;
    // The server may have said why it closes the connection.
    good = start_->phase == OpeningLink::Phase::handshake ? shake_hands()
           : start_->phase == OpeningLink::Phase::asking  ? read_answer()
                                                          : run_start();
    if (good && start_ != nullptr && !goes_on) good = note(why);
  }
  if (!good) return try_next();
  flush();
  keep_unread();
}

bool Link::is_server_user() {
  const std::string& wanted = start_->options.server_user;
  if (wanted.empty()) return true;
  ucred peer{};
  socklen_t size = sizeof peer;
  std::array<char, 4096> memory;
  passwd entry{};
  passwd* found = nullptr;
  if (getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      getpwuid_r(peer.uid, &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr ||
      wanted != entry.pw_name) {
    return note(fmt::format("the server is not of the user '{}', whom requirepeer names", wanted));
  }
  return true;
}

bool Link::begin_session() {
  OpeningLink& start = *start_;
  const LinkOptions& options = start.options;
  const bool is_local = options.targets[start.target - 1].address.empty();
  if (is_local && !is_server_user()) return false;
  start.settings.clear();
  for (const auto& [name, value] : options.settings) start.settings.push_back({name, value});
  const bool encrypts = options.tls.mode != Mode::off && !is_local && !start.is_clear;
  const protocol::StartupOptions wanted = {.user = options.user,
                                           .database = options.database,
                                           .parameters = start.settings,
                                           .version = options.version,
                                           .version_min = options.version_min,
                                           .tls = !encrypts ? protocol::TlsStart::off
                                                  : options.tls.is_direct
                                                      ? protocol::TlsStart::direct
                                                      : protocol::TlsStart::request,
                                           .binding = options.binding,
                                           .methods = options.methods};
  const std::string nonce = random_octets(protocol::scram_nonce_bytes);
  start.startup.emplace(wanted, nonce, start_limits);
  start.phase = OpeningLink::Phase::starting;
  if (start.startup->begin(*this) != protocol::Submitted::ok) {
    return note("the user, the database or a setting cannot be sent");
  }
  return run_start();
}

bool Link::run_start() {
  OpeningLink& start = *start_;
  for (;;) {
    const bool asked = start.startup->state() == protocol::StartState::asking;
    if (asked && input_ == "N" && start.options.tls.mode == Mode::preferred) {
      input_ = {};
      start.is_clear = true;  // until the next server
      const bool begun = begin_session();
      start.is_clear = false;
      return begun;
    }
    const StartStep step = start.startup->next(input_, *this);
    input_.remove_prefix(step.consumed);
    switch (step.event) {
      case StartEvent::need_bytes: size_ = step.size; return true;
      case StartEvent::no_room: return note("no memory for an answer");
      case StartEvent::encrypt: return begin_tls();
      case StartEvent::password:
      case StartEvent::proof:
        if (!answer()) return false;
        break;
      case StartEvent::setting: note_setting(step.body); break;
      case StartEvent::key: {
        const protocol::BackendKey key = protocol::backend_key_of(step.body);
        process_ = key.process;
        key_ = key.key;
        break;
      }
      case StartEvent::ready: return take_ready();
      case StartEvent::error: return note_refused(protocol::report_of(step.body));
      case StartEvent::refused: return note(refusal_text(start.startup->refusal()));
      case StartEvent::version:
      case StartEvent::scram:
      case StartEvent::verified:
      case StartEvent::authenticated:
      case StartEvent::notice: break;
    }
  }
}

bool Link::begin_tls() {
  OpeningLink& start = *start_;
  const Target& target = start.options.targets[start.target - 1];
  auto made = LinkTls::make(start.options.tls, target.name, memory_.blocks());
  if (!made) return note(made.error().describe());
  tls_ = *std::move(made);
  start.phase = OpeningLink::Phase::handshake;
  (void)tls_->receive({}, {memory_.plain_room(), LinkMemory::plain_bytes});
  return shake_hands();
}

bool Link::shake_hands() {
  OpeningLink& start = *start_;
  if (tls_->has_failed()) return note(tls_->problem());
  if (!tls_->is_open()) return true;
  start.phase = OpeningLink::Phase::starting;
  if (start.startup->encrypted(tls_->facts(), *this) != protocol::Submitted::ok) {
    const protocol::Refusal why = start.startup->refusal();
    return note(why == protocol::Refusal::none ? "the user or a setting cannot be sent"
                                               : std::string(protocol::text_of(why)));
  }
  return run_start();
}

bool Link::answer() {
  const LinkOptions& options = start_->options;
  const SecretText& secret = options.target_passwords.empty()
                                 ? options.password
                                 : options.target_passwords[start_->target - 1];
  const Bytes password = secret.reveal();
  if (password.empty()) {
    std::string why = "the server asks for a password, and none is given";
    for (const std::string& each : options.warnings) why += "; " + each;
    return note(std::move(why));
  }
  start_->has_answered = true;
  switch (start_->startup->answer(password, *this)) {
    case protocol::Submitted::ok: return true;
    case protocol::Submitted::password_form:
      return note(
          "the password has characters that SCRAM changes first (RFC 4013): give its normalized "
          "form, or a password without them");
    default: return note("the password cannot be sent");
  }
}

bool Link::take_ready() {
  start_->phase = OpeningLink::Phase::asking;
  machine_.emplace(first_pending_, limits);
  return is_wanted();
}

// Opens the link if the server is one of those that are wanted. True as well: the server was asked.
bool Link::is_wanted() {
  const target::RoleVerdict verdict = target::judge_role(wanted(), facts_);
  if (verdict.kind == target::RoleVerdict::Kind::ask) return ask(verdict.text);
  if (verdict.kind == target::RoleVerdict::Kind::refuse) return note(std::string(verdict.text));
  problem_ = {};
  start_.reset();
  return true;
}

target::SessionKind Link::wanted() const noexcept {
  return start_->takes_any ? target::SessionKind::any : start_->options.session;
}

bool Link::ask(Bytes question) {
  start_->has_told = false;
  return machine_->query(question, *this) == protocol::Submitted::ok ||
         note("the server cannot be asked for its role");
}

bool Link::read_answer() {
  for (;;) {
    const protocol::Step step = next();
    switch (step.event) {
      case protocol::Event::need_bytes: return true;
      case protocol::Event::row: {
        protocol::Value value;
        start_->has_told = protocol::Row(step.body).next(value) && !value.is_null &&
                           facts_.answer(wanted(), value.bytes);
        break;
      }
      case protocol::Event::ready:
        if (!start_->has_told) return note("the server does not tell its role");
        return is_wanted();
      case protocol::Event::error: return note(protocol::report_of(step.body));
      case protocol::Event::refused:
        return note(std::string(protocol::text_of(machine_->refusal())));
      default: break;
    }
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
