#include "lab/e2e/client.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/load/run.hpp"
#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

using namespace katana;

load::Request request_of(const Ask& ask) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n", ask.method, ask.path);
  if (!ask.body.empty() || ask.method == "POST" || ask.method == "PUT") {
    head +=
        fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", ask.body.size());
  }
  load::Request request;
  request.octets = head + "\r\n" + ask.body;
  request.closing_octets = head + "Connection: close\r\n\r\n" + ask.body;
  request.is_head = ask.method == "HEAD";
  return request;
}

load::Target target_of(std::uint16_t port, const std::vector<Ask>& asks) {
  const auto url = load::parse_url(fmt::format("http://127.0.0.1:{}/", port));
  load::Target target;
  target.url = *url;
  auto address = load::resolve(*url);
  if (!address) micro::fail(1, address.error().describe());
  target.address = *address;
  for (const Ask& ask : asks) target.requests.push_back(request_of(ask));
  return target;
}

load::LoadPlan plan_of(std::uint64_t requests, std::uint32_t connections) {
  load::LoadPlan plan;
  plan.requests_max = requests;
  plan.connections = static_cast<std::uint32_t>(std::min<std::uint64_t>(connections, requests));
  plan.duration = seconds(600);
  plan.timeout = seconds(30);
  plan.expect.statuses.reset();
  for (std::size_t status = 200; status < 300; ++status) plan.expect.statuses.set(status);
  return plan;
}

std::unique_ptr<load::RunResult> run(const load::LoadPlan& plan, const load::Target& target) {
  auto result = load::run_load(plan, target, nullptr);
  if (!result) micro::fail(1, result.error().describe());
  if ((*result)->interrupted) std::exit(130);
  return std::move(*result);
}

// A connection for one exchange, whose reply ends with it.
class Blocking {
 public:
  explicit Blocking(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Blocking() { ::close(fd_); }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

  // The content of a 2xx reply; empty for any other end.
  std::string exchange(std::string_view octets) const {
    while (connected_ && !octets.empty()) {
      const ssize_t sent = ::send(fd_, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (sent <= 0) return {};
      octets.remove_prefix(static_cast<std::size_t>(sent));
    }
    std::string reply;
    char piece[16 * 1024];
    for (ssize_t got = 0; (got = ::recv(fd_, piece, sizeof piece, 0)) > 0;) {
      reply.append(piece, static_cast<std::size_t>(got));
    }
    const std::size_t end = reply.find("\r\n\r\n");
    if (!reply.starts_with("HTTP/1.1 2") || end == std::string::npos) return {};
    return reply.substr(end + 4);
  }

 private:
  int fd_;
  bool connected_ = false;
};

}  // namespace

Driven drive(const lab::ServerProcess& server, const Drive& what) {
  const load::Target target = target_of(server.port(), what.asks);
  const double cpu_before_s = server.cpu_s();
  auto result = run(plan_of(what.requests, what.connections), target);
  Driven driven;
  driven.after = server.usage();
  driven.cpu_s = driven.after.cpu_s - cpu_before_s;
  driven.requests = result->total.counts.requests;
  driven.failures = result->total.counts.all_failures();
  driven.bytes = result->total.counts.bytes_received;
  driven.seconds = result->duration_s;
  for (const load::OwnStatistics& own : result->threads) {
    if (own.wall_ns <= 0) continue;
    const double share = static_cast<double>(own.cpu_ns) / static_cast<double>(own.wall_ns);
    driven.generator_share = std::max(driven.generator_share, share);
  }
  driven.latency = std::move(result->total.latency);
  return driven;
}

std::string fetch(std::uint16_t port, const Ask& ask) {
  // The load's workers drop content, and this is not to be timed. HTTP/1.0: the content ends with
  // the connection, and comes without chunks.
  std::string octets = request_of(ask).octets;
  octets.replace(octets.find(" HTTP/1.1"), 9, " HTTP/1.0");
  return Blocking(port).exchange(octets);
}

double statistic(std::uint16_t port, std::string_view key) {
  const std::string text = fetch(port, {.path = "/statistics"});
  const auto statistics = nlohmann::json::parse(text, nullptr, false);
  if (!statistics.is_object() || !statistics.contains(key)) {
    micro::fail(1, fmt::format("no '{}' in '{}'", key, text));
  }
  return statistics[key].get<double>();
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
