#include "lab/load/target.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::load {
namespace {

using http::is;

bool is_token(Bytes text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is(c, http::token_character); });
}

bool equals_ignoring_case(Bytes left, Bytes right) {
  return std::ranges::equal(
      left, right, {}, [](char c) { return std::tolower(static_cast<unsigned char>(c)); },
      [](char c) { return std::tolower(static_cast<unsigned char>(c)); });
}

Bytes trimmed(Bytes text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == Bytes::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return fail(Code::invalid_argument, fmt::format("URL '{}': {}", text, why));
}

Result<void> check_path(std::string_view text, Bytes path) {
  for (const char c : path) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      return bad_url(text, "a space or control character; write it as %20 and the like");
    }
  }
  return {};
}

// "host", "host:port", "[v6]:port"
Result<void> split_authority(std::string_view text, Bytes authority, Url& url) {
  Bytes port;
  if (authority.starts_with('[')) {
    const auto bracket = authority.find(']');
    if (bracket == Bytes::npos) return bad_url(text, "'[' without ']'");
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return bad_url(text, "no host");
  if (port.empty()) return {};
  const char* end = port.data() + port.size();
  const auto read = std::from_chars(port.data() + 1, end, url.port);
  if (port[0] != ':' || read.ec != std::errc() || read.ptr != end || url.port == 0) {
    return bad_url(text, "the port is no number from 1 to 65535");
  }
  return {};
}

// The method and the target of a line of the URL list.
Result<std::pair<std::string, std::string>> parse_line(const Url& url, const RequestSpec& spec,
                                                       Bytes line, std::size_t number) {
  const auto wrong = [&](std::string_view why) {
    return fail(Code::invalid_argument,
                fmt::format("URL list, line {}, '{}': {}", number, line, why));
  };
  std::string method = spec.method;
  Bytes place = line;
  if (const auto space = line.find_first_of(" \t"); space != Bytes::npos) {
    method = line.substr(0, space);
    place = trimmed(line.substr(space));
    if (!is_token(method)) return wrong("the method is no token");
  }
  if (place.starts_with('/')) {
    if (!check_path(place, place)) return wrong("a space or control character in the path");
    return std::pair(method, std::string(place.substr(0, place.find('#'))));
  }
  auto other = parse_url(place);
  if (!other) return wrong(other.error().message());
  if (other->host != url.host || other->port != url.port || other->tls != url.tls) {
    return wrong(fmt::format("another server than {}; one run loads one server", url.authority));
  }
  return std::pair(method, other->path);
}

bool has_field(const RequestSpec& spec, Bytes name) {
  return std::ranges::any_of(spec.headers, [&](Bytes header) {
    return equals_ignoring_case(header.substr(0, header.find(':')), name);
  });
}

Request build(const Url& url, const RequestSpec& spec, Bytes method, Bytes target) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  if (!has_field(spec, "host")) head += fmt::format("Host: {}\r\n", url.authority);
  for (const std::string& header : spec.headers) head += header + "\r\n";
  const bool has_length = has_field(spec, "content-length") || has_field(spec, "transfer-encoding");
  if (!has_length && (!spec.body.empty() || method == "POST" || method == "PUT")) {
    head += fmt::format("Content-Length: {}\r\n", spec.body.size());
  }
  Request request;
  request.octets = head + "\r\n" + spec.body;
  const bool is_silent = !spec.announces_close || has_field(spec, "connection");
  request.closing_octets =
      is_silent ? request.octets : head + "Connection: close\r\n\r\n" + spec.body;
  request.is_head = method == "HEAD";
  request.method = method;
  request.path = target;
  return request;
}

Result<void> check_spec(const RequestSpec& spec) {
  if (!is_token(spec.method)) {
    return fail(Code::invalid_argument, fmt::format("--method '{}' is no token", spec.method));
  }
  for (const std::string& header : spec.headers) {
    const auto colon = header.find(':');
    const bool has_name = colon != std::string::npos && is_token(Bytes(header).substr(0, colon));
    if (!has_name || header.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return fail(Code::invalid_argument,
                  fmt::format("--header '{}' is not 'Name: value'", header));
    }
  }
  return {};
}

// Throws nlohmann's exceptions for a line that is no request.
Result<Request> read_request(const Url& url, const RequestSpec& spec, Bytes line) {
  const auto read = nlohmann::json::parse(line);
  RequestSpec one = spec;
  one.method = read.at("method").get<std::string>();
  one.body = read.value("content", "");
  const std::string target = read.at("target").get<std::string>();
  const auto fields = read.value("fields", nlohmann::json::object());
  for (const auto& [name, value] : fields.items()) {
    one.headers.push_back(fmt::format("{}: {}", name, value.get<std::string>()));
  }
  if (auto checked = check_spec(one); !checked) return std::unexpected(checked.error());
  if (!target.starts_with('/')) {
    return fail(Code::invalid_argument, "its target does not begin with '/'");
  }
  if (auto checked = check_path(target, target); !checked) return std::unexpected(checked.error());
  return build(url, one, one.method, target);
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  Bytes rest = text;
  Url url;
  url.tls = rest.starts_with("https://");
  if (url.tls || rest.starts_with("http://")) {
    rest.remove_prefix(url.tls ? 8 : 7);
  } else if (rest.find("://") != Bytes::npos) {
    return bad_url(text, "the scheme is neither http nor https");
  }
  if (url.tls) url.port = 443;
  const auto end = std::min(rest.find_first_of("/?#"), rest.size());
  const Bytes authority = rest.substr(0, end);
  if (authority.find('@') != Bytes::npos) {
    return bad_url(text, "a user name; send it as --header 'Authorization: …'");
  }
  if (auto split = split_authority(text, authority, url); !split) {
    return std::unexpected(split.error());
  }
  url.authority = authority;
  rest.remove_prefix(end);
  const Bytes path = rest.substr(0, rest.find('#'));
  if (auto checked = check_path(text, rest.empty() ? authority : path); !checked) {
    return std::unexpected(checked.error());
  }
  if (auto checked = check_path(text, authority); !checked) return std::unexpected(checked.error());
  url.path = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
  return url;
}

Result<Address> resolve(const Url& url) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &wanted, &found);
  if (error != 0) {
    return fail(Code::unavailable,
                fmt::format("host '{}' has no address: {}", url.host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

Result<std::vector<Request>> make_requests(const Url& url, const RequestSpec& spec,
                                           std::string_view url_list) {
  if (auto checked = check_spec(spec); !checked) return std::unexpected(checked.error());
  std::vector<Request> requests;
  std::size_t number = 0;
  while (!url_list.empty()) {
    ++number;
    const auto end = std::min(url_list.find('\n'), url_list.size());
    const Bytes line = trimmed(url_list.substr(0, end));
    url_list.remove_prefix(std::min(end + 1, url_list.size()));
    if (line.empty() || line.starts_with('#')) continue;
    auto parsed = parse_line(url, spec, line, number);
    if (!parsed) return std::unexpected(parsed.error());
    requests.push_back(build(url, spec, parsed->first, parsed->second));
  }
  if (requests.empty() && number > 0) {
    return fail(Code::invalid_argument, "the URL list names no URL");
  }
  if (requests.empty()) requests.push_back(build(url, spec, spec.method, url.path));
  return requests;
}

Result<std::vector<Request>> read_requests(const Url& url, const RequestSpec& spec,
                                           std::string_view lines) {
  std::vector<Request> requests;
  std::size_t number = 0;
  while (!lines.empty()) {
    ++number;
    const auto end = std::min(lines.find('\n'), lines.size());
    const Bytes line = trimmed(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty()) continue;
    Result<Request> made = fail(Code::invalid_argument, "it is no request");
    try {
      made = read_request(url, spec, line);
    } catch (const nlohmann::json::exception& error) {
      made = fail(Code::invalid_argument, error.what());
    }
    if (!made) {
      return std::unexpected(made.error().within(fmt::format("requests, line {}", number)));
    }
    requests.push_back(*std::move(made));
  }
  if (requests.empty()) return fail(Code::invalid_argument, "there are no requests");
  return requests;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
