#include "tests/postgres/proxy_test.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace katana::database::postgres {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Proxy::Proxy(std::uint16_t to) : to_(to) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port for a proxy");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  ends_ = true;
  thread_.join();
  for (Pair& pair : pairs_) reset(pair);
  ::close(listener_);
}

void Proxy::set(Mode mode) {
  wanted_ = mode;
  const int number = ++asked_;
  while (applied_ < number) std::this_thread::yield();
}

// Resets both sides, as a firewall does that refuses: they see ECONNRESET, not an end.
void Proxy::reset(Pair& pair) {
  const linger at_once{1, 0};
  for (int* const each : {&pair.client, &pair.server}) {
    if (*each < 0) continue;
    (void)::setsockopt(*each, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(*each);
    *each = -1;
  }
}

void Proxy::apply(Mode mode) {
  for (Pair& pair : pairs_) {
    if (mode == Mode::resets) reset(pair);
    // A wire that was cut stays cut: TCP would send again, and connections would come back.
    pair.stalled = pair.stalled || mode == Mode::stalls || mode == Mode::half_open;
  }
}

void Proxy::take() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  Pair pair{.client = client};
  if (wanted_ == Mode::resets) return reset(pair);
  pair.stalled = wanted_ == Mode::stalls;
  if (!pair.stalled) {
    pair.server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(to_);
    if (::connect(pair.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return reset(pair);
    }
  }
  pairs_.push_back(pair);
}

bool Proxy::pass(int from, int to) {
  std::array<char, 16384> piece;
  const ssize_t count = ::recv(from, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN;
  if (count == 0) return false;
  for (ssize_t sent = 0; sent < count;) {
    const ssize_t part =
        ::send(to, piece.data() + sent, static_cast<std::size_t>(count - sent), MSG_NOSIGNAL);
    if (part < 0) return false;
    sent += part;
  }
  return true;
}

void Proxy::run() {
  while (!ends_) {
    if (const int asked = asked_; applied_ != asked) {
      apply(wanted_);
      applied_ = asked;
    }
    std::vector<pollfd> polled{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      polled.push_back({pair.stalled ? -1 : pair.client, POLLIN, 0});
      polled.push_back({pair.stalled ? -1 : pair.server, POLLIN, 0});
    }
    (void)::poll(polled.data(), polled.size(), 5);
    for (std::size_t index = 0; index * 2 + 2 < polled.size(); ++index) {
      Pair& pair = pairs_[index];
      const bool alive = (polled[index * 2 + 1].revents == 0 || pass(pair.client, pair.server)) &&
                         (polled[index * 2 + 2].revents == 0 || pass(pair.server, pair.client));
      if (alive) continue;
      ::close(pair.client);
      ::close(pair.server);
      pair.client = pair.server = -1;
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.client < 0; });
    if (polled.front().revents != 0) take();
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
