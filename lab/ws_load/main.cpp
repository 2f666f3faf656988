// ws_load: echo over WebSocket, or requests over HTTP/1.1, by the same closed loop.
//
// Usage: ws_load PORT ws|http CONNECTIONS SECONDS [MESSAGE_BYTES]
//
// One message, or one request, is under way on each connection. What it prints is what came back
// whole: "count seconds cpu_seconds". It measures no latency; what a message costs the server is
// read from the server (lab/ws_cost.py).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "katana/wire/ws/frame.hpp"
#include "katana/wire/ws/mask.hpp"

namespace {

using namespace katana;

constexpr std::uint32_t mask = 0x5a17c3e9;
constexpr std::string_view handshake =
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view request = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

struct Load {
  std::uint16_t port = 0;
  bool websocket = true;
  std::size_t connections = 16;
  double seconds = 3;
  std::size_t message_bytes = 13;
  std::string sent;          // each time
  std::size_t expected = 0;  // bytes that come back; 0: found out with the first reply
};

struct Peer {
  int fd = -1;
  std::size_t received = 0;  // of the present reply
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string receive_head(int fd) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char c = 0;
    if (::recv(fd, &c, 1, 0) != 1) fail("recv");
    head += c;
  }
  return head;
}

int open_connection(Load& load) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(load.port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("connect");
  }
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  send_all(fd, load.websocket ? handshake : request);
  const std::string head = receive_head(fd);
  if (load.websocket) {
    if (!head.starts_with("HTTP/1.1 101 ")) fail("handshake");
    return fd;
  }
  const std::size_t length = head.find("Content-Length: ");
  std::size_t content = 0;
  std::from_chars(head.data() + length + 16, head.data() + head.size(), content);
  std::vector<char> rest(content);
  if (::recv(fd, rest.data(), content, MSG_WAITALL) != static_cast<ssize_t>(content)) fail("recv");
  load.expected = head.size() + content;
  return fd;
}

void prepare(Load& load) {
  if (!load.websocket) {
    load.sent = request;
    return;
  }
  const std::string text(load.message_bytes, 'x');
  std::array<char, ws::header_bytes_max> head;
  const char* const end =
      ws::write_header(head.data(), ws::Opcode::text, true, false, text.size(), true, mask);
  load.sent.assign(head.data(), static_cast<std::size_t>(end - head.data()));
  std::string masked(text.size(), '\0');
  ws::copy_masked(masked.data(), text.data(), text.size(), mask);
  load.sent += masked;
  load.expected = ws::header_bytes(text.size(), false) + text.size();
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t run(const Load& load, std::vector<Peer>& peers, int epoll) {
  std::uint64_t count = 0;
  std::array<epoll_event, 256> events;
  std::vector<char> buffer(1 << 20);
  const double end = now_s() + load.seconds;
  for (Peer& peer : peers) send_all(peer.fd, load.sent);
  while (now_s() < end) {
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 100);
    for (int index = 0; index < ready; ++index) {
      Peer& peer = *static_cast<Peer*>(events[static_cast<std::size_t>(index)].data.ptr);
      const ssize_t got = ::recv(peer.fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) fail("recv");
      peer.received += static_cast<std::size_t>(got);
      if (peer.received < load.expected) continue;
      if (peer.received > load.expected) fail("more came back than was sent");
      peer.received = 0;
      ++count;
      send_all(peer.fd, load.sent);
    }
  }
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    std::fprintf(stderr, "usage: ws_load PORT ws|http CONNECTIONS SECONDS [MESSAGE_BYTES]\n");
    return 2;
  }
  Load load;
  load.port = static_cast<std::uint16_t>(std::strtoul(arguments[1], nullptr, 10));
  load.websocket = std::string_view(arguments[2]) == "ws";
  load.connections = std::strtoul(arguments[3], nullptr, 10);
  load.seconds = std::strtod(arguments[4], nullptr);
  if (count > 5) load.message_bytes = std::strtoul(arguments[5], nullptr, 10);
  prepare(load);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Peer> peers(load.connections);
  for (Peer& peer : peers) {
    peer.fd = open_connection(load);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &peer}};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, peer.fd, &event) != 0) fail("epoll_ctl");
  }
  const double began = now_s();
  const std::uint64_t done = run(load, peers, epoll);
  std::printf("%llu %.3f %.3f\n", static_cast<unsigned long long>(done), now_s() - began,
              static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return 0;
}
