#include "lab/chat_load/worker.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "katana/base/system/monotonic_clock.hpp"
#include "lab/process/usage.hpp"

namespace katana::chat_load {
namespace {

constexpr std::size_t input_bytes = 256 * 1024;
constexpr std::size_t output_bytes_max = 64 * 1024;
constexpr std::uint32_t connecting_max = 256;  // at once, so that the server's queue does not spill
constexpr int events_max = 512;
constexpr std::int64_t probe_interval_ns = 50'000'000;
constexpr std::int64_t tick_ns = 20'000'000;  // the longest wait: to see what others do

}  // namespace

Worker::Worker(const ChatPlan& plan, const std::vector<const addrinfo*>& addresses, Stage& stage,
               std::uint32_t first, std::uint32_t step)
    : plan_(plan),
      addresses_(addresses),
      stage_(stage),
      step_(step),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      input_(std::make_unique_for_overwrite<char[]>(input_bytes)) {
  if (epoll_ < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
  for (std::uint32_t number = first; number < plan.connections; number += step) {
    Connection& each = connections_.emplace_back();
    each.number = number;
    each.receives = plan.receives(number);
    each.sends = plan.sends(number);
    if (each.receives) each.receiver = receivers_++;
    if (each.sends) ++senders_;
  }
  ledger_ = std::make_unique<Ledger>(receivers_, plan.sender_count());
}

Worker::~Worker() {
  for (Connection& each : connections_) {
    if (each.fd >= 0) ::close(each.fd);
  }
  ::close(epoll_);
}

void Worker::run() {
  for (;;) {
    const Phase phase = stage_.phase.load(std::memory_order_acquire);
    const std::int64_t now = monotonic_now().ns;
    std::int64_t until = now + tick_ns;
    if (phase == Phase::ended) break;
    if (phase == Phase::connecting) {
      connect_some();
    } else if (phase == Phase::probing) {
      probe(now);
    } else if (!done_sending_) {
      if (begin_ns_ == 0) begin();
      until = std::min(until, send_due(now));
      const auto end_ns = static_cast<std::int64_t>(plan_.duration_s * 1e9);
      const bool interrupted = stage_.interrupted.load(std::memory_order_relaxed);
      if (now >= begin_ns_ + (interrupted ? 0 : end_ns)) end_sending();
    } else if (!done_receiving_ && is_settled(now)) {
      settle();
    }
    wait(until);
  }
  statistics_.delivered = ledger_->delivered();
  statistics_.duplicated = ledger_->duplicated();
  statistics_.out_of_order = ledger_->out_of_order();
}

void Worker::wait(std::int64_t until_ns) {
  std::array<epoll_event, events_max> events;
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_now().ns);
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  const int count = epoll_pwait2(epoll_, events.data(), events_max, &timeout, nullptr);
  for (int index = 0; index < count; ++index) {
    on_event(connections_[events[static_cast<std::size_t>(index)].data.u32],
             events[static_cast<std::size_t>(index)].events);
  }
}

// ---- connections -------------------------------------------------------------------------------

void Worker::connect_some() {
  while (connecting_ < connecting_max && next_connect_ < connections_.size()) {
    Connection& each = connections_[next_connect_++];
    const addrinfo& address = *addresses_[plan_.target_of(each.number)];
    each.fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (each.fd < 0) {
      fail_connect(each);
      continue;
    }
    const int on = 1;
    (void)setsockopt(each.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const int result = ::connect(each.fd, address.ai_addr, address.ai_addrlen);
    if (result != 0 && errno != EINPROGRESS) {
      fail_connect(each);
      continue;
    }
    each.connecting = true;
    ++connecting_;
    epoll_event event{};
    event.events = EPOLLOUT;
    event.data.u32 = static_cast<std::uint32_t>(&each - connections_.data());
    (void)epoll_ctl(epoll_, EPOLL_CTL_ADD, each.fd, &event);
  }
}

void Worker::fail_connect(Connection& connection) {
  ++statistics_.connect_failures;
  stage_.failed.fetch_add(1, std::memory_order_relaxed);
  if (connection.fd >= 0) ::close(connection.fd);
  connection.fd = -1;
  stage_.settled.fetch_add(1, std::memory_order_relaxed);
}

void Worker::on_connected(Connection& connection) {
  connection.connecting = false;
  --connecting_;
  int error = 0;
  socklen_t size = sizeof error;
  (void)getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    fail_connect(connection);
  } else {
    ++statistics_.connected;
    watch(connection, false);
    stage_.settled.fetch_add(1, std::memory_order_relaxed);
  }
  connect_some();
}

void Worker::watch(Connection& connection, bool output) {
  epoll_event event{};
  // A connection that does not receive is not looked at, as if its owner had gone for a walk.
  event.events =
      (connection.receives ? unsigned{EPOLLIN} : 0U) | (output ? unsigned{EPOLLOUT} : 0U);
  event.data.u32 = static_cast<std::uint32_t>(&connection - connections_.data());
  (void)epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void Worker::on_event(Connection& connection, std::uint32_t events) {
  if (connection.fd < 0) return;
  if (connection.connecting) {
    on_connected(connection);
    return;
  }
  if ((events & EPOLLIN) != 0) receive(connection);
  if (connection.fd >= 0 && (events & EPOLLOUT) != 0) {
    connection.blocked = false;
    watch(connection, false);
    fill(connection);
    flush(connection);
  }
  if (connection.fd >= 0 && (events & (EPOLLERR | EPOLLHUP)) != 0) close(connection);
}

void Worker::close(Connection& connection) {
  ::close(connection.fd);
  connection.fd = -1;
  ++statistics_.broken;
}

// Two connections to each server send until every receiver has heard one of every server.
void Worker::probe(std::int64_t now) {
  if (now < next_probe_ns_) return;
  next_probe_ns_ = now + probe_interval_ns;
  std::array<char, message_bytes_min> message;
  for (const Connection& each : connections_) {
    if (!plan_.probes(each.number)) break;
    if (each.fd < 0) continue;
    write_message({plan_.run, true, each.number, 0, 0}, message.data(), message.size());
    (void)::send(each.fd, message.data(), message.size(), MSG_NOSIGNAL);
  }
}

// ---- sending -----------------------------------------------------------------------------------

void Worker::begin() {
  begin_ns_ = stage_.begin_ns.load(std::memory_order_relaxed);
  cpu_began_ns_ = lab::thread_cpu_ns();
}

// Everything that is due; returns when more is.
std::int64_t Worker::send_due(std::int64_t now) {
  if (senders_ == 0) return INT64_MAX;
  const auto end_ns = static_cast<std::int64_t>(plan_.duration_s * 1e9);
  // This thread's senders are its first ones, and in the schedule they take turns. In a burst each
  // has a second's messages before the next begins.
  const std::uint64_t run =
      plan_.burst ? static_cast<std::uint64_t>(std::max(1.0, plan_.rate_per_s)) : 1;
  for (;;) {
    Connection& each = connections_[next_due_ / run % senders_];
    const std::int64_t due = plan_.due_ns(each.number, each.due);
    if (due >= end_ns) return begin_ns_ + end_ns;
    if (begin_ns_ + due > now) return begin_ns_ + due;
    ++each.due;
    ++next_due_;
    if (plan_.burst && next_due_ % run != 0) continue;
    if (each.fd < 0 || each.blocked) continue;
    fill(each);
    flush(each);
  }
}

void Worker::fill(Connection& connection) {
  const std::size_t size = plan_.message_bytes;
  while (connection.written < connection.due && connection.output.size() < output_bytes_max) {
    const std::int64_t due = plan_.due_ns(connection.number, connection.written);
    const std::size_t at = connection.output.size();
    connection.output.resize(at + size);
    write_message(
        {plan_.run, false, connection.number, static_cast<std::uint32_t>(connection.written),
         static_cast<std::uint64_t>(begin_ns_ + due)},
        connection.output.data() + at, size);
    ++connection.written;
  }
}

void Worker::flush(Connection& connection) {
  while (connection.output_at < connection.output.size()) {
    const ssize_t count = ::send(connection.fd, connection.output.data() + connection.output_at,
                                 connection.output.size() - connection.output_at, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) {
        close(connection);
        return;
      }
      connection.blocked = true;
      watch(connection, true);
      return;
    }
    note_sent(connection, static_cast<std::size_t>(count), monotonic_now().ns);
    connection.output_at += static_cast<std::size_t>(count);
    if (connection.output_at < connection.output.size()) continue;
    connection.output.clear();
    connection.output_at = 0;
    if (!done_sending_) fill(connection);
  }
}

void Worker::note_sent(Connection& connection, std::size_t bytes, std::int64_t now) {
  const std::uint64_t before = connection.output_bytes / plan_.message_bytes;
  connection.output_bytes += bytes;
  const std::uint64_t after = connection.output_bytes / plan_.message_bytes;
  for (std::uint64_t sequence = before; sequence < after; ++sequence) {
    statistics_.send_lag.record(now - begin_ns_ - plan_.due_ns(connection.number, sequence));
  }
  statistics_.sent += after - before;
  statistics_.sent_bytes += bytes;
}

// Messages that were begun are completed while settling; the others count as never sent.
void Worker::end_sending() {
  done_sending_ = true;
  sending_ended_ns_ = monotonic_now().ns;
  statistics_.wall_ns = sending_ended_ns_ - begin_ns_;
  statistics_.cpu_ns = lab::thread_cpu_ns() - cpu_began_ns_;
  for (Connection& each : connections_) {
    const std::uint64_t begun = (each.output_bytes + plan_.message_bytes - 1) / plan_.message_bytes;
    statistics_.unsent += each.due - std::min(each.due, begun);
    // Keeps the rest of the message in the middle of which the kernel stopped.
    const std::size_t left = begun * plan_.message_bytes - each.output_bytes;
    each.output.resize(each.output_at + left);
    each.due = each.written = begun;
  }
  for (Connection& each : connections_) {
    if (each.fd >= 0 && !each.blocked && each.output_at < each.output.size()) flush(each);
  }
  std::uint64_t begun = 0;
  for (const Connection& each : connections_) begun += each.fd >= 0 ? each.written : 0;
  // A sender that was cut off: bytes that the kernel took from it may be lost.
  for (const Connection& each : connections_) {
    if (each.fd < 0) begun += each.output_bytes / plan_.message_bytes;
  }
  stage_.sent.fetch_add(begun, std::memory_order_relaxed);
  stage_.done_sending.fetch_add(1, std::memory_order_release);
}

// ---- receiving ---------------------------------------------------------------------------------

// Everything has come, or nothing has for a while.
bool Worker::is_settled(std::int64_t now) const {
  if (stage_.done_sending.load(std::memory_order_acquire) < step_) return false;
  std::uint64_t expected = 0;
  const std::uint64_t sent = stage_.sent.load(std::memory_order_relaxed);
  for (const Connection& each : connections_) {
    if (each.receives) expected += sent - each.written;
  }
  // Without a reply, the server still has to read the sent bytes before we close.
  if (expected > 0 &&
      ledger_->delivered() + statistics_.told_dropped + statistics_.told_lost >= expected) {
    return true;
  }
  const std::int64_t last = std::max(last_delivery_ns_, sending_ended_ns_);
  return now - last > static_cast<std::int64_t>(plan_.quiet_s * 1e9) ||
         now - sending_ended_ns_ > static_cast<std::int64_t>(plan_.settle_s * 1e9);
}

void Worker::settle() {
  const std::uint64_t sent = stage_.sent.load(std::memory_order_relaxed);
  for (const Connection& each : connections_) {
    if (each.receives) statistics_.expected += sent - each.written;
  }
  if (last_delivery_ns_ > 0) statistics_.delivering_ns = last_delivery_ns_ - begin_ns_;
  done_receiving_ = true;
  stage_.done_receiving.fetch_add(1, std::memory_order_relaxed);
}

void Worker::add_ends(std::vector<SenderEnd>& ends) const {
  for (const Connection& each : connections_) {
    if (each.sends) {
      SenderEnd& end = ends[each.number];
      end.broken = each.fd < 0;
      end.begun = end.broken ? each.output_bytes / plan_.message_bytes : each.written;
    }
    if (!each.receives || each.fd < 0) continue;
    for (std::uint32_t sender = 0; sender < ends.size(); ++sender) {
      ends[sender].heard = std::max(ends[sender].heard, ledger_->next_of(each.receiver, sender));
    }
  }
}

void Worker::settle_accounts(const std::vector<SenderEnd>& ends) {
  std::uint64_t all = 0;
  for (const SenderEnd& each : ends) all += each.promised();
  for (const Connection& each : connections_) {
    if (each.sends && ends[each.number].broken) {
      const SenderEnd& end = ends[each.number];
      statistics_.lost_with_server += end.begun - std::min<std::uint64_t>(end.begun, end.heard);
    }
    if (!each.receives || each.fd < 0) continue;
    ++statistics_.stayed;
    statistics_.promised += all - (each.sends ? ends[each.number].promised() : 0);
    statistics_.kept += ledger_->delivered_to(each.receiver);
    statistics_.told += each.told;
  }
}

void Worker::receive(Connection& connection) {
  for (;;) {
    const ssize_t count = ::recv(connection.fd, input_.get(), input_bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      close(connection);
      return;
    }
    statistics_.received_bytes += static_cast<std::uint64_t>(count);
    read_lines(connection, {input_.get(), static_cast<std::size_t>(count)}, monotonic_now().ns);
    if (static_cast<std::size_t>(count) < input_bytes) return;
  }
}

void Worker::read_lines(Connection& connection, std::string_view bytes, std::int64_t now) {
  if (!connection.line.empty()) {
    const std::size_t end = bytes.find('\n');
    connection.line += bytes.substr(0, end);
    if (end == std::string_view::npos) return;
    read_line(connection, connection.line, now);
    connection.line.clear();
    bytes.remove_prefix(end + 1);
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      connection.line = bytes;
      return;
    }
    read_line(connection, bytes.substr(0, end), now);
    bytes.remove_prefix(end + 1);
  }
}

void Worker::read_line(Connection& connection, std::string_view line, std::int64_t now) {
  if (connection.history_left > 0) {
    --connection.history_left;
    return;
  }
  const std::size_t name_end = line.starts_with('[') ? line.find(' ') : std::string_view::npos;
  Stamp stamp;
  if (name_end == std::string_view::npos || !read_stamp(line.substr(name_end + 1), stamp) ||
      stamp.run != plan_.run) {
    read_notice(connection, line);
    return;
  }
  if (stamp.probe) {
    connection.probes_seen |= std::uint64_t{1} << plan_.target_of(stamp.sender);
    const std::uint64_t due = plan_.probes_due(connection.number);
    if (!connection.receiver_in && (connection.probes_seen & due) == due) {
      connection.receiver_in = true;
      stage_.probes_seen.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  if (stamp.sender >= plan_.sender_count() ||
      line.size() - name_end != std::size_t{plan_.message_bytes}) {
    ++statistics_.unknown_lines;
    return;
  }
  ledger_->note(connection.receiver, stamp.sender, stamp.sequence);
  statistics_.latency.record(now - static_cast<std::int64_t>(stamp.due_ns));
  last_delivery_ns_ = now;
}

void Worker::read_notice(Connection& connection, std::string_view line) {
  if (line.starts_with("! ")) {
    ++statistics_.refused;
    return;
  }
  constexpr std::string_view dropped = "dropped because you read too slowly";
  constexpr std::string_view lost = "lost on the way from another server";
  const bool is_lost = line.ends_with(lost);
  std::uint64_t count = 0;
  if (line.starts_with("* ") && (is_lost || line.ends_with(dropped)) &&
      std::from_chars(line.data() + 2, line.data() + line.size(), count).ec == std::errc{}) {
    (is_lost ? statistics_.told_lost : statistics_.told_dropped) += count;
    connection.told += count;
  } else if (constexpr std::string_view last = "* The last "; line.starts_with(last)) {
    (void)std::from_chars(line.data() + last.size(), line.data() + line.size(),
                          connection.history_left);
  } else if (!line.starts_with("* ")) {
    ++statistics_.unknown_lines;
  }
}

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
