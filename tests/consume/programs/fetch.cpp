// fetch URL: prints what a GET of it answers, on its own reactor.
#include <cstdio>

#include "katana/client.hpp"
#include "katana/net.hpp"

using namespace katana;

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: fetch URL\n", stderr), 2;
  const auto http = client::HttpClient::make();
  if (!http) return std::fprintf(stderr, "%s\n", http.error().describe().c_str()), 1;
  net::ReactorOn<engine::EpollEdgeEngine> reactor({}, 256);
  if (const auto started = reactor.start(); !started) {
    return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  }
  const auto reply = client::run(reactor, http->fetch(client::Request(arguments[1])));
  if (!reply) return std::fprintf(stderr, "%s\n", reply.error().describe().c_str()), 1;
  std::printf("%d %.*s\n", static_cast<int>(reply->status()),
              static_cast<int>(reply->content().size()), reply->content().data());
}

// SPDX-License-Identifier: Apache-2.0
