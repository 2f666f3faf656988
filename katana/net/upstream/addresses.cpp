#include "katana/net/upstream/addresses.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace katana::upstream {
namespace {

constexpr std::size_t addresses_max = 8;

}  // namespace

bool is_numeric_address(const std::string& host) noexcept {
  in6_addr address;  // large enough for both families
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

std::vector<std::string> interleave_families(const std::vector<std::string>& addresses) {
  const auto is_v6 = [](const std::string& address) {
    return address.find(':') != std::string::npos;
  };
  std::vector<std::string> first, second, made;
  for (const std::string& each : addresses) {
    (is_v6(each) == is_v6(addresses[0]) ? first : second).push_back(each);
  }
  for (std::size_t index = 0; index < std::max(first.size(), second.size()); ++index) {
    if (index < first.size()) made.push_back(first[index]);
    if (index < second.size()) made.push_back(second[index]);
  }
  return made;
}

Result<std::vector<std::string>> look_up_addresses(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  const int problem = getaddrinfo(host.c_str(), nullptr, &wanted, &first);
  if (problem != 0) {
    return fail(problem == EAI_NONAME ? Code::not_found : Code::unavailable,
                fmt::format("host '{}' cannot be resolved: {}", host, gai_strerror(problem)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(first, &freeaddrinfo);
  std::vector<std::string> found;
  for (const addrinfo* each = first; each != nullptr && found.size() < addresses_max;
       each = each->ai_next) {
    char text[INET6_ADDRSTRLEN] = "";
    if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(found, text) == found.end()) found.emplace_back(text);
  }
  if (found.empty()) return fail(Code::not_found, fmt::format("host '{}' has no address", host));
  return interleave_families(found);
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
