// http_fetch: sends the same request to an external server many times, some at once. It prints the
// result: replies with their statuses and versions, connections, handshakes, retries.
//
//   http_fetch URL COUNT AT_ONCE AUTHORITIES|- [never|by_alpn|prior_knowledge]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "katana/http/client/http_client.hpp"
#include "katana/http/server/engines.hpp"

using namespace katana;

namespace {

int end(const std::string& what) {
  std::fprintf(stderr, "http_fetch: %s\n", what.c_str());
  return 1;
}

client::Http2 http2_of(const std::string& name) {
  if (name == "never") return client::Http2::never;
  return name == "prior_knowledge" ? client::Http2::prior_knowledge : client::Http2::by_alpn;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return end("URL COUNT AT_ONCE AUTHORITIES|- [never|by_alpn|prior_knowledge]");
  const std::string url = arguments[1], authorities = arguments[4];
  const std::size_t wanted = std::strtoul(arguments[2], nullptr, 10);
  const std::size_t at_once = std::strtoul(arguments[3], nullptr, 10);
  client::HttpClientOptions options;
  options.hosts = {{"localhost", {"127.0.0.1"}}};
  if (authorities != "-") options.tls.authorities_file = authorities;
  if (count > 5) options.http2 = http2_of(arguments[5]);
  const auto http = client::HttpClient::make(options);
  if (!http) return end(http.error().describe());
  net::ReactorOptions small;
  small.engine.links_max = 256;
  const auto reactor = server::make_reactor(server::EngineKind::epoll_edge, small, 256);
  if (const auto started = reactor->start(); !started) return end(started.error().describe());
  reactor->turn(Duration{});

  std::deque<Task<Result<client::Response>>> tasks;
  std::map<std::string, std::size_t> outcomes;
  std::uint64_t connections_most = 0;
  for (std::size_t begun = 0; begun < wanted || !tasks.empty();) {
    for (; begun < wanted && tasks.size() < at_once; ++begun) {
      tasks.push_back(http->fetch(client::Request(url)));
      tasks.back().start();
    }
    reactor->turn(milliseconds(100));
    connections_most = std::max(connections_most, http->counters(*reactor).connections);
    while (!tasks.empty() && tasks.front().done()) {
      const auto reply = tasks.front().result();
      tasks.pop_front();
      if (!reply) {
        ++outcomes[reply.error().describe()];
        continue;
      }
      const bool http2 = reply->version() == client::HttpVersion::http_2;
      ++outcomes[fmt::format("HTTP/{} {} {} bytes", http2 ? "2" : "1", reply->status(),
                             reply->content().size())];
    }
  }
  for (const auto& [outcome, times] : outcomes) std::printf("%zu %s\n", times, outcome.c_str());
  const client::ClientCounters counted = http->counters(*reactor);
  std::printf("connections %llu, handshakes %llu, resumed %llu, retries %llu\n",
              static_cast<unsigned long long>(connections_most),
              static_cast<unsigned long long>(counted.handshakes),
              static_cast<unsigned long long>(counted.handshakes_resumed),
              static_cast<unsigned long long>(counted.retries));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
