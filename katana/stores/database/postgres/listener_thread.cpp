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
#include "katana/stores/database/postgres/targets.hpp"

namespace katana::database::postgres {
namespace {

std::string quoted_identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2u : 1u, c);
  return text += '"';
}

// Events to wait for, of poll(2).
short events_of(const Link& link) noexcept {
  const int events = (link.wants_read() ? POLLIN : 0) | (link.wants_write() ? POLLOUT : 0);
  return static_cast<short>(events);
}

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
    link_.reset();
    heard_.clear();
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
  auto targets = targets_of(options_);
  if (!targets) return targets.error().describe();
  // A host that does not answer takes all of the time: the next attempt begins with another one.
  std::ranges::rotate(
      *targets, targets->begin() + static_cast<std::ptrdiff_t>(attempts_++ % targets->size()));
  auto wanted = link_options(options_, *std::move(targets), *password);
  erase_secret(*password);
  if (!wanted) return wanted.error().describe();
  link_ = std::make_unique<Link>(memory_, *std::move(wanted));
  const Instant until = monotonic_now() + options_.connect_timeout;
  link_->begin();
  while (link_->is_opening()) {
    if (ended()) return "the notifications are closed";
    switch (wait(events_of(*link_), until)) {
      case Woken::asked: continue;
      case Woken::late:
        return fmt::format("no connection within {} ms", options_.connect_timeout.count_ms());
      case Woken::socket: link_->advance();
    }
  }
  return link_->has_failed() ? link_->problem().text : std::string();
}

std::string ListenerThread::listen() {
  while (!ended() && hub_->wanted()) {
    const auto changed = sync_channels();
    if (!changed) return changed.error();
    deliver();
    if (*changed) continue;  // execute() may have been woken by what is to be looked at now
    const Woken woken = wait(POLLIN, heard_at_ + options_.probe_interval);
    if (woken == Woken::late) {
      if (std::string why = probe(); !why.empty()) return why;
    }
    if (woken != Woken::socket) continue;
    heard_at_ = monotonic_now();
    if (std::string why = receive(); !why.empty()) return why;
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
  }
  // First: a subscriber that is told of the gap asks for the health, and the session is back.
  if (!std::exchange(was_open_, true)) note_session();
  for (const std::string& channel : missing) hub_->note_listening(channel);
  const std::vector<std::string> surplus = hub_->take_surplus();
  for (const std::string& channel : surplus) {
    std::string why = execute("UNLISTEN " + quoted_identifier(channel), options_.connect_timeout);
    if (!why.empty()) return std::unexpected(std::move(why));
  }
  return !missing.empty() || !surplus.empty();
}

// An error that belongs to no statement ends the session: the server is stopped, say.
std::string ListenerThread::receive() {
  const bool goes_on = link_->receive();
  bool is_ready = false;
  std::string ignored;
  std::string why = take_events(is_ready, ignored);
  if (why.empty() && !goes_on) why = link_->problem().text;
  return why;
}

std::string ListenerThread::take_events(bool& is_ready, std::string& why) {
  std::string end;
  for (bool goes_on = true; goes_on;) {
    const protocol::Step event = link_->next();
    switch (event.event) {
      case protocol::Event::need_bytes: goes_on = false; break;
      case protocol::Event::ready: is_ready = true; break;
      case protocol::Event::notification: {
        const protocol::Notification heard = protocol::notification_of(event.body);
        heard_.emplace_back(std::string(heard.channel),
                            Notification{.payload = std::string(heard.payload),
                                         .sender = static_cast<int>(heard.process)});
        break;
      }
      case protocol::Event::error: {
        const protocol::Report report = protocol::report_of(event.body);
        (event.is_fatal ? end : why) = fmt::format("{}: {}", report.severity, report.message);
        goes_on = !event.is_fatal;
        break;
      }
      case protocol::Event::refused:
        end = protocol::text_of(link_->machine().refusal());
        goes_on = false;
        break;
      default: break;
    }
  }
  link_->keep_unread();
  return end;
}

// Notifications that come meanwhile wait for deliver().
std::string ListenerThread::execute(const std::string& text, Duration within) {
  if (link_->machine().query(text, *link_) != protocol::Submitted::ok) {
    return "a command cannot be sent";
  }
  const Instant until = monotonic_now() + within;
  std::string why;
  for (;;) {
    link_->flush();
    if (ended()) return "the notifications are closed";
    const Woken woken = wait(events_of(*link_), until);
    if (woken == Woken::late) {
      return fmt::format("the server has not answered for {} ms", within.count_ms());
    }
    if (woken != Woken::socket) continue;
    heard_at_ = monotonic_now();
    const bool goes_on = link_->receive();
    bool is_ready = false;
    std::string end = take_events(is_ready, why);
    if (!end.empty()) return end;
    if (is_ready) return why;
    if (!goes_on) return link_->problem().text;
  }
}

void ListenerThread::deliver() {
  for (auto& [channel, notification] : std::exchange(heard_, {})) {
    hub_->deliver(channel, std::move(notification));
  }
}

ListenerThread::Woken ListenerThread::wait(short events, Instant until) noexcept {
  std::array<pollfd, 2> polled{{{wake_, POLLIN, 0}, {-1, events, 0}}};
  if (events != 0) polled[1].fd = link_->socket();
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
