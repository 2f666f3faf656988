#include "tests/simulation/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "tests/simulation/requests.hpp"

namespace katana::simulation {
namespace {

// Bytes that a client may send and ask for. A piece is what an event of the network carries, and
// costs the same whatever its size.
std::size_t octets_of_a_client(const SimFaults& faults) {
  const std::size_t segment = faults.segment_bytes.max;
  const std::size_t octets = segment <= 64 ? 6'000 : segment <= 1460 ? 60'000 : 1'100'000;
  return faults.fragment > 512 ? octets / 4 : octets;
}

class Drawer {
 public:
  Drawer(Random& random, std::size_t octets) : random_(random), octets_left_(octets) {}

  Plan plan();

 private:
  using Draw = Planned (Drawer::*)();

  std::size_t size(std::size_t most);
  std::string content(std::size_t most) {
    const std::size_t octets = size(most);
    return content_of(octets, random_.next());
  }
  std::int64_t pause_ms() { return static_cast<std::int64_t>(random_.between(0, 60)); }
  std::uint64_t one_of(std::uint64_t count) { return random_.below(count); }
  std::string with_ms(std::string_view path, std::int64_t ms) {
    return fmt::format("{}/{}", path, ms);
  }
  Planned with_content(std::string target, const std::string& content, std::string reply,
                       std::string_view fields = {});
  Planned dressed(Planned request);

  Planned hello_get();
  Planned hello_bytes_of();
  Planned hello_echo();
  Planned hello_unrouted();
  Planned trial_get();
  Planned trial_sleep();
  Planned trial_throw();
  Planned trial_collect();
  Planned trial_stream();
  Planned trial_early();
  Planned malformed(Site site);
  Planned last_of_all();
  Planned breaking();

  void draw_requests(Plan& plan);
  void draw_end(Plan& plan);
  void draw_manners(Plan& plan);
  void stall(Plan& plan);

  Random& random_;
  std::size_t octets_left_;
};

// Draws as many small as large sizes, and no more than is left.
std::size_t Drawer::size(std::size_t most) {
  most = std::min(most, octets_left_);
  const int bits = static_cast<int>(random_.between(0, std::bit_width(most)));
  const std::size_t octets = std::min<std::size_t>(random_.below(std::size_t{1} << bits), most);
  octets_left_ -= octets;
  return octets;
}

Planned Drawer::with_content(std::string target, const std::string& content, std::string reply,
                             std::string_view fields) {
  if (random_.chance(512)) return post(std::move(target), content, std::move(reply), fields);
  return post_chunked(std::move(target), content, std::move(reply), random_, fields);
}

// Fields that mean nothing to the server, and now and then the empty line that may precede a
// request.
Planned Drawer::dressed(Planned request) {
  std::string fields;
  for (std::size_t count = one_of(4); count > 0; --count) {
    fields += fmt::format("X-Field-{}: {}\r\n", count, std::string(size(300), 'v'));
  }
  const std::size_t place = request.head.find("\r\n");
  if (place == std::string::npos || request.last) return request;
  request.head.insert(place + 2, fields);
  if (random_.chance(32)) request.head.insert(0, "\r\n");
  return request;
}

Planned Drawer::hello_get() {
  switch (one_of(5)) {
    case 0: return get("/", "Hello, World!");
    case 1: return get("/plaintext", "Hello, World!");
    case 2: return get("/json", R"({"message":"Hello, World!"})");
    case 3: return get("/./hello/a%20name?x=1", "Hello, a name!");
    default: {
      const std::string name(1 + size(200), 'n');
      return get("/hello/" + name, "Hello, " + name + "!");
    }
  }
}

Planned Drawer::hello_bytes_of() {
  const std::size_t octets = size(1'000'000);
  return get(fmt::format("/bytes/{}", octets), hello_bytes(octets));
}

Planned Drawer::hello_echo() {
  // Twice: it comes back.
  const std::string octets = content(octets_left_ / 2);
  octets_left_ -= std::min(octets_left_, octets.size());
  Planned request = with_content("/echo", octets, octets, "Content-Type: text/x-echo\r\n");
  request.framing_varies = true;
  return random_.chance(256) ? expecting(std::move(request), random_.chance(512)) : request;
}

Planned Drawer::hello_unrouted() {
  switch (one_of(6)) {
    case 0: return get("/nowhere", 404);
    case 1: return get("/hello", 404);
    case 2: return get("/bytes/many", 400);
    case 3: return get("/%zz", 400);
    case 4: {
      Planned request = post("/json", content_of(size(2'000)), "");
      request.status = 405;
      request.reply.reset();
      return request;
    }
    default: {
      Planned request = get("/json", 204);
      request.name = "OPTIONS /json";
      request.head = head_of("OPTIONS", "/json");
      return request;
    }
  }
}

Planned Drawer::trial_get() {
  switch (one_of(10)) {
    case 0: {
      if (octets_left_ < trial_literal_octets) return get("/empty", 204);
      octets_left_ -= trial_literal_octets;
      // The same bytes, from memory and from a file.
      return get(octets_left_ / trial_literal_octets % 2 == 0 ? "/literal" : "/file", 200);
    }
    case 1: {
      const std::size_t octets = size(200'000);
      return get(fmt::format("/text/{}", octets), trial_text(octets));
    }
    case 2: {
      const std::size_t octets = size(2'000);
      return get(fmt::format("/ready/{}", octets), trial_text(octets));
    }
    case 3: return get("/empty", 204);
    case 4: return get("/unmodified", 304);
    case 5: return get("/missing", 404);
    case 6: return get("/guarded/plain", 401);
    case 7: {
      Planned request = get("/guarded/plain", "guarded");
      request.head = head_of("GET", "/guarded/plain", "X-Token: t\r\n");
      return request;
    }
    case 8: {
      Planned request = get("/guarded/sleep/7", "guarded");
      request.head = head_of("GET", "/guarded/sleep/7", "X-Token: t\r\n");
      return request;
    }
    default: {
      const std::size_t lines = size(800) / 8;
      const std::int64_t ms = static_cast<std::int64_t>(one_of(3));
      return get(fmt::format("/ticks/{}/{}", lines, ms), trial_ticks(lines));
    }
  }
}

Planned Drawer::trial_sleep() {
  const std::int64_t ms = pause_ms();
  if (random_.chance(512)) return get(with_ms("/sleep", ms), fmt::format("slept {} ms", ms));
  const std::string token = fmt::format("token-{}", random_.below(1'000'000));
  Planned request = get(with_ms("/owned", ms), fmt::format("/owned/{} {}", ms, token));
  request.head = head_of("GET", with_ms("/owned", ms), fmt::format("X-Token: {}\r\n", token));
  return request;
}

Planned Drawer::trial_throw() {
  return random_.chance(512) ? get("/throw", 500) : get(with_ms("/throw-later", pause_ms()), 500);
}

Planned Drawer::trial_collect() {
  const bool small = random_.chance(256);
  const std::string octets = content(small ? 1'000 : 200'000);
  const std::string path = small                 ? "/collect-small"
                           : random_.chance(512) ? "/collect"
                                                 : with_ms("/collect", pause_ms());
  Planned request = with_content(path, octets, trial_digest(octets));
  return random_.chance(256) ? expecting(std::move(request), random_.chance(512)) : request;
}

Planned Drawer::trial_stream() {
  const std::string octets = content(octets_left_ / 2);
  const std::int64_t ms = octets.size() < 2'000 ? static_cast<std::int64_t>(one_of(3)) : 0;
  Planned request;
  switch (one_of(3)) {
    case 0: request = with_content(with_ms("/read", ms), octets, trial_digest(octets)); break;
    case 1:
      octets_left_ -= std::min(octets_left_, octets.size());
      request = with_content(with_ms("/mirror", ms), octets, trial_mirrored(octets));
      break;
    default:
      // Its reply has begun when it reads, so that there is no 100 any more.
      return with_content("/begun", octets, "begun: " + trial_digest(octets));
  }
  return request.reply && random_.chance(256) && request.head.find("/read") != std::string::npos
             ? expecting(std::move(request), random_.chance(512))
             : request;
}

// Content that is read past: up to 60,000 bytes, so that the connection goes on.
Planned Drawer::trial_early() {
  const std::string octets = content(60'000);
  switch (one_of(3)) {
    case 0: return with_content("/early", octets, "early");
    case 1: return with_content("/early-stream", octets, "early");
    default: return with_content(with_ms("/early", pause_ms()), octets, "early");
  }
}

Planned Drawer::malformed(Site site) {
  struct Malformed {
    const char* name;
    std::string bytes;
    unsigned status;
  };
  const char* const target = site == Site::hello ? "/echo" : "/collect";
  const std::string chunked = head_of("POST", target, "Transfer-Encoding: chunked\r\n");
  const std::array<Malformed, 18> all = {{
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"no request line", "nonsense\r\n\r\n", 400},
      {"another version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
      {"bare LF", "GET / HTTP/1.1\nHost: x\n\n", 400},
      {"space before colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"folded field", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
      {"control character", "GET / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n", 400},
      {"long target", "GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"long head", head_of("GET", "/", "A: " + std::string(17'000, 'x') + "\r\n"), 431},
      {"no number", head_of("POST", "/", "Content-Length: ten\r\n"), 400},
      {"length and chunks",
       head_of("POST", "/", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"unknown coding", head_of("POST", "/", "Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"unknown expectation", head_of("GET", "/", "Expect: more\r\n"), 417},
      {"bad chunk size", chunked + "xyz\r\n", 400},
      {"bad chunk end", chunked + "5\r\nhello, world\r\n", 400},
      {"bad trailer", chunked + "0\r\nno colon\r\n\r\n", 400},
  }};
  const Malformed& chosen = all[one_of(all.size())];
  Planned request = refused(chosen.name, chosen.bytes, chosen.status);
  request.content = std::string(size(50'000), 'x');  // goes on as if nothing were wrong
  return request;
}

// Requests after which the server ends the connection.
Planned Drawer::last_of_all() {
  Planned request;
  switch (one_of(7)) {
    case 0: request = get("/close", "the last"); break;
    case 1:
      request = get("/text/100", trial_text(100));
      request.head = head_of("GET", "/text/100", "Connection: close\r\n");
      break;
    case 2: return as_http10(get("/text/100", trial_text(100)), false);
    case 3: return as_http10(get("/ticks/5/1", trial_ticks(5)), false);
    case 4: {
      request = post("/collect-small", content_of(1'001 + size(100'000)), "");
      request.status = 413;
      request.reply.reset();
      request.lingers = true;
      break;
    }
    case 5: request = get("/never", 503); break;
    default: {
      request = post("/early", content_of(1 + size(20'000)), "early");
      request = expecting(std::move(request), random_.chance(512));
      request.lingers = true;
    }
  }
  request.last = true;
  return request;
}

Planned Drawer::breaking() {
  Planned request = random_.chance(512) ? get(with_ms("/throw-begun", pause_ms()), 200)
                                        : get("/never-begun", 200);
  request.breaks = true;
  return request;
}

void Drawer::draw_requests(Plan& plan) {
  static constexpr std::array<Draw, 8> hello = {
      &Drawer::hello_get, &Drawer::hello_get,      &Drawer::hello_get,  &Drawer::hello_bytes_of,
      &Drawer::hello_get, &Drawer::hello_unrouted, &Drawer::hello_echo, &Drawer::hello_echo};
  static constexpr std::array<Draw, 8> trial = {
      &Drawer::trial_get,     &Drawer::trial_get,    &Drawer::trial_sleep, &Drawer::trial_sleep,
      &Drawer::trial_collect, &Drawer::trial_stream, &Drawer::trial_early, &Drawer::trial_throw};
  const std::size_t count = random_.chance(768)   ? random_.between(1, 6)
                            : random_.chance(512) ? random_.between(7, 40)
                                                  : random_.between(41, 200);
  // Many requests are small ones.
  const bool only_small = count > 6;
  for (std::size_t number = 0; number < count; ++number) {
    const bool is_hello = plan.site == Site::hello;
    Planned request = only_small ? (is_hello ? hello_get() : trial_sleep())
                                 : (this->*(is_hello ? hello : trial)[one_of(8)])();
    const bool is_get = request.head.starts_with("GET ");
    if (is_get && random_.chance(64)) request = as_head(std::move(request));
    if (is_get && random_.chance(32) && request.head.find("/ticks") == std::string::npos)
      request = as_http10(std::move(request), true);
    if (random_.chance(128)) request.think = milliseconds(pause_ms());
    plan.requests.push_back(dressed(std::move(request)));
  }
}

void Drawer::stall(Plan& plan) {
  const bool ends = plan.ending == Ending::half_close;
  Planned whole = random_.chance(512) ? get("/anything", 200)
                                      : post("/collect", content_of(100 + size(3'000)), "");
  if (plan.site == Site::hello) whole.head = head_of("GET", "/json");
  if (plan.site == Site::hello) whole.content.clear();
  const std::size_t octets = random_.between(1, whole.head.size() + whole.content.size() - 1);
  plan.requests.push_back(cut_short(std::move(whole), octets, ends ? 400 : 408));
  plan.requests.back().lingers = !ends;
  if (!ends) plan.ending = Ending::idle;
}

void Drawer::draw_end(Plan& plan) {
  static constexpr std::array<Ending, 8> endings = {
      Ending::close,      Ending::close,      Ending::close, Ending::idle,
      Ending::half_close, Ending::half_close, Ending::leave, Ending::reset};
  plan.ending = endings[one_of(endings.size())];
  plan.ends_after = microseconds(static_cast<std::int64_t>(random_.between(0, 400'000)));
  switch (one_of(8)) {
    case 0: plan.requests.push_back(malformed(plan.site)); break;
    case 1: return stall(plan);
    case 2:
      if (plan.site == Site::trial) plan.requests.push_back(last_of_all());
      break;
    case 3:
      if (plan.site == Site::trial && random_.chance(256)) plan.requests.push_back(breaking());
      break;
    default: break;
  }
  const bool never = !plan.requests.empty() && plan.requests.back().name == "GET /never";
  // A client that ended its side has left, as far as a handler knows that does not answer soon.
  if (never && plan.ending == Ending::half_close) {
    plan.requests.back().breaks = true;
  } else if (plan.requests.size() > 1 && random_.chance(64)) {
    // Behind what ends the connection, there may still be requests.
    plan.requests.push_back(plan.requests.front());
  }
}

void Drawer::draw_manners(Plan& plan) {
  const std::size_t count = std::max<std::size_t>(plan.requests.size(), 1);
  plan.depth = random_.chance(512) ? 1 : random_.between(1, std::min<std::size_t>(count, 200));
  if (random_.chance(256)) {
    plan.slice_octets_max = std::size_t{1} << random_.between(4, 12);
    plan.slice_pause_max = microseconds(static_cast<std::int64_t>(random_.between(1, 3'000)));
  }
  if (random_.chance(192)) plan.reading = Reading::slow;
  if (random_.chance(48)) {
    plan.reading = Reading::stops;
    plan.stops_after = random_.below(20'000);
  }
  plan.start = microseconds(static_cast<std::int64_t>(random_.between(0, 50'000)));
}

Plan Drawer::plan() {
  Plan plan;
  plan.site = random_.chance(384) ? Site::hello : Site::trial;
  if (random_.chance(32)) {
    plan.ending = Ending::idle;  // says nothing at all
    return plan;
  }
  draw_requests(plan);
  draw_end(plan);
  draw_manners(plan);
  return plan;
}

Losses draw_losses(Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1: return Losses::lossy;
    case 2:
    case 3: return Losses::closing;
    default: return Losses::lossless;
  }
}

}  // namespace

Workload draw_workload(std::uint64_t seed) {
  Random random(seed ^ 0x776f726b6c6f6164);
  Workload workload;
  workload.losses = draw_losses(random);
  workload.faults = SimFaults::random(seed);
  if (workload.losses == Losses::lossless) workload.faults = workload.faults.lossless();
  if (workload.losses == Losses::closing) workload.faults.link_reset = 0;
  const std::size_t count = random.between(1, 8);
  for (std::size_t number = 0; number < count; ++number) {
    workload.plans.push_back(Drawer(random, octets_of_a_client(workload.faults)).plan());
  }
  return workload;
}

WorldOptions patient_options(std::uint64_t seed, const SimFaults& faults) {
  WorldOptions options;
  options.seed = seed;
  options.faults = faults;
  options.http.limits.head_timeout = seconds(120);
  options.http.limits.content_timeout = seconds(120);
  options.http.limits.rate_min_bytes_per_s = 16;
  options.reactor.rate_min_bytes_per_s = 16;
  options.reactor.linger_timeout = seconds(30);
  return options;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
