#include "lab/load/flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "apps/command_line.hpp"

namespace katana::load {
namespace {

constexpr const char* program = "katana-load";

// The flags as they were typed; durations and the like are read afterwards.
struct Typed {
  std::string duration;
  std::string warm_up = "0s";
  std::string timeout = "5s";
  std::string connect_timeout = "3s";
  std::string busy_tail = "0us";
  std::string interval = "1s";
  std::string lag_limit = "1ms";
  std::string ramp;
  std::string connection_ramp;
  std::string body;
  std::string statuses = "2xx,3xx";
  std::string expect_body;
  std::optional<std::uint64_t> expect_length;
  std::optional<std::uint32_t> streams;
  std::optional<std::uint64_t> message_bytes;
  std::optional<double> rate;
  bool poisson = false;
  bool unannounced = false;
};

std::unexpected<Error> wrong(std::string message) {
  return fail(Code::invalid_argument, std::move(message));
}

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void describe_load(CLI::App& app, Flags& flags, Typed& typed) {
  LoadPlan& plan = flags.plan;
  app.add_option("url", flags.url, "http[s]://HOST[:PORT][/PATH]")->required();
  app.add_option("-t,--threads", plan.threads, "threads, one event loop each")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_option("-c,--connections", plan.connections, "connections of all threads")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  app.add_option("-d,--duration", typed.duration,
                 "measured time: 500ms, 10s, 2m (default 10s; 1h with -n)");
  app.add_option("-n,--requests", plan.requests_max, "end after so many requests")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53));
  app.add_option("--warmup", typed.warm_up, "time before the measured one")->capture_default_str();
  app.add_option("--pipeline", plan.pipeline, "requests in flight on a connection")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_flag("--http2", plan.http2,
               "HTTP/2: by ALPN over https://, otherwise by prior knowledge (h2c)");
  app.add_option("--streams", typed.streams,
                 "HTTP/2: requests in flight on a connection, as far as the server allows "
                 "(default 1)")
      ->check(CLI::Range(1u, 1024u));
  app.add_flag("--websocket", plan.websocket,
               "send WebSocket messages that the server sends back, in place of requests");
  app.add_option("--message-bytes", typed.message_bytes,
                 "WebSocket: so many bytes of text, in place of --body (default 13)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 20));
  app.add_flag("--reset", plan.reset_on_close,
               "close connections by RST, which leaves no port in TIME_WAIT");
  app.add_option("--churn", plan.requests_per_connection,
                 "requests on a connection before a new one is opened; 1 if no number is given")
      ->check(CLI::Range(1u, 1'000'000'000u));
  app.add_flag("--unannounced", typed.unannounced,
               "--churn: the last request on a connection does not say Connection: close; the "
               "connection is closed when its reply has come");
  app.add_option(
      "--connection-ramp", typed.connection_ramp,
      "closed loop: TIME:COUNT,… from 1 connection in straight lines; takes the place of "
      "-c and -d");
  app.add_flag("--pin", plan.pin, "pin each thread to a CPU of the affinity mask");
}

void describe_tls(CLI::App& app, Flags& flags) {
  app.add_flag("-k,--insecure", flags.tls.insecure,
               "https: accept any certificate, as for a server under test that signs its own");
  app.add_option("--ca", flags.tls.authorities_file,
                 "https: PEM file of the authorities that are trusted, in place of those that this "
                 "machine trusts; the server's own certificate will do");
  app.add_flag("--tls-resume", flags.plan.tls_resume,
               "https: resume the TLS session when a connection is opened again; otherwise every "
               "handshake is a full one");
}

void describe_pace(CLI::App& app, Flags& flags, Typed& typed) {
  LoadPlan& plan = flags.plan;
  app.add_option("-R,--rate", typed.rate,
                 "open loop: requests per second, latency from the intended time");
  app.add_option("--ramp", typed.ramp,
                 "open loop: TIME:RATE,… from -R (or 0) in straight lines; takes the place of -d");
  app.add_flag("--poisson", typed.poisson, "open loop: random arrivals, not even ones");
  app.add_option("--burst", plan.burst, "open loop: so many requests are due at the same instant")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  app.add_option("--seed", plan.seed, "of the random arrivals")->capture_default_str();
  app.add_option("--busy-tail", typed.busy_tail,
                 "open loop: do not sleep in the last so-many before a request is due")
      ->capture_default_str();
  app.add_option("--lag-limit", typed.lag_limit,
                 "open loop: the result is void when 1 % were sent later than this")
      ->capture_default_str();
  app.add_option("--timeout", typed.timeout, "for a whole reply")->capture_default_str();
  app.add_option("--connect-timeout", typed.connect_timeout, "for a connection")
      ->capture_default_str();
}

void describe_requests(CLI::App& app, Flags& flags, Typed& typed) {
  app.add_option("-m,--method", flags.request.method, "of the requests")->capture_default_str();
  app.add_option("-H,--header", flags.request.headers, "'Name: value'; may be repeated")
      ->allow_extra_args(false);
  app.add_option("-b,--body", typed.body, "content of the requests, or @FILE");
  app.add_option("--urls", flags.url_file, "file of lines [METHOD] URL-or-path, sent in turn");
  app.add_option("--requests-file", flags.requests_file,
                 "file of requests, a JSON object a line as `katana openapi requests` writes it, "
                 "sent in turn");
  app.add_option("--expect-status", typed.statuses, "what counts as success")
      ->capture_default_str();
  app.add_option("--expect-length", typed.expect_length, "of the content, in bytes");
  app.add_option("--expect-body", typed.expect_body, "the content, or @FILE");
  app.add_option("--json", flags.json_file, "write the result to FILE; - is standard output");
  app.add_option("--hdr", flags.hdr_file, "write the interval log (HdrHistogram V2) to FILE");
  app.add_option("--interval", typed.interval, "of the series, the log and the progress")
      ->capture_default_str();
  app.add_flag("-q,--quiet", flags.quiet, "no progress; no summary either with --json or --hdr");
  app.add_flag("--strict", flags.strict, "exit 1 when there was any error or the result is void");
  app.add_flag("--memory", flags.print_memory, "print the most memory that the run may take");
}

Result<Duration> positive(const char* flag, const std::string& text, bool zero_is_fine = false) {
  auto duration = parse_duration(text);
  if (!duration) return std::unexpected(duration.error().within(flag));
  if (duration->ns == 0 && !zero_is_fine)
    return wrong(fmt::format("{} '{}': must not be 0", flag, text));
  return duration;
}

Result<void> read_durations(const Typed& typed, LoadPlan& plan) {
  const bool counted = plan.requests_max > 0;
  const std::string duration = !typed.duration.empty() ? typed.duration : counted ? "1h" : "10s";
  struct Row {
    const char* flag;
    const std::string& text;
    Duration& value;
    bool zero_is_fine;
  };
  const Row rows[] = {
      {"--duration", duration, plan.duration, false},
      {"--warmup", typed.warm_up, plan.warm_up, true},
      {"--timeout", typed.timeout, plan.timeout, false},
      {"--connect-timeout", typed.connect_timeout, plan.connect_timeout, false},
      {"--busy-tail", typed.busy_tail, plan.busy_tail, true},
      {"--interval", typed.interval, plan.interval, false},
      {"--lag-limit", typed.lag_limit, plan.send_lag_max, false},
  };
  for (const Row& row : rows) {
    auto read = positive(row.flag, row.text, row.zero_is_fine);
    if (!read) return std::unexpected(read.error());
    row.value = *read;
  }
  if (plan.interval < milliseconds(10)) {
    return wrong(fmt::format("--interval '{}': at least 10ms", typed.interval));
  }
  return {};
}

Result<void> read_pace(const Typed& typed, LoadPlan& plan) {
  if (typed.rate && !(*typed.rate > 0 && *typed.rate <= 1e9)) {
    return wrong(fmt::format("--rate {}: must be above 0, at most 1e9", *typed.rate));
  }
  if (!typed.ramp.empty()) {
    if (!typed.duration.empty()) return wrong("--ramp has its own time; leave --duration out");
    if (plan.warm_up.ns > 0 && !typed.rate) return wrong("--ramp with --warmup needs --rate");
    auto ramp = parse_ramp(typed.ramp, typed.rate.value_or(0));
    if (!ramp) return std::unexpected(ramp.error());
    plan.duration = ramp->duration();
    if (plan.warm_up.ns > 0) plan.rates.add(plan.warm_up, *typed.rate, *typed.rate);
    plan.rates.append(*ramp);
  } else if (typed.rate) {
    plan.rates.add(Duration{plan.warm_up.ns + plan.duration.ns}, *typed.rate, *typed.rate);
  }
  plan.poisson = typed.poisson;
  if (!plan.is_open_loop() && (plan.poisson || plan.burst > 1 || plan.busy_tail.ns > 0)) {
    return wrong("--poisson, --burst and --busy-tail are of an open loop; give --rate or --ramp");
  }
  return {};
}

Result<void> read_connection_ramp(const Typed& typed, LoadPlan& plan) {
  if (typed.connection_ramp.empty()) return {};
  if (!typed.duration.empty() || plan.requests_max > 0) {
    return wrong("--connection-ramp has its own time; leave --duration and --requests out");
  }
  if (plan.is_open_loop()) {
    return wrong("--connection-ramp is of a closed loop; leave --rate and --ramp out");
  }
  auto ramp = parse_connection_ramp(typed.connection_ramp);
  if (!ramp) return std::unexpected(ramp.error());
  plan.connection_ramp = std::move(*ramp);
  plan.duration = plan.connection_ramp.duration();
  plan.connections = plan.connection_ramp.most();
  return {};
}

Result<void> read_protocol(const Typed& typed, LoadPlan& plan) {
  if (!plan.http2 && typed.streams) return wrong("--streams is of HTTP/2; give --http2");
  if (!plan.http2) return {};
  if (plan.pipeline > 1) return wrong("--pipeline is of HTTP/1.1; give --streams");
  plan.pipeline = typed.streams.value_or(1);
  return {};
}

Result<void> read_websocket(const Typed& typed, Flags& flags) {
  if (!flags.plan.websocket) {
    if (typed.message_bytes) return wrong("--message-bytes is of WebSocket; give --websocket");
    return {};
  }
  if (flags.plan.http2) return wrong("--websocket is of HTTP/1.1; leave --http2 out");
  if (flags.request.method != "GET" || !flags.url_file.empty()) {
    return wrong("--websocket sends messages; leave --method and --urls out");
  }
  if (typed.message_bytes && !typed.body.empty()) {
    return wrong("--message-bytes and --body both say what a message is: give one of them");
  }
  if (flags.request.body.empty()) flags.request.body.assign(typed.message_bytes.value_or(13), 'x');
  if (!flags.plan.expect.body) flags.plan.expect.body = flags.request.body;
  return {};
}

Result<void> read_churn(const Typed& typed, Flags& flags) {
  if (!typed.unannounced) return {};
  if (flags.plan.requests_per_connection == 0) {
    return wrong("--unannounced is of connections that end; give --churn");
  }
  if (flags.plan.http2) return wrong("--unannounced is of HTTP/1.1; leave --http2 out");
  flags.request.announces_close = false;
  return {};
}

// Its lines say what each request is.
Result<void> read_requests_file(const Typed& typed, const Flags& flags) {
  if (flags.requests_file.empty()) return {};
  if (flags.plan.http2 || flags.plan.websocket) {
    return wrong("--requests-file is of HTTP/1.1; leave --http2 and --websocket out");
  }
  if (flags.request.method != "GET" || !flags.url_file.empty() || !typed.body.empty()) {
    return wrong("--requests-file says what is sent; leave --method, --body and --urls out");
  }
  return {};
}

Result<std::string> text_or_file(const std::string& text) {
  if (!text.starts_with('@')) return text;
  return read_file(text.substr(1));
}

Result<void> read_contents(const Typed& typed, Flags& flags) {
  auto body = text_or_file(typed.body);
  if (!body) return std::unexpected(body.error().within("--body"));
  flags.request.body = std::move(*body);
  auto statuses = parse_statuses(typed.statuses);
  if (!statuses) return std::unexpected(statuses.error());
  flags.plan.expect.statuses = *statuses;
  flags.plan.expect.length_bytes = typed.expect_length;
  if (!typed.expect_body.empty()) {
    auto expected = text_or_file(typed.expect_body);
    if (!expected) return std::unexpected(expected.error().within("--expect-body"));
    flags.plan.expect.body = std::move(*expected);
  }
  return {};
}

Result<void> check_tls(const Url& url, const Flags& flags) {
  const bool has_ca = !flags.tls.authorities_file.empty();
  if (!url.tls && (flags.tls.insecure || has_ca || flags.plan.tls_resume)) {
    return wrong(fmt::format("--insecure, --ca and --tls-resume are of TLS; '{}' is not https://",
                             flags.url));
  }
  if (flags.tls.insecure && has_ca) {
    return wrong("--insecure trusts whoever answers, --ca FILE does not: give one of them");
  }
  return {};
}

Result<void> finish(const Typed& typed, Flags& flags) {
  LoadPlan& plan = flags.plan;
  if (auto read = read_durations(typed, plan); !read) return read;
  if (auto read = read_pace(typed, plan); !read) return read;
  if (auto read = read_connection_ramp(typed, plan); !read) return read;
  if (auto read = read_protocol(typed, plan); !read) return read;
  if (auto read = read_churn(typed, flags); !read) return read;
  if (auto read = read_contents(typed, flags); !read) return read;
  if (auto read = read_requests_file(typed, flags); !read) return read;
  if (auto read = read_websocket(typed, flags); !read) return read;
  if (plan.connections < plan.threads) {
    return wrong(fmt::format("{} threads and {} connections: each thread needs one; give -c {}",
                             plan.threads, plan.connections, plan.threads));
  }
  auto url = parse_url(flags.url);
  if (!url) return std::unexpected(url.error());
  if (plan.websocket && url->tls) {
    return wrong(fmt::format("--websocket is without TLS; '{}' is https://", flags.url));
  }
  return check_tls(*url, flags);
}

// `--churn` may stand without a number, which must not be taken from what follows.
std::vector<std::string> without_bare_churn(int count, const char* const* arguments) {
  std::vector<std::string> result;
  for (int index = count - 1; index > 0; --index) {
    const std::string_view argument = arguments[index];
    result.emplace_back(argument == "--churn" ? "--churn=1" : argument);
  }
  return result;
}

}  // namespace

Result<std::variant<Flags, Information>> parse_flags(int count, const char* const* arguments) {
  CLI::App app(
      "Loads an HTTP server. Without --rate or --ramp in a closed loop: each connection sends its "
      "next request when the reply is there.",
      program);
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  Flags flags;
  Typed typed;
  describe_load(app, flags, typed);
  describe_tls(app, flags);
  describe_pace(app, flags, typed);
  describe_requests(app, flags, typed);
  command_line::use_words(app);
  try {
    app.parse(without_bare_churn(count, arguments));
  } catch (const CLI::CallForHelp&) {
    return Information{app.help()};
  } catch (const CLI::Success& success) {
    return Information{std::string(success.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    std::string line = command_line::words_of_mistake(app, error);
    std::ranges::replace(line, '\n', ' ');
    return wrong(line);
  }
  if (auto finished = finish(typed, flags); !finished) return std::unexpected(finished.error());
  return flags;
}

Result<Duration> parse_duration(std::string_view text) {
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = read_number(text.substr(0, end));
  const std::string_view unit = text.substr(end);
  struct Unit {
    std::string_view name;
    double ns;
  };
  static constexpr Unit units[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},   {"ms", 1e6},
                                   {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
  const auto* found = std::ranges::find(units, unit, &Unit::name);
  if (!number || found == std::end(units) || *number * found->ns > 3e16) {
    return wrong(fmt::format("'{}' is no duration such as 500ms, 10s or 2m", text));
  }
  return Duration{std::llround(*number * found->ns)};
}

Result<std::bitset<600>> parse_statuses(std::string_view text) {
  std::bitset<600> statuses;
  std::string_view rest = text;
  do {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const bool is_class =
        one.size() == 3 && one.substr(1) == "xx" && one[0] >= '1' && one[0] <= '5';
    const auto number = read_number(one);
    const bool is_status = one.size() == 3 && number && *number >= 100 && *number < 600;
    if (!is_class && !is_status) {
      return wrong(
          fmt::format("--expect-status '{}': '{}' is neither a status nor 1xx to 5xx", text, one));
    }
    const auto first =
        is_class ? static_cast<std::size_t>(one[0] - '0') * 100 : static_cast<std::size_t>(*number);
    for (std::size_t status = first; status < first + (is_class ? 100 : 1); ++status) {
      statuses.set(status);
    }
  } while (!rest.empty());
  return statuses;
}

Result<RatePlan> parse_ramp(std::string_view text, double from) {
  RatePlan plan;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view piece = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const auto colon = std::min(piece.find(':'), piece.size());
    const auto duration = parse_duration(piece.substr(0, colon));
    const double rate =
        colon < piece.size() ? read_number(piece.substr(colon + 1)).value_or(-1) : -1;
    if (!duration || duration->ns == 0 || rate < 0 || rate > 1e9) {
      return wrong(fmt::format("--ramp '{}': '{}' is not TIME:RATE, such as 5s:1000", text, piece));
    }
    plan.add(*duration, from, rate);
    from = rate;
  }
  return plan;
}

Result<ConnectionRamp> parse_connection_ramp(std::string_view text) {
  ConnectionRamp ramp;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view piece = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const auto colon = std::min(piece.find(':'), piece.size());
    const auto duration = parse_duration(piece.substr(0, colon));
    const double count =
        colon < piece.size() ? read_number(piece.substr(colon + 1)).value_or(0) : 0;
    if (!duration || duration->ns == 0 || !(count >= 1 && count <= 1'000'000) ||
        count != std::floor(count)) {
      return wrong(fmt::format("--connection-ramp '{}': '{}' is not TIME:COUNT, such as 5s:100",
                               text, piece));
    }
    ramp.add(*duration, static_cast<std::uint32_t>(count));
  }
  return ramp;
}

Result<std::string> read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr)
    return fail(Code::not_found, fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  char piece[16 * 1024];
  std::size_t got = 0;
  while ((got = std::fread(piece, 1, sizeof piece, file)) > 0) text.append(piece, got);
  const bool is_whole = std::ferror(file) == 0;
  std::fclose(file);
  if (!is_whole) return fail(Code::data_loss, fmt::format("{}: cannot be read", path));
  return text;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
