#include "katana/app/insecure_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "katana/app/behind_proxy.hpp"
#include "katana/app/sandbox/privileges.hpp"
#include "katana/http/server/operations.hpp"

namespace katana::app {
namespace {

// The bound for one request or message; more is a lot of memory or disk for one client.
constexpr std::uint64_t collected_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint64_t form_bytes_max = std::uint64_t{4} << 30;
constexpr std::size_t token_bytes_min = 16;

class Findings {
 public:
  void add(std::string key, std::string value, std::string problem, std::string remedy) {
    found_.push_back({std::move(key), std::move(value), std::move(problem), std::move(remedy)});
  }
  void add(std::vector<InsecureSetting> more) {
    std::ranges::move(more, std::back_inserter(found_));
  }
  std::vector<InsecureSetting> take() { return std::move(found_); }

 private:
  std::vector<InsecureSetting> found_;
};

// A place where others than this machine connect.
struct Exposed {
  std::string key;
  std::string address;
  bool tls = false;
  bool redirects = false;
};

std::vector<Exposed> exposed_listeners(const ApplicationSettings& settings) {
  std::vector<Exposed> found;
  const HttpSettings& http = settings.http;
  if (!server::is_loopback(http.address)) {
    found.push_back({"http.address", http.address, http.tls.given(), false});
  }
  for (std::size_t index = 0; index < http.listeners.size(); ++index) {
    const server::ListenerOptions& each = http.listeners[index];
    if (server::is_loopback(each.address)) continue;
    found.push_back({fmt::format("http.listeners[{}].address", index), each.address, each.tls,
                     each.redirect_to_https});
  }
  return found;
}

void judge_listeners(const ApplicationSettings& settings, Findings& findings) {
  const std::vector<Exposed> exposed = exposed_listeners(settings);
  const HttpSettings& http = settings.http;
  for (const Exposed& each : exposed) {
    if (each.tls || each.redirects) continue;
    findings.add(each.key, each.address,
                 "others reach it without TLS, and everybody on the way reads and changes what is "
                 "sent",
                 "set http.tls.certificates, or listen on 127.0.0.1 or unix:PATH behind a proxy");
  }
  if (exposed.empty()) return;
  if (http.hosts.empty()) {
    findings.add("http.hosts", "empty",
                 "requests are served under every name, also under one that an attacker's page "
                 "resolves to this address",
                 "list the names of this server");
  }
  if (settings.development) {
    findings.add("development", "true", "clients are shown causes of failures and SQL",
                 "set it to false where others can connect");
  }
  if (http.tls.development) {
    findings.add("http.tls.development", "true",
                 "no client can tell this certificate from another self-signed one",
                 "set http.tls.certificates");
  }
  const bool public_tls = std::ranges::any_of(exposed, &Exposed::tls);
  if (public_tls && http.tls.hsts <= Duration{}) {
    findings.add("http.tls.hsts", "0",
                 "a browser's first request may be sent without TLS and be taken over there",
                 "set it to 1y once everything of this host is served by TLS (RFC 6797)");
  }
}

void judge_operations(const ApplicationSettings& settings, Findings& findings) {
  const OperationsSettings& pages = settings.operations;
  const bool own = pages.port != 0;
  const bool shown = own && !server::is_loopback(pages.address);
  if (shown && pages.token.empty()) {
    findings.add("operations.address", pages.address,
                 "everybody who reaches it sees the pages of operations",
                 "listen on 127.0.0.1, or set operations.token");
  }
  if (!pages.token.empty() && pages.token.size() < token_bytes_min) {
    findings.add("operations.token", "***",
                 fmt::format("it has {} characters and can be guessed", pages.token.size()),
                 "use 16 or more (openssl rand -hex 16)");
  }
  const bool sent_in_clear =
      shown ? !settings.http.tls.given()
            : !own && std::ranges::any_of(exposed_listeners(settings),
                                          [](const Exposed& each) { return !each.tls; });
  if (!pages.token.empty() && sent_in_clear) {
    findings.add("operations.token", "***", "it is sent without TLS",
                 "set http.tls.certificates, or an operations.port on 127.0.0.1");
  }
}

void judge_process(const ProcessSettings& process, Findings& findings) {
  if (process.user.empty() && sandbox::is_root()) {
    findings.add("process.user", "empty", "the program runs as root",
                 "name a user of its own (useradd --system), or start it as that user");
  }
  if (process.user == "root" || process.user == "0") {
    findings.add("process.user", process.user, "that is root",
                 "name a user that only this program has");
  }
  const auto digit = [&](std::size_t from_end) {
    return process.umask.size() > from_end
               ? process.umask[process.umask.size() - 1 - from_end] - '0'
               : 0;
  };
  if (!process.umask.empty() && ((digit(0) & 2) == 0 || (digit(1) & 2) == 0)) {
    findings.add("process.umask", process.umask,
                 "others may change the files that the program makes",
                 "use 027, or leave it empty");
  }
  if (process.core_dumps) {
    findings.add("process.core_dumps", "true", "a core dump has keys and passwords",
                 "set it to false but to search for a defect");
  }
}

void judge_sizes(const HttpSettings& http, Findings& findings) {
  const auto judge = [&](std::string key, std::uint64_t bytes, std::uint64_t most) {
    if (bytes <= most) return;
    findings.add(
        std::move(key), fmt::format("{} MiB", bytes >> 20),
        "one client makes the program hold so much",
        fmt::format("allow at most {} MiB here, and more for the routes that need it", most >> 20));
  };
  judge("http.routes.content_bytes_max", http.routes.content_bytes_max, collected_bytes_max);
  judge("http.websocket.limits.message_bytes_max", http.websocket.limits.message_bytes_max,
        collected_bytes_max);
  judge("http.forms.memory_bytes_max", http.forms.memory_bytes_max, collected_bytes_max);
  judge("http.forms.bytes_max", http.forms.bytes_max, form_bytes_max);
}

void judge_sessions(const ApplicationSettings& settings, Findings& findings) {
  const SessionSettings& sessions = settings.sessions;
  if (sessions.store == SessionPlace::off) return;
  if (!sessions.secure) {
    findings.add("sessions.secure", "false",
                 "browsers send the cookie without TLS, and anyone on the way has the session",
                 "set it to true but for development");
  }
  if (!settings.http.csrf.enabled) {
    findings.add("http.csrf.enabled", "false",
                 "pages of other sites send requests with the session of their visitor",
                 "set it to true");
  }
}

void judge_idempotency(const ApplicationSettings& settings, Findings& findings) {
  if (!settings.idempotency.enabled || settings.idempotency.scope != idempotency::Scope::everyone) {
    return;
  }
  findings.add("idempotency.scope", "everyone",
               "who guesses or learns the key of another client's request gets its reply",
               "authenticate clients, and set it to principal");
}

void judge_client(const client::HttpClientOptions& client, Findings& findings) {
  if (client.tls.dangerously_accept_any_certificate) {
    findings.add("client.tls.dangerously_accept_any_certificate", "true",
                 "anyone on the way can be the server", "set client.tls.authorities_file");
  }
  if (client.redirects_to_plaintext && client.redirects_max > 0) {
    findings.add("client.redirects_to_plaintext", "true",
                 "a redirect takes a request from TLS to plaintext", "set it to false");
  }
  if (client.tokens_in_plaintext) {
    findings.add("client.tokens_in_plaintext", "true", "anyone on the way can use the tokens",
                 "call https URLs, and set it to false");
  }
}

// A client that reaches Redis reads and changes sessions, limits and the entries of caches.
void judge_redis(const RedisSettings& redis, const std::string& key, Findings& findings) {
  if (!redis.given()) return;
  if (redis.tls.dangerously_accept_any_certificate) {
    findings.add(key + ".tls.dangerously_accept_any_certificate", "true",
                 "anyone on the way can be the server", "set " + key + ".tls.authorities_file");
  }
  const auto options = redis::parse_url(redis.url);
  if (!options) return;
  const bool is_local = std::ranges::all_of(options->upstream.servers, [](const auto& each) {
    return each.is_path() || each.host == "localhost" || server::is_loopback(each.host);
  });
  if (is_local) return;
  if (!options->upstream.tls) {
    findings.add(key + ".url", "redis://…",
                 "sessions, and the password, go to the servers without TLS",
                 "write rediss://, and set " + key +
                     ".tls.authorities_file for an authority of "
                     "your own");
  }
  if (redis.password_file.empty() && redis.tls.certificate.key_file.empty()) {
    findings.add(key + ".password_file", "empty",
                 "everybody who reaches the server reads and changes what is in it",
                 "give the server a user with a password (ACL SETUSER), and name its file here");
  }
}

// The value of a parameter behind the '?' of a URL; empty: it is not there.
std::string_view parameter_of(std::string_view url, std::string_view name) {
  const std::size_t query = url.find('?');
  if (query == url.npos) return {};
  std::string_view rest = url.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return {};
}

std::string_view host_of(std::string_view url) {
  const std::size_t slashes = url.find("://");
  if (slashes == url.npos) return {};
  std::string_view authority = url.substr(slashes + 3);
  authority = authority.substr(0, authority.find_first_of("/?"));
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    authority.remove_prefix(at + 1);
  }
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

void judge_database(const DatabaseSettings& database, Findings& findings) {
  const std::string_view url = database.url;
  if (url.starts_with("sqlite:")) return;
  const std::string_view host = host_of(url);
  const bool here = host.empty() || host.starts_with('/') || host.starts_with('%') ||
                    host == "localhost" || server::is_loopback(host);
  const std::string_view mode = parameter_of(url, "sslmode");
  if (!here && !mode.starts_with("verify-")) {
    findings.add("database.url", fmt::format("sslmode={}", mode.empty() ? "(not given)" : mode),
                 "anyone on the way can be the database",
                 "give sslmode=verify-full and sslrootcert=FILE");
  }
}

}  // namespace

std::string InsecureSetting::describe() const {
  return fmt::format("{} is {}: {}; {}", key, value, problem, remedy);
}

std::vector<InsecureSetting> insecure_settings(const ApplicationSettings& settings,
                                               const InsecureFacts& facts) {
  Findings findings;
  judge_listeners(settings, findings);
  judge_operations(settings, findings);
  findings.add(insecure_behind_proxy(settings));
  judge_process(settings.process, findings);
  judge_sizes(settings.http, findings);
  judge_sessions(settings, findings);
  judge_idempotency(settings, findings);
  findings.add(facts.of_parts);
  judge_redis(settings.redis, "redis", findings);
  judge_redis(settings.cache.redis, "cache.redis", findings);
  judge_client(settings.client, findings);
  if (facts.database) judge_database(settings.database, findings);
  std::vector<InsecureSetting> found = findings.take();
  std::ranges::move(exposed_files(settings, facts), std::back_inserter(found));
  return found;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
