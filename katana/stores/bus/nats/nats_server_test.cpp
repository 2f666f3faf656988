#include "katana/stores/bus/nats/nats_server_test.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "katana/base/system/monotonic_clock.hpp"

namespace katana::bus {
namespace {

std::string program() {
  for (const char* const each :
       {"/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"}) {
    if (access(each, X_OK) == 0) return each;
  }
  ADD_FAILURE() << "nats-server is not installed: tools/setup test";
  return {};
}

bool answers(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool good =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return good;
}

}  // namespace

NatsServer::NatsServer(std::string config, std::uint16_t port)
    : config_(std::move(config)), port_(port) {
  std::string name = (std::filesystem::temp_directory_path() / "katana-nats-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  start();
}

NatsServer::~NatsServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void NatsServer::start() {
  const std::string file = folder_ + "/nats.conf";
  std::ofstream(file) << fmt::format(
      "listen: 127.0.0.1:{}\njetstream {{ store_dir: \"{}/store\" }}\n{}\n", port_, folder_,
      config_);
  const std::string path = program();
  const std::string log = folder_ + "/log";
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(output, 1);
    dup2(output, 2);
    execl(path.c_str(), "nats-server", "-c", file.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  for (int tries = 0; tries < 1000 && !answers(port_); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(answers(port_)) << this->log();
}

void NatsServer::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

void NatsServer::signal(int number) const { ::kill(process_, number); }

std::string NatsServer::log() const {
  std::ifstream file(folder_ + "/log");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::unique_ptr<NatsServer>> make_cluster(const std::string& config) {
  std::vector<std::uint16_t> routes{find_free_port(), find_free_port(), find_free_port()};
  std::vector<std::unique_ptr<NatsServer>> servers;
  for (std::size_t index = 0; index < routes.size(); ++index) {
    servers.push_back(std::make_unique<NatsServer>(
        fmt::format("server_name: n{}\ncluster {{ name: c, listen: 127.0.0.1:{}, routes: "
                    "[nats://127.0.0.1:{}, nats://127.0.0.1:{}, nats://127.0.0.1:{}] }}\n{}",
                    index, routes[index], routes[0], routes[1], routes[2], config)));
  }
  return servers;
}

NatsOptions NatsTest::options_for(const std::vector<const NatsServer*>& servers) {
  NatsOptions options;
  for (const NatsServer* const each : servers) options.servers.push_back(each->place());
  options.sequencer.repeat_after = milliseconds(300);
  return options;
}

NatsTest::Node& NatsTest::add(NatsOptions options, std::size_t reactors, bool waits) {
  Node& node = *nodes_.emplace_back(std::make_unique<Node>());
  auto made = NatsBus::make(std::move(options));
  EXPECT_TRUE(made) << made.error().describe();
  node.bus = *std::move(made);
  net::ReactorOptions small;
  small.engine.links_max = 64;
  small.output_blocks_max = 8192;
  small.output_blocks_reserve = 16;
  for (std::size_t count = 0; count < reactors; ++count) {
    node.reactors.push_back(std::make_unique<TestReactor>(small, 4096));
    EXPECT_TRUE(node.reactors.back()->start());
  }
  node.bus->start(node.on());
  if (waits) {
    EXPECT_TRUE(turn_until([&] { return node.bus->health().ready; })) << node.bus->health().detail;
  }
  return node;
}

bool NatsTest::turn_until(const std::function<bool()>& holds, Duration limit) {
  const Instant end = monotonic_now() + limit;
  while (!holds()) {
    if (monotonic_now() >= end) return false;
    for (const auto& node : nodes_) {
      for (const auto& each : node->reactors) each->turn(microseconds(200));
    }
  }
  return true;
}

void NatsTest::turn_for(Duration time) {
  (void)turn_until([] { return false; }, time);
}

void NatsTest::settle(Node& node, const NatsServer& server, Bytes prefix) {
  std::string heard;
  node.on();
  const auto settled = node.bus->subscribe(
      "settled", [&](const Delivery& message) { heard = std::string(message.payload()); });
  ASSERT_TRUE(settled);
  turn_for(milliseconds(1));
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto say = [&](const std::string& text) {
    EXPECT_EQ(::send(client, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  };
  say("CONNECT {\"verbose\":false}\r\n");
  std::string said = "?";
  for (int tries = 1000; tries < 2000 && heard != said; ++tries) {
    // Once one has arrived, all later ones will.
    if (heard.empty()) {
      said = std::to_string(tries);
      say(fmt::format("PUB {}settled 4\r\n{}\r\n", prefix, said));
    }
    (void)turn_until([&] { return heard == said; }, milliseconds(100));
  }
  EXPECT_EQ(heard, said);
  ::close(client);
}

Subscription NatsTest::subscribe(Node& node, Bytes pattern, std::vector<std::string>& to,
                                 std::string group, std::size_t reactor) {
  node.on(reactor);
  SubscribeOptions options;
  options.queue_group = std::move(group);
  options.on_notice = [&to](const Notice& notice) { to.push_back(note_of(notice)); };
  auto subscribed = node.bus->subscribe(
      pattern,
      [&to](const Delivery& message) {
        to.push_back(std::string(message.subject()) + "=" + std::string(message.payload()));
      },
      std::move(options));
  EXPECT_TRUE(subscribed);
  return *std::move(subscribed);
}

std::string NatsTest::note_of(const Notice& notice) {
  std::string text = "!";
  text += name_of(notice.kind);
  if (notice.count != 0) text += ":" + std::to_string(notice.count);
  return text;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
