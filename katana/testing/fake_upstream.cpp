#include "katana/testing/fake_upstream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_loop.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::testing {
namespace {

// The replies to give, and the received requests. For one reactor.
struct Script {
  std::vector<UpstreamRequest> requests;
  Duration delay = {};
  unsigned failures_left = 0;
  unsigned failure_status = 503;
  unsigned resets_left = 0;
};

// Requests that the body is collected although the route does not ask for it.
class ContentWanted final : public katana::detail::MiddlewareFunction {
 public:
  ContentWanted() : MiddlewareFunction(true, nullptr, {}) {}
  Progress run(const katana::detail::Call&, katana::detail::RequestContext&) const override {
    return Progress::goes_on;
  }
};

// Records requests on their way to the dispatcher, and fails those that the script selects.
class Recorder final : public session::RequestHandler {
 public:
  Recorder(session::RequestHandler& handler, Script& script) : handler_(handler), script_(script) {}

  void on_request(session::Exchange& exchange, const http::Head& head) noexcept override {
    record(exchange, head);
    if (script_.resets_left > 0) {
      --script_.resets_left;
      return exchange.abort();
    }
    if (script_.failures_left > 0) {
      --script_.failures_left;
      return exchange.respond({.status = script_.failure_status, .content_type = {}, .fields = {}},
                              {}, true);
    }
    handler_.on_request(exchange, head);
  }
  void on_content_collected(session::Exchange& exchange, const http::Head& head,
                            Bytes content) noexcept override {
    if (const auto found = waiting_.find(&exchange); found != waiting_.end()) {
      if (found->second < script_.requests.size()) {
        UpstreamRequest& request = script_.requests[found->second];
        request.content = content;
        request.complete = true;
      }
      waiting_.erase(found);
    }
    handler_.on_content_collected(exchange, head, content);
  }
  void on_resumed(session::Exchange& exchange, const http::Head& head) noexcept override {
    handler_.on_resumed(exchange, head);
  }
  void on_refused(session::Exchange& exchange, const http::Head* head, unsigned status,
                  Bytes detail) noexcept override {
    handler_.on_refused(exchange, head, status, detail);
  }
  void forget() noexcept { waiting_.clear(); }

 private:
  void record(session::Exchange& exchange, const http::Head& head) {
    UpstreamRequest& request = script_.requests.emplace_back();
    request.method = head.method_text();
    request.target = head.target();
    for (std::size_t index = 0; index < head.field_count(); ++index) {
      request.fields.emplace_back(head.name(index), head.value(index));
    }
    request.complete = !exchange.content_pending();
    if (!request.complete) waiting_[&exchange] = script_.requests.size() - 1;
  }

  session::RequestHandler& handler_;
  Script& script_;
  std::map<const session::Exchange*, std::size_t> waiting_;  // for content: request index
};

// Returns "https://api.example:443", as the client calls it.
Result<std::string> origin_of(const std::string& url) {
  const std::size_t end = url.find("://");
  const std::string scheme = url.substr(0, std::min(end, url.size()));
  std::string rest = end == std::string::npos ? std::string() : url.substr(end + 3);
  if (rest.ends_with('/')) rest.pop_back();
  const auto authority = http::split_authority(rest);
  if ((scheme != "http" && scheme != "https") || !authority || authority->host.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is not the URL of a server: give one such as "
                            "https://api.example or http://127.0.0.1:8081",
                            url));
  }
  const std::uint16_t implied = scheme == "https" ? 443 : 80;
  const std::uint16_t port = authority->port.value_or(implied);
  std::string host(authority->host);
  std::ranges::transform(host, host.begin(), http::to_lower);
  if (authority->bracketed) host = fmt::format("[{}]", host);
  return fmt::format("{}://{}:{}", scheme, host, port);
}

}  // namespace

std::string_view UpstreamRequest::field(std::string_view name) const noexcept {
  for (const auto& [own, value] : fields) {
    if (std::ranges::equal(own, name, {}, http::to_lower, http::to_lower)) return value;
  }
  return {};
}

struct FakeUpstream::Core {
  Core(TestLoop& of, std::string at, Service built, std::unique_ptr<Script> with)
      : loop(of),
        origin(std::move(at)),
        script(std::move(with)),
        service(std::move(built)),
        dispatcher(service),
        recorder(dispatcher, *script),
        http1({}, recorder),
        http2({}, recorder, http1.counters(), &http1.websockets()) {
    http1.set_http2(&http2);
    come_back();
  }
  ~Core() { go_down(); }

  void come_back() {
    if (reactor) return;
    reactor.emplace(test_reactor_options(), std::max(http1.session_bytes(), http2.session_bytes()),
                    loop.network());
    KATANA_CHECK(reactor->start());
    KATANA_CHECK(reactor->listen({}, http1));
    loop.add_before(*reactor);
    loop.upstreams()[origin] = reactor->port(0);
  }
  // The name stays known: connections to it are refused.
  void go_down() {
    if (!reactor) return;
    loop.remove(*reactor);
    reactor.reset();
    recorder.forget();
  }

  TestLoop& loop;
  const std::string origin;
  const std::unique_ptr<Script> script;
  Service service;
  Dispatcher dispatcher;
  Recorder recorder;
  session::Http1Protocol http1;
  session::Http2Protocol http2;
  std::optional<net::ReactorOn<engine::SimEngine>> reactor;  // none: it is down
};

FakeUpstream::FakeUpstream(TestLoop& loop, std::string url,
                           const std::function<void(Router&)>& routes) {
  auto origin = origin_of(url);
  if (!origin) {
    problem_ = origin.error().describe();
    loop.add_upstream_problem(problem_);
    return;
  }
  auto script = std::make_unique<Script>();
  Router router;
  router.use(Middleware{.function = std::make_shared<const ContentWanted>()});
  router.use([of = script.get()]() -> Task<void> {
    if (of->delay > Duration{}) co_await net::sleep_for(of->delay);
  });
  routes(router);
  auto built = std::move(router).build();
  if (!built) {
    problem_ = built.error().within("upstream " + url).describe();
    loop.add_upstream_problem(problem_);
    return;
  }
  core_ = std::make_unique<Core>(loop, *std::move(origin), *std::move(built), std::move(script));
}

FakeUpstream::~FakeUpstream() {
  if (core_) core_->loop.upstreams().erase(core_->origin);
}

const std::vector<UpstreamRequest>& FakeUpstream::requests() const noexcept {
  static const std::vector<UpstreamRequest> none;
  return core_ ? core_->script->requests : none;
}

void FakeUpstream::forget_requests() noexcept {
  if (!core_) return;
  core_->script->requests.clear();
  core_->recorder.forget();
}

void FakeUpstream::go_down() {
  if (core_) core_->go_down();
}

void FakeUpstream::come_back() {
  if (core_) core_->come_back();
}

void FakeUpstream::delay(Duration time) noexcept {
  if (core_) core_->script->delay = time;
}

void FakeUpstream::fail_next(unsigned count, unsigned status) noexcept {
  if (!core_) return;
  core_->script->failures_left = count;
  core_->script->failure_status = status;
}

void FakeUpstream::reset_next(unsigned count) noexcept {
  if (core_) core_->script->resets_left = count;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
