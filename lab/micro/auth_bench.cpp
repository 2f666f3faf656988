// What does a request with a token cost whose signature is known to be right? The authenticator's
// whole work: the field is found, the token compared with the one that is kept, the clock read.
#include <fmt/format.h>
#include <chrono>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "lab/micro/micro.hpp"

namespace {

using namespace katana;

// Authenticators of tokens do not look at it.
struct NoExchange final : session::Exchange {
  bool answers_head() const noexcept override { return false; }
  std::optional<std::uint64_t> content_length() const noexcept override { return std::nullopt; }
  net::Reactor& reactor() noexcept override { std::abort(); }
  engine::PeerAddress peer() noexcept override { std::abort(); }
  session::Arrival arrival() noexcept override { return {}; }
  engine::Listener listener() noexcept override { std::abort(); }
  const net::ConnectionCounters& connection_counters() noexcept override { std::abort(); }
  void collect_content(std::uint64_t) override {}
  void stream_content(std::uint64_t) override {}
  void want_content() noexcept override {}
  void defer_request() override {}
  void resume_request() noexcept override {}
  void respond(const http::ReplyHead&, Bytes, bool) noexcept override {}
  void begin_reply(const http::ReplyHead&) noexcept override {}
  bool write(Bytes) noexcept override { return false; }
  void end_reply() noexcept override {}
  bool reply_begun() const noexcept override { return false; }
  void close_after_reply() noexcept override {}
  void abort() noexcept override {}
  void note_failure() noexcept override {}
  Duration handler_time() const noexcept override { return {}; }
};

// A head as browsers and programs send it, with a token.
struct Head {
  explicit Head(Bytes token) {
    text = "GET /orders HTTP/1.1\r\n";
    head.begin(text.data());
    add("Host", "orders.example");
    add("User-Agent", "bench/1.0");
    add("Accept", "*/*");
    add("Authorization", "Bearer " + std::string(token));
    head.rebase(text.data());
    head.set_request_line(http::Method::get, {0, 3}, {4, 7}, 1);
  }
  void add(Bytes name, Bytes value) {
    const auto slice = [](std::size_t at, std::size_t size) {
      return http::Slice{static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size)};
    };
    const std::size_t at = text.size();
    text.append(name).append(": ").append(value).append("\r\n");
    head.add_field(slice(at, name.size()), slice(at + name.size() + 2, value.size()));
  }
  std::string text;
  http::Head head;
};

std::string token_of(const jose::SigningKey& key, std::size_t bytes) {
  jose::Claims claims = {.issuer = "https://id.example",
                         .subject = "ann",
                         .expires_at = current_time() + std::chrono::hours(1)};
  std::string token = *jose::sign_jwt(key, claims);
  if (token.size() < bytes) {
    claims.others = {{"text", std::string((bytes - token.size()) * 3 / 4, 'a')}};
    token = *jose::sign_jwt(key, claims);
  }
  return token;
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("auth", count, arguments);
  const jose::SigningKey key =
      *jose::SigningKey::from_secret(jose::Algorithm::hs256, "4f8a61c0d97be2350a6f18c4e7d29b53");
  const auth::Authentication bearer = auth::bearer(
      {.keys = std::make_shared<auth::TokenKeys>(auth::TokenKeys::Set{key.verification_key()})});
  const auth::Authenticator& authenticator = *bearer.authenticators().front();
  NoExchange exchange;
  const PathParameters parameters;
  const std::uint64_t operations = suite.operations(1'000'000);
  for (const std::size_t bytes : {300u, 600u, 1200u}) {
    const Head head(token_of(key, bytes));
    const RequestView request(head.head, "/orders", "", parameters, "");
    const std::string question = fmt::format("a kept token of {} octets", bytes);
    const auto* answers = suite.ask(
        {question, "ns"},
        {{"katana", [&] {
            return micro::time_operations(operations, [&] {
              for (std::uint64_t done = 0; done < operations; ++done) {
                const auth::Attempt attempt = authenticator.attempt(request, exchange);
                micro::expect(attempt.verdict && attempt.verdict->has_value(), "a principal");
              }
            });
          }}});
    if (bytes == 300) suite.target(question, answers, "katana", 150, micro::at_most);
    if (bytes == 600) suite.target(question, answers, "katana", 400, micro::at_most);
  }
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
