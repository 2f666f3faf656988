// What does a message by NATS cost, beside Debian's C client on the same server? Measured are
// processor time of the process that publishes, and messages a second from a publisher to a
// subscriber.
#include <nats/nats.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"
#include "lab/micro/micro.hpp"

namespace {

using namespace katana;
using Reactor = net::ReactorOn<engine::EpollEdgeEngine>;

constexpr std::uint64_t messages_each_turn = 100;
const std::string payload(128, 'x');

double process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// nats-server on a free port, until the end.
class Server {
 public:
  Server() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    micro::expect(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0,
                  "a free port");
    close(socket);
    port = ntohs(address.sin_port);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string text = std::to_string(port);
      execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", text.c_str(), "-l", "/dev/null",
             static_cast<char*>(nullptr));
      execl("/usr/sbin/nats-server", "nats-server", "-a", "127.0.0.1", "-p", text.c_str(), "-l",
            "/dev/null", static_cast<char*>(nullptr));
      _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  ~Server() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  std::string url() const { return "nats://127.0.0.1:" + std::to_string(port); }
  std::uint16_t port = 0;

 private:
  int process_ = -1;
};

// A bus and its reactor, on the thread that makes it.
struct Node {
  Node(const Server& server, bool numbers) : reactor(options(), 4096) {
    bus::NatsOptions how;
    how.servers = {{.host = "127.0.0.1", .port = server.port}};
    how.numbers = numbers;
    how.outgoing_bytes_max = std::size_t{64} << 20;
    how.away.messages_max = 1 << 20;
    how.away.bytes_max = std::size_t{256} << 20;
    how.bus.queue_messages_max = 1 << 20;
    bus = *bus::NatsBus::make(std::move(how));
    micro::expect(reactor.start().has_value(), "a reactor");
    reactor.turn({});
    bus->start(reactor);
    while (!bus->health().ready) reactor.turn(milliseconds(1));
  }
  ~Node() = default;
  static net::ReactorOptions options() {
    net::ReactorOptions small;
    small.engine.links_max = 16;
    return small;
  }
  // Until the server has all of it.
  void flush() {
    auto asked = bus->request("nobody.is.there", "");
    asked.start();
    while (!asked.done()) reactor.turn(milliseconds(1));
  }
  std::unique_ptr<bus::NatsBus> bus;
  Reactor reactor;
};

void publish_all(Node& node, std::uint64_t messages) {
  for (std::uint64_t count = 0; count < messages; ++count) {
    micro::expect(node.bus->publish("bench.subject", payload).has_value(), "a publication");
    if (count % messages_each_turn == messages_each_turn - 1) node.reactor.turn({});
  }
  node.flush();
}

micro::Sample publish_by_bus(const Server& server, std::uint64_t messages, bool numbers) {
  Node node(server, numbers);
  publish_all(node, 1000);
  const double begin = process_cpu_ns();
  publish_all(node, messages);
  return {(process_cpu_ns() - begin) / static_cast<double>(messages)};
}

micro::Sample publish_by_libnats(const Server& server, std::uint64_t messages) {
  natsConnection* connection = nullptr;
  micro::expect(natsConnection_ConnectTo(&connection, server.url().c_str()) == NATS_OK, "connect");
  const double begin = process_cpu_ns();
  for (std::uint64_t count = 0; count < messages; ++count) {
    micro::expect(natsConnection_Publish(connection, "bench.subject", payload.data(),
                                         static_cast<int>(payload.size())) == NATS_OK,
                  "a publication");
  }
  micro::expect(natsConnection_Flush(connection) == NATS_OK, "flush");
  const double spent = process_cpu_ns() - begin;
  natsConnection_Destroy(connection);
  return {spent / static_cast<double>(messages)};
}

// Messages a second from one connection to another.
micro::Sample pass_by_bus(const Server& server, std::uint64_t messages) {
  std::atomic<bool> ready = false;
  std::atomic<std::uint64_t> received = 0;
  std::thread reader([&] {
    Node node(server, true);
    std::uint64_t count = 0;
    auto subscription =
        node.bus->subscribe("bench.subject", [&](const bus::Delivery&) { ++count; });
    node.reactor.turn({});
    node.flush();
    ready = true;
    while (count < messages) {
      node.reactor.turn(milliseconds(10));
      received.store(count, std::memory_order_relaxed);
    }
  });
  Node node(server, true);
  while (!ready) std::this_thread::yield();
  const std::int64_t begin = micro::now_ns();
  publish_all(node, messages);
  reader.join();
  return {static_cast<double>(messages) * 1e9 / static_cast<double>(micro::now_ns() - begin)};
}

void count_message(natsConnection*, natsSubscription*, natsMsg* message, void* context) {
  static_cast<std::atomic<std::uint64_t>*>(context)->fetch_add(1, std::memory_order_relaxed);
  natsMsg_Destroy(message);
}

micro::Sample pass_by_libnats(const Server& server, std::uint64_t messages) {
  natsConnection *publisher = nullptr, *subscriber = nullptr;
  natsSubscription* subscription = nullptr;
  std::atomic<std::uint64_t> received = 0;
  micro::expect(natsConnection_ConnectTo(&publisher, server.url().c_str()) == NATS_OK &&
                    natsConnection_ConnectTo(&subscriber, server.url().c_str()) == NATS_OK &&
                    natsConnection_Subscribe(&subscription, subscriber, "bench.subject",
                                             count_message, &received) == NATS_OK &&
                    natsSubscription_SetPendingLimits(subscription, -1, -1) == NATS_OK &&
                    natsConnection_Flush(subscriber) == NATS_OK,
                "a subscription");
  const std::int64_t begin = micro::now_ns();
  for (std::uint64_t count = 0; count < messages; ++count) {
    (void)natsConnection_Publish(publisher, "bench.subject", payload.data(),
                                 static_cast<int>(payload.size()));
  }
  (void)natsConnection_Flush(publisher);
  while (received < messages) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const std::int64_t end = micro::now_ns();
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(subscriber);
  natsConnection_Destroy(publisher);
  return {static_cast<double>(messages) * 1e9 / static_cast<double>(end - begin)};
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("nats", count, arguments);
  const Server server;
  const std::uint64_t messages = suite.operations(300'000);
  const auto* published = suite.ask(
      {"processor time of the process for each message published, 128 octets", "ns"},
      {{"libnats 3.4", [&] { return publish_by_libnats(server, messages); }},
       {"the bus", [&] { return publish_by_bus(server, messages, true); }},
       {"the bus, without numbers", [&] { return publish_by_bus(server, messages, false); }}});
  suite.target("at most 1.2 x libnats", published, "the bus", "libnats 3.4", 1.2, micro::at_most);
  const auto* passed =
      suite.ask({"messages a second from publisher to subscriber, 128 octets", "1/s", "higher"},
                {{"libnats 3.4", [&] { return pass_by_libnats(server, messages); }},
                 {"the bus", [&] { return pass_by_bus(server, messages); }}});
  suite.target("at least 0.8 x libnats", passed, "the bus", "libnats 3.4", 0.8, micro::at_least);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
