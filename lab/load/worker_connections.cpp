// Worker: opening and ending connections.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "lab/load/worker.hpp"

namespace katana::load {
namespace {

constexpr std::uint64_t bell_tag = UINT64_MAX;
constexpr std::uint32_t connecting_max = 128;  // at once: more would overflow a listener's backlog
constexpr std::int64_t backoff_ns_min = 10'000'000;
constexpr std::uint8_t backoff_doublings_max = 7;  // 1.28 s

Failure connect_failure(int error) {
  switch (error) {
    case ECONNREFUSED: return Failure::connect_refused;
    case ETIMEDOUT: return Failure::connect_timeout;
    case EADDRNOTAVAIL:
    case EADDRINUSE: return Failure::no_local_port;
    default: return Failure::connect_failed;
  }
}

}  // namespace

void Worker::queue_open(Connection& connection) {
  connection.state = Connection::State::queued;
  to_open_.push(connection.index);
}

void Worker::open_queued() {
  if (phase_ >= Phase::draining) return;
  while (connecting_ < connecting_max && !to_open_.empty()) {
    Connection& connection = connections_[to_open_.pop()];
    if (is_wanted(connection)) {
      open(connection);
    } else {
      retire(connection);
    }
  }
}

void Worker::open(Connection& connection) {
  connection.state = Connection::State::connecting;
  connection.since_ns = read_clock();
  connection.machine.begin_connection();
  if (http2_ != nullptr) http2_of(connection).begin({now_ns_});
  connection.asked = 0;
  ++connection.generation;
  ++connecting_;
  const auto& address = target_.address;
  connection.fd =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) return fail_connect(connection, errno);
  if (plan_.requests_per_connection != 1 || tls_ != nullptr) {
    // With one request and no handshake there is nothing that Nagle's algorithm could hold back.
    const int on = 1;
    ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (plan_.reset_on_close) {
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  const auto* socket_address = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(connection.fd, socket_address, address.size) != 0 && errno != EINPROGRESS) {
    return fail_connect(connection, errno);
  }
  // Every interest once, edge-triggered: no further epoll_ctl for this connection.
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                    .data = {.u64 = std::uint64_t{connection.generation} << 32 | connection.index}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.fd, &event) != 0) {
    return fail_connect(connection, errno);
  }
  // Over the loopback the handshake is done by now: send, and save a wait.
  if (!plan_.is_open_loop() && tls_ == nullptr && !plan_.websocket) feed(connection);
}

// Connections that a ramp adds later are not waited for.
void Worker::settle_first(const Connection& connection) noexcept {
  if (phase_ == Phase::opening && connection.generation == 1) --unsettled_;
}

void Worker::note_connected(const Connection& connection) {
  if (!is_counted()) return;
  ++now_->counts.connects;
  now_->connect.record(now_ns_ - connection.since_ns);
}

void Worker::become_open(Connection& connection) {
  connection.state = Connection::State::open;
  --connecting_;
  ++open_;
  settle_first(connection);
  make_ready(connection);
}

void Worker::on_established(Connection& connection) {
  note_connected(connection);
  become_open(connection);
}

// The result of connect(); false: there is none.
bool Worker::finish_connect(Connection& connection) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    fail_connect(connection, error);
    return false;
  }
  read_clock();
  if (tls_ != nullptr) return begin_handshake(connection);
  if (plan_.websocket) return begin_upgrade(connection);
  on_established(connection);
  if (plan_.is_open_loop()) return true;
  for_each_in_flight(connection,
                     [this](InFlight& request) { request.due_ns = request.sent_ns = now_ns_; });
  if (connection.in_flight == 0) {
    feed(connection);
  } else {
    flush(connection);
  }
  return true;
}

void Worker::on_event(const epoll_event& event) {
  if (event.data.u64 == bell_tag) return doorbell_.silence();
  Connection& connection = connections_[event.data.u64 & UINT32_MAX];
  if (connection.generation != event.data.u64 >> 32 || connection.fd < 0) return;
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (connection.state == Connection::State::connecting) {
    if ((event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) == 0) return;
    if (!finish_connect(connection)) return;
  } else if ((event.events & EPOLLOUT) != 0 && has_unsent(connection)) {
    // Requests of HTTP/2 may have had no room while what went before them was not written.
    const bool is_open = connection.state == Connection::State::open;
    if (http2_ != nullptr && !plan_.is_open_loop() && is_open) {
      feed(connection);
    } else {
      flush(connection);
    }
  }
  if ((event.events & (EPOLLIN | ended)) != 0) receive(connection, (event.events & ended) != 0);
}

void Worker::close(Connection& connection) {
  const bool is_open = connection.state == Connection::State::open;
  if (is_open && tls_ != nullptr) say_end(connection);
  if (connection.fd >= 0) ::close(connection.fd);
  connection.fd = -1;
  if (is_open) {
    --open_;
  } else if (connection.state >= Connection::State::connecting) {
    --connecting_;
  }
  connection.state = Connection::State::closed;
  connection.carry = {};
}

// REQUIRES no requests in flight on it. After a failure it waits, longer each time in a row, so
// that a server which refuses or breaks off is not hammered.
void Worker::reopen(Connection& connection, bool after_failure) {
  close(connection);
  connection.since_ns = INT64_MAX;
  if (phase_ >= Phase::draining || !is_wanted(connection)) return;
  if (!after_failure) return queue_open(connection);
  const int doublings = std::min(connection.failures, backoff_doublings_max);
  connection.since_ns = now_ns_ + (backoff_ns_min << doublings);
  if (connection.failures < UINT8_MAX) ++connection.failures;
}

void Worker::fail_connect(Connection& connection, int error) {
  withdraw_requests(connection);
  if (is_counted()) now_->counts.count(connect_failure(error));
  settle_first(connection);
  reopen(connection, true);
}

template <class Visit>
void Worker::for_each_in_flight(Connection& connection, Visit&& visit) {
  if (http2_ != nullptr) {
    if (connection.in_flight == 0) return;
    for (Exchange* each = http2_of(connection).first(); each != nullptr;
         each = Http2Connection::next(*each)) {
      visit(each->request);
    }
    return;
  }
  for (std::uint32_t offset = 0; offset < connection.in_flight; ++offset) {
    visit(place(connection, offset));
  }
}

void Worker::count_failure(const InFlight& request, Failure failure) noexcept {
  if (request.due_ns < window_begin_ns_) {
    ++now_->counts.warm_up;
  } else {
    now_->counts.count(failure);
  }
}

// Every request in flight ends the way the first does.
void Worker::fail_requests(Connection& connection, Failure failure) {
  for_each_in_flight(connection, [&](const InFlight& request) { count_failure(request, failure); });
  all_in_flight_ -= connection.in_flight;
  connection.in_flight = connection.unwritten = connection.written_bytes = 0;
  connection.answer = {};
}

// They were to go out with the handshake, and there was none.
void Worker::withdraw_requests(Connection& connection) {
  for_each_in_flight(connection, [this](const InFlight& request) {
    if (request.due_ns >= window_begin_ns_) --now_->counts.sent;
  });
  if (budget_ < UINT64_MAX - connection.in_flight) budget_ += connection.in_flight;
  all_in_flight_ -= connection.in_flight;
  connection.in_flight = connection.unwritten = connection.written_bytes = 0;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
