#include "katana/stores/database/postgres/blocking_session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::database::postgres {
namespace {

constexpr std::size_t state_bytes = 5;

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

bool is_state(Bytes text) noexcept {
  return text.size() == state_bytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
         });
}

std::unexpected<katana::Error> stopped() {
  return katana::fail(Code::cancelled, "the attempt was stopped");
}

}  // namespace

// Reads "FATAL:  28P01: password authentication failed…", in any language. The next line names the
// place in the server's source.
Refusal refusal_in(Bytes message) {
  constexpr Bytes before = ":  ", behind = ": ";
  for (std::size_t at = message.find(before); at != Bytes::npos;
       at = message.find(before, at + 1)) {
    const std::size_t first = at + before.size();
    const Bytes state = message.substr(first, state_bytes);
    const Bytes rest = message.substr(std::min(first + state.size(), message.size()));
    if (!is_state(state) || !rest.starts_with(behind)) continue;
    const Bytes told = rest.substr(behind.size(), rest.find('\n') - behind.size());
    return {.state = std::string(state),
            .text = one_line(fmt::format("{}{}", message.substr(0, first), told))};
  }
  return {.text = one_line(message)};
}

bool is_lasting(const Refusal& refusal) noexcept {
  const Bytes state = refusal.state;
  // The session, room, operators and the machine; another transaction; a lock; a standby.
  for (const Bytes passing : {"08", "53", "57", "58", "40"}) {
    if (state.starts_with(passing)) return state == "57014";  // its own statement_timeout
  }
  return !state.empty() && state != "55P03" && state != "25006";
}

katana::Error as_error(const Refusal& refusal) {
  const Bytes state = refusal.state;
  const Code code = !is_lasting(refusal)      ? Code::unavailable
                    : state.starts_with("28") ? Code::permission_denied
                    : state == "42501"        ? Code::permission_denied
                    : state.starts_with("3D") ? Code::not_found
                                              : Code::internal;
  return {code, refusal.text};
}

katana::Result<BlockingSession> BlockingSession::connect(const Options& options,
                                                         std::stop_token stop) {
  auto password = password_of(options);
  if (!password) return std::unexpected(password.error());
  BlockingSession session(std::move(stop));
  // A server that is not there now may accept later: `passing` wins over `lasting`.
  std::optional<katana::Error> passing, lasting;
  for (const Host& host : options.hosts) {
    auto done = session.try_target(options, {host.name, host.port}, *password);
    if (done || done.error().code() == Code::cancelled) {
      erase_secret(*password);
      if (!done) return std::unexpected(done.error());
      return session;
    }
    (done.error().code() == Code::unavailable ? passing : lasting) = done.error();
  }
  erase_secret(*password);
  const katana::Error& why = passing ? *passing : *lasting;
  return std::unexpected(why.within(fmt::format("cannot connect to {}", options.describe())));
}

katana::Result<void> BlockingSession::try_target(const Options& options, const Target& target,
                                                 const std::string& password) {
  const Instant until = monotonic_now() + options.connect_timeout;
  const ConnectParameters parameters(options, {target}, password);
  pg_.reset(PQconnectStartParams(parameters.keywords(), parameters.values(), 0));
  if (pg_ == nullptr) return katana::fail(Code::resource_exhausted, "no memory for a connection");
  PQsetErrorVerbosity(pg_.get(), PQERRORS_VERBOSE);
  for (PostgresPollingStatusType next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;
       next = PQconnectPoll(pg_.get())) {
    if (PQstatus(pg_.get()) == CONNECTION_BAD || next == PGRES_POLLING_FAILED) {
      refusal_ = refusal_in(PQerrorMessage(pg_.get()));
      return std::unexpected(as_error(refusal_));
    }
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (auto ready = wait_for(events, until); !ready) return ready;
  }
  PQsetErrorVerbosity(pg_.get(), PQERRORS_DEFAULT);
  PQsetNoticeReceiver(pg_.get(), [](void*, const PGresult*) noexcept {}, nullptr);
  PQsetnonblocking(pg_.get(), 1);
  return {};
}

katana::Result<void> BlockingSession::wait_for(short events, Instant until) {
  pollfd socket = {PQsocket(pg_.get()), events, 0};
  while (!stop_.stop_requested()) {
    const Duration left = until - monotonic_now();
    if (left <= Duration{}) {
      return katana::fail(Code::unavailable, "the server has not answered in time");
    }
    const auto ms = static_cast<int>(std::min(left, wait_step).count_ms() + 1);
    const int found = ::poll(&socket, 1, ms);
    if (found > 0) return {};
    if (found < 0 && errno != EINTR) {
      return katana::fail(Code::internal, "the socket of the connection cannot be waited for");
    }
  }
  return stopped();
}

std::unexpected<katana::Error> BlockingSession::lost() {
  refusal_ = {.text = one_line(PQerrorMessage(pg_.get()))};
  return std::unexpected(as_error(refusal_));
}

std::unexpected<katana::Error> BlockingSession::refused(const PGresult& result) {
  const auto field = [&](int code) {
    const char* const text = PQresultErrorField(&result, code);
    return std::string(text != nullptr ? text : "");
  };
  refusal_ = {.state = field(PG_DIAG_SQLSTATE), .text = one_line(PQresultErrorMessage(&result))};
  const std::string at = field(PG_DIAG_STATEMENT_POSITION);
  (void)std::from_chars(at.data(), at.data() + at.size(), refusal_.character);
  if (PQstatus(pg_.get()) == CONNECTION_BAD) refusal_.state.clear();
  return std::unexpected(as_error(refusal_));
}

katana::Result<void> BlockingSession::send(const char* text, std::span<const char* const> values) {
  const int sent = values.empty()
                       ? PQsendQuery(pg_.get(), text)
                       : PQsendQueryParams(pg_.get(), text, static_cast<int>(values.size()),
                                           nullptr, values.data(), nullptr, nullptr, 0);
  if (sent == 0) return lost();
  while (true) {
    const int left = PQflush(pg_.get());
    if (left == 0) return {};
    if (left < 0) return lost();
    if (auto ready = wait_for(POLLIN | POLLOUT, never); !ready) return ready;
    if (PQconsumeInput(pg_.get()) == 0) return lost();
  }
}

// Null behind the last.
katana::Result<BlockingSession::Rows> BlockingSession::next_result() {
  while (PQisBusy(pg_.get()) != 0) {
    if (auto ready = wait_for(POLLIN, never); !ready) return std::unexpected(ready.error());
    if (PQconsumeInput(pg_.get()) == 0) return lost();
  }
  return Rows(PQgetResult(pg_.get()));
}

katana::Result<BlockingSession::Rows> BlockingSession::ask(const char* text,
                                                           std::span<const char* const> values) {
  refusal_ = {};
  if (auto sent = send(text, values); !sent) return std::unexpected(sent.error());
  Rows last;
  std::optional<katana::Error> failure;
  while (true) {
    auto result = next_result();
    if (!result) return result;
    if (*result == nullptr) break;
    const ExecStatusType status = PQresultStatus(result->get());
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      // The data to copy is not in the statement; the session cannot be used any more.
      return katana::fail(Code::invalid_argument, "COPY from or to the client is no migration");
    }
    const bool good =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
    if (!good && !failure) failure = refused(**result).error();
    last = *std::move(result);
  }
  if (failure) return std::unexpected(*std::move(failure));
  if (PQstatus(pg_.get()) == CONNECTION_BAD) return lost();
  return last;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
