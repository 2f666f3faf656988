#include "katana/http/session/client.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::session {
namespace {

// "GET /", Host and one more field.
class ClientHead {
 public:
  ClientHead(const std::string& name, const std::string& value, const std::string& target = "/")
      : bytes_("GET" + target + "Hostinner.example" + name + value) {
    head_.begin(bytes_.data());
    head_.set_bytes(bytes_.size());
    std::size_t at = 0;
    const auto next = [&at](std::size_t size) {
      const http::Slice slice{static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size)};
      at += size;
      return slice;
    };
    const http::Slice method = next(3);
    head_.set_request_line(http::Method::get, method, next(target.size()), 1);
    const http::Slice host = next(4);
    head_.add_field(host, next(13));
    const http::Slice more = next(name.size());
    head_.add_field(more, next(value.size()));
  }
  const http::Head& head() const { return head_; }

 private:
  std::string bytes_;
  http::Head head_;
};

engine::PeerEndpoint peer_of(Bytes address) {
  return engine::PeerEndpoint::of(*IpAddress::parse(address), 4000);
}

std::shared_ptr<const ProxyTrust> trust_in(Bytes network, http::ForwardedFields fields) {
  const Network networks[] = {*Network::parse(network)};
  return ProxyTrust::make(
      networks, {.fields = fields, .parts = {.client = true, .proto = true, .host = true}});
}

std::string shown_client(const Client& client) {
  return std::string(client.text().bytes()) + " " + client.origin();
}

const ClientHead& forwarded_head() {
  static const ClientHead head("Forwarded", "for=198.51.100.1;proto=https;host=shop.example");
  return head;
}

TEST(Client, without_trusted_proxies_is_the_peer_the_listener_and_the_authority) {
  EXPECT_EQ(ProxyTrust::make({}, {.fields = http::ForwardedFields::forwarded}), nullptr);
  const Client plain = client_of({.peer = peer_of("192.0.2.1")}, forwarded_head().head());
  EXPECT_EQ(shown_client(plain), "192.0.2.1:4000 http://inner.example");
  EXPECT_FALSE(plain.is_forwarded);
  const Client tls =
      client_of({.peer = peer_of("192.0.2.1"), .is_secure = true}, forwarded_head().head());
  EXPECT_EQ(shown_client(tls), "192.0.2.1:4000 https://inner.example");
  EXPECT_EQ(tls.port(), 4000);
}

TEST(Client, is_what_a_trusted_proxy_says_in_the_fields_that_are_configured) {
  const auto forwarded = trust_in("192.0.2.0/24", http::ForwardedFields::forwarded);
  const Client client =
      client_of({.peer = peer_of("192.0.2.1"), .trust = forwarded}, forwarded_head().head());
  EXPECT_EQ(shown_client(client), "198.51.100.1 https://shop.example");
  EXPECT_TRUE(client.is_forwarded);
  EXPECT_TRUE(client.is_secure());
  EXPECT_EQ(client.port(), std::nullopt);
  for (const std::string part : {"for=198.51.100.1", "proto=https", "host=shop.example"}) {
    const ClientHead head("Forwarded", part);
    EXPECT_TRUE(
        client_of({.peer = peer_of("192.0.2.1"), .trust = forwarded}, head.head()).is_forwarded)
        << part;
  }
  const auto other = trust_in("192.0.2.0/24", http::ForwardedFields::x_forwarded);
  EXPECT_EQ(shown_client(
                client_of({.peer = peer_of("192.0.2.1"), .trust = other}, forwarded_head().head())),
            "192.0.2.1:4000 http://inner.example");
}

TEST(Client, the_host_is_that_of_the_request_unless_the_proxies_are_known_to_write_it) {
  const Network networks[] = {*Network::parse("192.0.2.0/24")};
  const auto usual = ProxyTrust::make(networks, {.fields = http::ForwardedFields::forwarded});
  EXPECT_EQ(shown_client(
                client_of({.peer = peer_of("192.0.2.1"), .trust = usual}, forwarded_head().head())),
            "198.51.100.1 https://inner.example");
}

TEST(Client, nobody_else_is_believed) {
  const auto trust = trust_in("192.0.2.0/24", http::ForwardedFields::forwarded);
  EXPECT_EQ(shown_client(
                client_of({.peer = peer_of("192.0.3.1"), .trust = trust}, forwarded_head().head())),
            "192.0.3.1:4000 http://inner.example");
  const engine::PeerEndpoint user{.address = {0, 0, 3, 232},
                                  .family = engine::PeerEndpoint::Family::local};
  EXPECT_EQ(shown_client(client_of({.peer = user, .trust = trust}, forwarded_head().head())),
            "unix:uid=1000 http://inner.example");
  const auto local = trust_in("unix", http::ForwardedFields::forwarded);
  EXPECT_EQ(shown_client(client_of({.peer = user, .trust = local}, forwarded_head().head())),
            "198.51.100.1 https://shop.example");
}

TEST(Client, a_peer_of_ipv4_on_a_socket_of_ipv6_is_trusted_by_its_network_of_ipv4) {
  const auto trust = trust_in("192.0.2.0/24", http::ForwardedFields::forwarded);
  engine::PeerEndpoint mapped{.port = 1, .family = engine::PeerEndpoint::Family::v6};
  mapped.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
  EXPECT_TRUE((Arrival{.peer = mapped, .trust = trust}.from_proxy()));
}

TEST(Client, what_is_malformed_is_said_to_be_and_left_out) {
  const auto trust = trust_in("192.0.2.0/24", http::ForwardedFields::forwarded);
  const ClientHead head("Forwarded", "for=nobody;proto=https");
  const Client client = client_of({.peer = peer_of("192.0.2.1"), .trust = trust}, head.head());
  EXPECT_TRUE(client.is_malformed);
  EXPECT_EQ(client.text().bytes(), "192.0.2.1:4000");
}

TEST(Client, the_host_of_an_absolute_target_comes_before_the_field) {
  const ClientHead head("X", "y", "http://other.example/");
  EXPECT_EQ(authority_of(head.head()), "other.example");
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
