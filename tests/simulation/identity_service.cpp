#include "tests/simulation/identity_service.hpp"

#include <fmt/format.h>

#include <charconv>

#include "katana/http/handlers/websocket.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/trace/span.hpp"

namespace katana::simulation {
namespace {

std::int64_t number_in(const RequestView& request, Bytes field) {
  const Bytes text = request.field(field).value_or("0");
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Bytes id_of(const RequestView& request) { return request.parameters()[0].value; }

std::string reply_to(const RequestView& request) {
  std::string text;
  for (std::int64_t left = number_in(request, "x-repeats"); left > 0; --left) {
    text += id_of(request);
  }
  return text;
}

Text text_for(const RequestView& request) { return Text(reply_to(request)); }

Duration pause_of(const RequestView& request) {
  return milliseconds(number_in(request, "x-pause"));
}

class IdentityEcho final : public WebSocketHandler {
 public:
  IdentityEcho(IdentityService& service, std::string id) : service_(service), id_(std::move(id)) {}
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    if (!payload.starts_with(id_)) service_.fault(fmt::format("{} got '{}'", id_, payload));
    if (socket.send(payload, kind) != SendOutcome::sent) service_.fault("an echo found no room");
  }

 private:
  IdentityService& service_;
  const std::string id_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> Identity::fields() const {
  return {{"x-identity", text},
          {"x-method", method},
          {"x-request-id", text},
          {"traceparent", fmt::format("00-{}-{}-01", trace(), text)},
          {"baggage", "who=" + text},
          {"x-pause", std::to_string(pause_ms)},
          {"x-repeats", std::to_string(repeats)}};
}

std::string Identity::content(std::size_t size) const {
  std::string all;
  while (all.size() < size) all += text;
  all.resize(size);
  return all;
}

std::string Identity::reply() const {
  std::string all;
  for (std::size_t left = repeats; left > 0; --left) all += text;
  return all;
}

void IdentityService::check(const RequestView& request, std::string_view where, Bytes content,
                            std::size_t offset) {
  const Bytes id = id_of(request);
  trace::Span span("check");  // of the request that is current, which is to be this one
  span.set("who", id);
  const auto expect = [&](bool holds, std::string_view part, Bytes found) {
    if (!holds) fault(fmt::format("{} of {}: {} is '{}'", where, id, part, found));
  };
  expect(id.size() == 16, "path", request.path());
  expect(request.query() == fmt::format("id={}", id), "query", request.query());
  expect(request.field("x-identity") == id, "field", request.field("x-identity").value_or("-"));
  expect(request.field("x-method") == request.method_text(), "method", request.method_text());
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == id[(offset + at) % id.size()]) continue;
    expect(false, "content", content.substr(at, 32));
    return;
  }
}

void IdentityService::add_plain(Router& router) {
  router
      .get("/plain/{id}",
           [this](const RequestView& request, Path<std::string>) {
             check(request, "plain", {});
             return Reply::text(text_for(request));
           })
      .get("/later/{id}",
           [this](Request request, Path<std::string>) -> Task<Reply> {
             check(request.view(), "before a pause", {});
             co_await net::sleep_for(pause_of(request.view()));
             check(request.view(), "after a pause", {});
             co_return Reply::text(text_for(request.view()));
           })
      .get("/throw/{id}", [](Request request, Path<std::string>) -> Task<Reply> {
        co_await net::sleep_for(pause_of(request.view()));
        throw std::runtime_error("as it was asked to");
      });
}

void IdentityService::add_streams(Router& router) {
  router
      .get("/stream/{id}",
           [this](Request request, Path<std::string>) -> Task<Reply> {
             co_await net::sleep_for(pause_of(request.view()));
             check(request.view(), "before a stream", {});
             std::string text = reply_to(request.view());
             const bool counted = id_of(request.view())[0] % 2 == 0;
             const auto length =
                 counted ? static_cast<std::int64_t>(text.size()) : http::unknown_length;
             co_return Reply::stream(
                 "text/plain", length,
                 [text = std::move(text), at = std::size_t{0}](ContentSink& sink) mutable {
                   for (; at < text.size(); at += 16) {
                     if (!sink.write(Bytes(text).substr(at, 16))) return false;
                   }
                   return true;
                 });
           })
      .get("/write/{id}",
           [this](Request request, ReplyWriter reply, Path<std::string>) -> Task<void> {
             reply.begin(200, "text/plain");
             const std::int64_t repeats = number_in(request.view(), "x-repeats");
             for (std::int64_t left = repeats; left > 0; --left) {
               if (left % 64 == 1) co_await net::sleep_for(pause_of(request.view()));
               check(request.view(), "in a stream", {});
               const std::string piece(id_of(request.view()));
               co_await reply.write(piece);
             }
           });
}

void IdentityService::add_content(Router& router) {
  router
      .post("/gather/{id}",
            [this](const RequestView& request, Path<std::string>) {
              check(request, "collected", request.content());
              return Reply::text(text_for(request));
            })
      .post("/digest/{id}",
            [this](Request request, Path<std::string>) -> Task<Reply> {
              check(request.view(), "collected", request.content());
              co_await net::sleep_for(pause_of(request.view()));
              check(request.view(), "collected, after a pause", request.content());
              co_return Reply::text(text_for(request.view()));
            })
      .post("/reflect/{id}",
            [this](Request request, ContentReader content, ReplyWriter reply,
                   Path<std::string>) -> Task<void> {
              std::size_t offset = 0;
              for (Text piece = co_await content.read(); !piece.empty();
                   piece = co_await content.read()) {
                check(request.view(), "a piece", piece.bytes(), offset);
                offset += piece.size();
                if (offset % 2 == 0) co_await net::sleep_for(pause_of(request.view()));
              }
              const std::string text = reply_to(request.view());
              reply.begin(200, "text/plain");
              co_await reply.write(text);
            });
}

void IdentityService::add_middleware(Router& router) {
  router.use([this](Request request) -> Task<std::string> {
    std::string id(id_of(request.view()));
    check(request.view(), "middleware, before a pause", {});
    co_await net::sleep_for(pause_of(request.view()));
    check(request.view(), "middleware, after a pause", {});
    co_return id;
  });
  router.use([this](FromContext<std::string> id, const RequestView& request) {
    check(request, "middleware, behind a pause", {});
    if (*id != id_of(request)) fault(fmt::format("{} has the context of {}", id_of(request), *id));
  });
}

void IdentityService::add_routes(Router& router, bool with_waiting_middleware) {
  if (with_waiting_middleware) add_middleware(router);
  Group group = router.group("/guarded");
  group.use({.before = [this](const RequestView& request) -> std::optional<Reply> {
               check(request, "middleware, before", {});
               return std::nullopt;
             },
             .after =
                 [this](const RequestView& request, Reply& reply) {
                   check(request, "middleware, after", {});
                   reply.add_field("X-After", id_of(request));
                 }});
  add_plain(router);
  add_streams(router);
  add_content(router);
  group.get("/{id}", [this](Request request, Path<std::string>) -> Task<Reply> {
    co_await net::sleep_for(pause_of(request.view()));
    check(request.view(), "guarded", {});
    co_return Reply::text(text_for(request.view()));
  });
  router.websocket("/socket/{id}", [this](const RequestView& request) {
    check(request, "handshake", {});
    return std::make_unique<IdentityEcho>(*this, std::string(id_of(request)));
  });
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
