#include "tests/simulation/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace katana::simulation {
namespace {

// Puts a field line at the end of a head.
void add_line(std::string& head, std::string_view line) {
  head.insert(head.size() - 2, std::string(line) + "\r\n");
}

}  // namespace

std::string content_of(std::size_t octets, std::uint64_t key) {
  Random random(key);
  std::string content;
  content.reserve(octets + 8);
  while (content.size() < octets) {
    const std::uint64_t word = random.next();
    for (int shift = 0; shift < 64; shift += 8) {
      content.push_back(static_cast<char>(word >> shift & 0xff));
    }
  }
  content.resize(octets);
  return content;
}

std::string head_of(std::string_view method, std::string_view target, std::string_view fields) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: simulation\r\n{}\r\n", method, target, fields);
}

Planned get(std::string target, std::string reply) {
  Planned request = get(std::move(target), 200);
  request.reply = std::move(reply);
  return request;
}

Planned get(std::string target, unsigned status) {
  Planned request;
  request.name = "GET " + target;
  request.head = head_of("GET", target);
  request.status = status;
  return request;
}

Planned as_head(Planned request) {
  request.name = "HEAD as " + request.name;
  request.head.replace(0, request.head.find(' '), "HEAD");
  request.to_head = true;
  request.reply = "";
  return request;
}

Planned as_http10(Planned request, bool keep_alive) {
  request.name = "HTTP/1.0 " + request.name;
  request.head.replace(request.head.find("HTTP/1.1"), 8, "HTTP/1.0");
  if (keep_alive) {
    add_line(request.head, "Connection: keep-alive");
  } else {
    request.last = true;
  }
  return request;
}

Planned post(std::string target, const std::string& content, std::string reply,
             std::string_view fields) {
  Planned request;
  request.name = fmt::format("POST {} with {} octets", target, content.size());
  request.head =
      head_of("POST", target, fmt::format("{}Content-Length: {}\r\n", fields, content.size()));
  request.content = content;
  request.reply = std::move(reply);
  return request;
}

Planned post_chunked(std::string target, const std::string& content, std::string reply,
                     Random& random, std::string_view fields) {
  Planned request;
  request.name = fmt::format("POST {} with {} octets in chunks", target, content.size());
  request.head = head_of("POST", target, fmt::format("{}Transfer-Encoding: chunked\r\n", fields));
  const std::array<std::size_t, 4> sizes = {1, 40, 3'000, 70'000};
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t most = std::min(content.size() - at, sizes[random.below(sizes.size())]);
    const std::size_t count = random.between(1, most);
    const char* const extension = random.chance(64) ? ";name=value" : "";
    request.content += fmt::format("{:x}{}\r\n", count, extension);
    request.content.append(content, at, count);
    request.content += "\r\n";
    at += count;
  }
  request.content += random.chance(64) ? "0\r\nX-Trailer: ignored\r\n\r\n" : "0\r\n\r\n";
  request.reply = std::move(reply);
  return request;
}

Planned expecting(Planned request, bool waits) {
  // Without content there is nothing to wait for (RFC 9110 §10.1.1).
  if (request.content.empty()) return request;
  request.name += waits ? ", waiting for 100" : ", expecting 100";
  add_line(request.head, "Expect: 100-continue");
  request.waits_for_continue = waits;
  return request;
}

Planned refused(std::string name, std::string bytes, unsigned status) {
  Planned request;
  request.name = std::move(name);
  request.head = std::move(bytes);
  request.status = status;
  request.last = true;
  request.lingers = true;
  return request;
}

Planned cut_short(Planned request, std::size_t octets, unsigned status) {
  const std::string bytes = (request.head + request.content).substr(0, octets);
  return refused(fmt::format("{} octets of {}", octets, request.name), bytes, status);
}

std::string hello_bytes(std::size_t octets) { return std::string(octets, 'k'); }

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
