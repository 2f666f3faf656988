#include "katana/stores/database/postgres/listener_thread.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <expected>
#include <random>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/values/random.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/choice.hpp"

namespace katana::database::postgres {
namespace {

std::string quoted_identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2u : 1u, c);
  return text += '"';
}

void drop_listener_notice(void*, const PGresult*) noexcept {}

}  // namespace

katana::Result<std::unique_ptr<ListenerThread>> ListenerThread::create(Options options,
                                                                       OutageObserver observer) {
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return katana::fail(Code::unavailable, "no descriptor is left for an eventfd");
  return std::unique_ptr<ListenerThread>(
      new ListenerThread(std::move(options), std::move(observer), wake));
}

ListenerThread::~ListenerThread() { ::close(wake_); }

void ListenerThread::start(NotificationHub& hub) {
  hub_ = &hub;
  thread_ = quiet_thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "db-listen");
}

void ListenerThread::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);  // only a full counter fails, which wakes as well
}

void ListenerThread::run() noexcept {
  Random random(std::random_device{}());
  for (unsigned failures = 0; !ended();) {
    if (!hub_->wanted()) {
      (void)wait(0, never);
      continue;
    }
    was_open_ = false;
    std::string why = hold_session();
    pg_.reset();
    tell_loss(why);
    hub_->note_loss(why.empty() ? "no session listens" : std::move(why));
    failures = was_open_ ? 1 : failures + 1;
    const Instant again = monotonic_now() + backoff(failures, options_.backoff_min,
                                                    options_.backoff_max, random.next());
    while (!ended() && hub_->wanted() && wait(0, again) == Woken::asked) {
    }
  }
}

void ListenerThread::tell_loss(const std::string& why) {
  if (why.empty() || lost_at_ != never || ended() || !hub_->wanted()) return;
  lost_at_ = monotonic_now();
  if (observer_) observer_({.where = options_.describe(), .why = why});
}

void ListenerThread::note_session() {
  hub_->note_session();
  if (lost_at_ == never) return;
  const Duration lasted = monotonic_now() - std::exchange(lost_at_, never);
  if (observer_) observer_({.where = options_.describe(), .lasted = lasted});
}

std::string ListenerThread::hold_session() {
  std::string why = connect();
  return why.empty() ? listen() : why;
}

std::string ListenerThread::connect() {
  auto password = password_of(options_);
  if (!password) return password.error().describe();
  std::vector<Target> targets;
  for (const Host& host : options_.hosts) targets.push_back({host.name, host.port});
  const ConnectParameters parameters(options_, targets, *password);
  erase_secret(*password);
  pg_.reset(PQconnectStartParams(parameters.keywords(), parameters.values(), 0));
  if (pg_ == nullptr) return "no memory for a connection";
  PQsetNoticeReceiver(pg_.get(), &drop_listener_notice, nullptr);
  const Instant until = monotonic_now() + options_.connect_timeout;
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (PQstatus(pg_.get()) != CONNECTION_BAD && state != PGRES_POLLING_OK) {
    if (ended()) return "the notifications are closed";
    switch (wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until)) {
      case Woken::asked: continue;
      case Woken::late:
        return fmt::format("no connection within {} ms", options_.connect_timeout.count_ms());
      case Woken::socket: break;
    }
    state = PQconnectPoll(pg_.get());
    if (state == PGRES_POLLING_FAILED) return failure();
  }
  if (PQstatus(pg_.get()) != CONNECTION_OK || PQsetnonblocking(pg_.get(), 1) != 0) return failure();
  return {};
}

std::string ListenerThread::listen() {
  bool noted = false;
  while (!ended() && hub_->wanted()) {
    const auto changed = sync_channels();
    if (!changed) return changed.error();
    if (!std::exchange(noted, true)) note_session();
    was_open_ = true;
    deliver();
    if (*changed) continue;  // execute() may have been woken by what is to be looked at now
    const Woken woken = wait(POLLIN, heard_at_ + options_.probe_interval);
    if (woken == Woken::late) {
      if (std::string why = probe(); !why.empty()) return why;
    }
    if (woken != Woken::socket) continue;
    heard_at_ = monotonic_now();
    if (PQconsumeInput(pg_.get()) == 0 || PQstatus(pg_.get()) == CONNECTION_BAD) return failure();
    // An error that belongs to no statement ends the session: the server is stopped, say.
    while (PQisBusy(pg_.get()) == 0) {
      const std::unique_ptr<PGresult, Close> result(PQgetResult(pg_.get()));
      if (result == nullptr) break;
    }
    if (PQstatus(pg_.get()) == CONNECTION_BAD) return failure();
    deliver();
  }
  return {};
}

// Sends LISTEN of a channel to which the server listens already; this changes nothing.
std::string ListenerThread::probe() {
  const std::string channel = hub_->listening_to();
  heard_at_ = monotonic_now();
  if (channel.empty()) return {};
  return execute("LISTEN " + quoted_identifier(channel), options_.probe_timeout);
}

std::expected<bool, std::string> ListenerThread::sync_channels() {
  const std::vector<std::string> missing = hub_->missing();
  for (const std::string& channel : missing) {
    std::string why = execute("LISTEN " + quoted_identifier(channel), options_.connect_timeout);
    if (!why.empty()) return std::unexpected(std::move(why));
    hub_->note_listening(channel);
  }
  const std::vector<std::string> surplus = hub_->take_surplus();
  for (const std::string& channel : surplus) {
    std::string why = execute("UNLISTEN " + quoted_identifier(channel), options_.connect_timeout);
    if (!why.empty()) return std::unexpected(std::move(why));
  }
  return !missing.empty() || !surplus.empty();
}

// Notifications that come meanwhile stay in libpq until deliver().
std::string ListenerThread::execute(const std::string& text, Duration within) {
  if (PQsendQuery(pg_.get(), text.c_str()) == 0) return failure();
  const Instant until = monotonic_now() + within;
  std::string why;
  for (;;) {
    const int left = PQflush(pg_.get());
    if (left < 0) return failure();
    while (PQisBusy(pg_.get()) == 0) {
      const std::unique_ptr<PGresult, Close> result(PQgetResult(pg_.get()));
      if (result == nullptr) return why;
      if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) why = failure();
    }
    if (ended()) return "the notifications are closed";
    const Woken woken = wait(static_cast<short>(left > 0 ? POLLIN | POLLOUT : POLLIN), until);
    if (woken == Woken::late) {
      return fmt::format("the server has not answered for {} ms", within.count_ms());
    }
    if (woken != Woken::socket) continue;
    heard_at_ = monotonic_now();
    if (PQconsumeInput(pg_.get()) == 0) return failure();
  }
}

void ListenerThread::deliver() {
  struct Free {
    void operator()(PGnotify* each) const noexcept { PQfreemem(each); }
  };
  while (const std::unique_ptr<PGnotify, Free> each{PQnotifies(pg_.get())}) {
    hub_->deliver(each->relname, {.payload = each->extra, .sender = each->be_pid});
  }
}

std::string ListenerThread::failure() const {
  std::string text = PQerrorMessage(pg_.get());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "the connection was lost" : text;
}

ListenerThread::Woken ListenerThread::wait(short events, Instant until) noexcept {
  std::array<pollfd, 2> polled{{{wake_, POLLIN, 0}, {-1, events, 0}}};
  if (events != 0) polled[1].fd = PQsocket(pg_.get());
  for (;;) {
    int timeout_ms = -1;
    if (until != never) {
      const Duration left = until - monotonic_now();
      if (left <= Duration{}) return Woken::late;
      timeout_ms = static_cast<int>(std::min<std::int64_t>(left.count_ms() + 1, 60'000));
    }
    const int ready = ::poll(polled.data(), polled.size(), timeout_ms);
    if (ready < 0 && errno != EINTR) return Woken::late;
    if (ready <= 0) continue;
    if ((polled[0].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      (void)!::read(wake_, &count, sizeof count);  // emptied; what it counts is not of interest
      return Woken::asked;
    }
    return Woken::socket;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
