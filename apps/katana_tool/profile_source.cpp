#include "katana_tool/profile_source.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "katana/http/client/http_client.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/observe/profile/pprof.hpp"
#include "katana_tool/files.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t session_bytes_max = 256;  // of the client's connections
constexpr const char* path_of_profile = "/operations/profile";

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// "socket:[1234]" of the descriptors of a process.
Result<std::set<std::string>> sockets_of(const std::string& number) {
  std::set<std::string> sockets;
  std::error_code failure;
  const fs::directory_iterator all(fmt::format("/proc/{}/fd", number), failure);
  if (failure) {
    const bool is_there = fs::exists("/proc/" + number);
    return fail(is_there ? Code::permission_denied : Code::not_found,
                is_there ? fmt::format("process {}: its sockets cannot be read: run the command as "
                                       "root, or name the URL",
                                       number)
                         : fmt::format("there is no process {}", number));
  }
  // The process may end meanwhile.
  for (auto each = fs::begin(all); !failure && each != fs::end(all); each.increment(failure)) {
    std::error_code closed;
    const std::string target = fs::read_symlink(each->path(), closed).string();
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  return sockets;
}

// The request, with its token, would go to another program that listens on the same address.
Result<void> check_network(const std::string& number) {
  std::error_code failure;
  const fs::path own = fs::read_symlink("/proc/self/ns/net", failure);
  const fs::path other = fs::read_symlink(fmt::format("/proc/{}/ns/net", number), failure);
  if (!failure && own == other) return {};
  return fail(Code::invalid_argument,
              fmt::format("process {} is in another network namespace, such as that of a "
                          "container: name the URL",
                          number));
}

// "0100007F:1F90" of /proc/net/tcp: an address in 32-bit words, each in the order of this machine's
// bytes. An address that stands for all becomes the loopback address. An IPv4 address within IPv6
// (::ffff:127.0.0.1) becomes that of IPv4.
std::string host_of(const std::string& text) {
  const std::size_t digits = text.find(':');
  std::array<std::uint32_t, 4> words{};
  for (std::size_t at = 0; at + 8 <= digits && at / 8 < words.size(); at += 8) {
    words[at / 8] = static_cast<std::uint32_t>(std::stoul(text.substr(at, 8), nullptr, 16));
  }
  const bool is_mapped =
      digits == 32 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  if (is_mapped) words = {words[3]};
  const bool is_ipv4 = digits == 8 || is_mapped;
  if (std::ranges::all_of(words, [](std::uint32_t word) { return word == 0; })) {
    return is_ipv4 ? "127.0.0.1" : "[::1]";
  }
  char name[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(is_ipv4 ? AF_INET : AF_INET6, words.data(), name, sizeof name);
  return is_ipv4 ? std::string(name) : fmt::format("[{}]", name);
}

Result<client::Response> fetch(client::HttpClient& http, net::Reactor& reactor,
                               const std::string& url, const std::string& token) {
  client::Request request(url);
  if (!token.empty()) request.field("Authorization", "Bearer " + token);
  Task<Result<client::Response>> task = http.fetch(std::move(request));
  task.start();
  while (!task.done()) reactor.turn(milliseconds(100));
  return task.result();
}

// Whether the status is one of the page: another URL would not make another of it.
bool is_of_page(int status, Bytes content) {
  if (status == 409) return content.find("urn:katana:problem:profile-in-progress") != Bytes::npos;
  return status == 400 && content.find("query parameter") != Bytes::npos;
}

// The reply of the first URL that has the page. The others may be listeners without it, which
// answer anything, or those that want a token.
Result<std::string> fetch_from(const std::vector<std::string>& urls,
                               const ProfileRequest& request) {
  client::HttpClientOptions options;
  options.timeout = seconds(request.seconds) + seconds(60);
  options.content_bytes_max = profile::pprof_bytes_max;
  options.retries_max = 0;
  auto http = client::HttpClient::make(options);
  if (!http) return std::unexpected(http.error());
  net::ReactorOptions small;
  small.engine.links_max = 16;
  const auto reactor =
      server::make_reactor(server::EngineKind::epoll_edge, small, session_bytes_max);
  if (const auto started = reactor->start(); !started) return std::unexpected(started.error());
  reactor->turn(Duration{});
  Error last(Code::not_found, "it listens on no TCP port");
  bool is_told = false;  // why a listener that may have the page refuses it
  for (const std::string& base : urls) {
    std::string url = fmt::format("{}{}?kind={}&seconds={}", base, path_of_profile, request.kind,
                                  request.seconds);
    if (request.hertz != 0) url += fmt::format("&hertz={}", request.hertz);
    if (request.bytes != 0) url += fmt::format("&bytes={}", request.bytes);
    auto reply = fetch(*http, *reactor, url, request.token);
    if (reply && reply->status() == 200) return std::string(reply->content());
    if (!reply) {
      if (!is_told) last = reply.error();
    } else if (reply->status() == 404) {
      if (is_told) continue;
      last = Error(Code::not_found,
                   fmt::format("{}: 404: the operations pages are not served here, or "
                               "profile.enabled is false; name the URL of operations.port",
                               base));
    } else {
      last = Error(Code::unavailable, fmt::format("{}: {}: {}", base, reply->status(),
                                                  std::string(reply->content().substr(0, 500))));
      is_told = true;
      if (is_of_page(reply->status(), reply->content())) break;
    }
  }
  return std::unexpected(last);
}

}  // namespace

Result<std::vector<std::string>> urls_of_process(const std::string& number) {
  const auto sockets = sockets_of(number);
  if (!sockets) return std::unexpected(sockets.error());
  if (auto same = check_network(number); !same) return std::unexpected(same.error());
  std::vector<std::string> urls;
  for (const char* const table : {"tcp", "tcp6"}) {
    std::ifstream file(fmt::format("/proc/{}/net/{}", number, table));
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string entry, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> entry >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode;
      constexpr const char* listens = "0A";
      if (state != listens || !sockets->contains(inode)) continue;
      const unsigned long port = std::stoul(local.substr(local.find(':') + 1), nullptr, 16);
      std::string url = fmt::format("http://{}:{}", host_of(local), port);
      if (std::ranges::find(urls, url) == urls.end()) urls.push_back(std::move(url));
    }
  }
  return urls;
}

Result<std::string> profile_of(const std::string& target, const ProfileRequest& request) {
  if (target.starts_with("http://") || target.starts_with("https://")) {
    std::string base = target;
    while (base.ends_with('/')) base.pop_back();
    if (base.ends_with(path_of_profile))
      base.resize(base.size() - std::string(path_of_profile).size());
    return fetch_from({base}, request);
  }
  std::error_code failure;
  if (fs::is_regular_file(target, failure)) return read_file(target);
  if (is_number(target)) {
    const auto urls = urls_of_process(target);
    if (!urls) return std::unexpected(urls.error());
    auto fetched = fetch_from(*urls, request);
    if (!fetched) return std::unexpected(fetched.error().within("process " + target));
    return fetched;
  }
  return fail(Code::not_found,
              fmt::format("'{}' is no URL (http://…), no process and no file", target));
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
