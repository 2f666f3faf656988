// The requests that become a WebSocket connection, those that do not, and the answers to them.
#include "katana/wire/ws/handshake.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/sha1.hpp"

namespace katana::ws {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// A head whose bytes lie behind it.
class Request {
 public:
  explicit Request(const Fields& fields, http::Method method = http::Method::get,
                   unsigned minor_version = 1) {
    std::vector<http::Field> slices;
    const auto add = [this](const std::string& text) {
      const http::Slice slice{static_cast<std::uint16_t>(bytes_.size()),
                              static_cast<std::uint16_t>(text.size())};
      bytes_ += text;
      return slice;
    };
    for (const auto& [name, value] : fields) slices.push_back({add(name), add(value)});
    head_.begin(bytes_.data());
    head_.set_bytes(bytes_.size());
    head_.set_request_line(method, {}, {}, minor_version);
    for (const http::Field& each : slices) head_.add_field(each.name, each.value);
  }
  Request(const Request&) = delete;
  const http::Head& head() const { return head_; }

 private:
  std::string bytes_;
  http::Head head_;
};

Fields fields_with(const std::string& name, const std::string& value) {
  Fields fields{{"Host", "example.org"},
                {"Upgrade", "websocket"},
                {"Connection", "keep-alive, Upgrade"},
                {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                {"Sec-WebSocket-Version", "13"}};
  for (auto& each : fields) {
    if (each.first != name) continue;
    each.second = value;
    return fields;
  }
  fields.emplace_back(name, value);
  return fields;
}

Handshake judge(const std::string& name, const std::string& value,
                const HandshakeOptions& options = {}) {
  return judge_handshake(Request(fields_with(name, value)).head(), options);
}

std::string answer_to(const Handshake& handshake) {
  std::string answer(answer_bytes_max, '\0');
  answer.resize(static_cast<std::size_t>(write_answer(answer.data(), handshake) - answer.data()));
  return answer;
}

constexpr auto abc_digest = sha1("abc");
static_assert(abc_digest[0] == 0xa9 && abc_digest[1] == 0x99 && abc_digest[19] == 0x9d);

TEST(Handshake, the_example_of_the_standard_is_answered_as_it_says) {
  const Handshake handshake = judge("Host", "server.example.com");
  ASSERT_EQ(handshake.refusal, HandshakeRefusal::none);
  EXPECT_EQ(answer_to(handshake),
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
}

TEST(Handshake, digests_over_the_end_of_a_block_are_those_of_others) {
  const auto digest = sha1(std::string(120, 'a'));
  EXPECT_EQ(digest[0], 0xf3);
  EXPECT_EQ(digest[1], 0x4c);
}

TEST(Handshake, what_is_missing_is_told_with_its_status) {
  struct Row {
    const char* name;
    const char* value;
    HandshakeRefusal refusal;
    unsigned status;
  };
  const Row rows[] = {
      {"Upgrade", "h2c", HandshakeRefusal::no_upgrade, 426},
      {"Connection", "keep-alive", HandshakeRefusal::no_upgrade, 426},
      {"Sec-WebSocket-Version", "8", HandshakeRefusal::other_version, 426},
      {"Sec-WebSocket-Version", "13, 8", HandshakeRefusal::other_version, 426},
      {"Sec-WebSocket-Key", "short==", HandshakeRefusal::bad_key, 400},
      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ= ", HandshakeRefusal::bad_key, 400},
      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j\"Q==", HandshakeRefusal::bad_key, 400},
      {"Sec-WebSocket-Protocol", "a b", HandshakeRefusal::bad_subprotocols, 400},
      {"Origin", "https://evil.example", HandshakeRefusal::foreign_origin, 403},
      {"Origin", "null", HandshakeRefusal::foreign_origin, 403},
      {"Origin", "https://example.org:8443", HandshakeRefusal::foreign_origin, 403},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(judge(row.name, row.value).refusal, row.refusal) << row.name << ": " << row.value;
    EXPECT_EQ(text_of(row.refusal).status, row.status);
  }
}

// RFC 6455 §9.1, also if the server compresses nothing.
TEST(Handshake, extensions_that_do_not_fit_their_grammar_fail_the_handshake) {
  const char* const malformed[] = {
      "",  // a list has at least one extension
      " , ",
      "a b",
      "a;",
      ";a",
      "a;;b",
      "a; =1",
      "a; b=",
      "a; b=c d",
      "a; b=\"\"",
      "a; b=\"c d\"",  // a token in quotes is a token, too
      "a; b=\"c;d\"",
      "a; b=\"c,d\"",
      "a; b=\"c",
      "a; b=\"c\\",
      "a; b=\"c\"d",
      "a=1",
      "a(b)",
      "permessage-deflate, a b",
  };
  const char* const well_formed[] = {
      "a", "a, ,b", "x-a; b; c=1 ; d=\"e\",f", "a; b=\"c\\d\"", "permessage-deflate; unknown=1",
  };
  EXPECT_EQ(text_of(HandshakeRefusal::bad_extensions).status, 400u);
  for (const int window_bits : {0, 15}) {
    for (const bool on_stream : {false, true}) {
      const HandshakeOptions options{.on_stream = on_stream, .deflate_window_bits = window_bits};
      for (const char* const value : malformed) {
        EXPECT_EQ(judge("Sec-WebSocket-Extensions", value, options).refusal,
                  HandshakeRefusal::bad_extensions)
            << value;
      }
      for (const char* const value : well_formed) {
        EXPECT_EQ(judge("Sec-WebSocket-Extensions", value, options).refusal, HandshakeRefusal::none)
            << value;
      }
    }
  }
}

// RFC 9110 §5.3: an empty line is an empty element of the list.
TEST(Handshake, extensions_on_several_lines_are_one_list) {
  Fields fields = fields_with("Sec-WebSocket-Extensions", "");
  fields.emplace_back("Sec-WebSocket-Extensions", "permessage-deflate");
  const Handshake handshake = judge_handshake(Request(fields).head(), {.deflate_window_bits = 15});
  EXPECT_EQ(handshake.refusal, HandshakeRefusal::none);
  EXPECT_EQ(handshake.window_bits, 15);
  fields.emplace_back("Sec-WebSocket-Extensions", "a;");
  EXPECT_EQ(judge_handshake(Request(fields).head(), {}).refusal, HandshakeRefusal::bad_extensions);
}

TEST(Handshake, a_window_of_one_digit_is_answered_with_one_digit) {
  const Handshake handshake =
      judge("Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=9",
            {.deflate_window_bits = 15});
  EXPECT_EQ(handshake.window_bits, 9);
  EXPECT_TRUE(answer_to(handshake).ends_with("; server_max_window_bits=9\r\n"))
      << answer_to(handshake);
}

TEST(Handshake, a_refused_handshake_agrees_on_no_extension) {
  Fields fields = fields_with("Sec-WebSocket-Extensions", "permessage-deflate");
  fields.emplace_back("Origin", "https://evil.example");
  const Handshake handshake = judge_handshake(Request(fields).head(), {.deflate_window_bits = 15});
  EXPECT_EQ(handshake.refusal, HandshakeRefusal::foreign_origin);
  EXPECT_EQ(handshake.window_bits, 0);
}

TEST(Handshake, a_key_or_a_version_that_comes_twice_is_none) {
  Fields fields = fields_with("Sec-WebSocket-Extensions", "");
  fields.emplace_back("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_EQ(judge_handshake(Request(fields).head(), {}).refusal, HandshakeRefusal::bad_key);
  fields.back().first = "sec-websocket-version";
  fields.back().second = "13";
  EXPECT_EQ(judge_handshake(Request(fields).head(), {}).refusal, HandshakeRefusal::other_version);
}

TEST(Handshake, other_methods_and_older_versions_of_http_are_refused) {
  const Fields fields = fields_with("Host", "a");
  EXPECT_EQ(judge_handshake(Request(fields, http::Method::post).head(), {}).refusal,
            HandshakeRefusal::bad_method);
  EXPECT_EQ(judge_handshake(Request(fields, http::Method::get, 0).head(), {}).refusal,
            HandshakeRefusal::old_http);
}

TEST(Handshake, origins_that_may_connect_do) {
  EXPECT_EQ(judge("Origin", "http://EXAMPLE.org").refusal, HandshakeRefusal::none);
  const Bytes more[] = {"https://app.example"};
  HandshakeOptions options{.more_origins = more};
  EXPECT_EQ(judge("Origin", "https://app.example", options).refusal, HandshakeRefusal::none);
  EXPECT_EQ(judge("Origin", "http://app.example", options).refusal,
            HandshakeRefusal::foreign_origin);
  options.host = "outside.example";
  EXPECT_EQ(judge("Origin", "https://outside.example", options).refusal, HandshakeRefusal::none);
  EXPECT_EQ(judge("Origin", "http://EXAMPLE.org", options).refusal,
            HandshakeRefusal::foreign_origin)
      << "the Host field is a proxy's";
  options.origins = Origins::any;
  EXPECT_EQ(judge("Origin", "null", options).refusal, HandshakeRefusal::none);
}

TEST(Handshake, a_default_port_is_the_same_said_or_not_said) {
  HandshakeOptions options;
  options.host = "example.org:443";
  EXPECT_EQ(judge("Origin", "https://example.org", options).refusal, HandshakeRefusal::none);
  options.host = "example.org";
  EXPECT_EQ(judge("Origin", "https://example.org:443", options).refusal, HandshakeRefusal::none);
  options.host = "example.org:80";
  EXPECT_EQ(judge("Origin", "http://example.org", options).refusal, HandshakeRefusal::none);
  EXPECT_EQ(judge("Origin", "https://example.org", options).refusal,
            HandshakeRefusal::foreign_origin);
  const Bytes more[] = {"https://app.example:443"};
  options.more_origins = more;
  EXPECT_EQ(judge("Origin", "https://app.example", options).refusal, HandshakeRefusal::none);
}

TEST(Handshake, a_page_without_tls_may_not_connect_by_tls) {
  HandshakeOptions options;
  options.host = "example.org";
  options.is_secure = true;
  EXPECT_EQ(judge("Origin", "https://example.org", options).refusal, HandshakeRefusal::none);
  EXPECT_EQ(judge("Origin", "http://example.org", options).refusal,
            HandshakeRefusal::foreign_origin);
}

TEST(Handshake, the_first_of_our_subprotocols_that_the_client_names_is_chosen) {
  const Bytes ours[] = {"chat.v2", "chat.v1"};
  const HandshakeOptions options{.subprotocols = ours};
  const Handshake both = judge("Sec-WebSocket-Protocol", "chat.v1, other, chat.v2", options);
  EXPECT_EQ(both.subprotocol, "chat.v2");
  EXPECT_NE(answer_to(both).find("Sec-WebSocket-Protocol: chat.v2\r\n"), std::string::npos);
  EXPECT_EQ(judge("Sec-WebSocket-Protocol", "other", options).subprotocol, "");
  EXPECT_EQ(judge("Sec-WebSocket-Protocol", "Chat.v1", options).subprotocol, "")
      << "names are compared with their case";
}

TEST(Handshake, offers_of_compression_are_taken_or_declined_as_rfc_7692_says) {
  struct Row {
    const char* offer;
    bool accepted;
    int bits;
    bool asked;
  };
  const Row rows[] = {
      {"permessage-deflate", true, 12, false},
      {"permessage-deflate; client_max_window_bits", true, 12, false},
      {"permessage-deflate; client_max_window_bits=10", true, 12, false},
      {"permessage-deflate; server_max_window_bits=10", true, 10, true},
      {"permessage-deflate; server_max_window_bits=\"15\"", true, 12, true},
      {"permessage-deflate;server_no_context_takeover ;client_no_context_takeover", true, 12,
       false},
      {"permessage-deflate; server_max_window_bits=8", false, 0, false},
      {"permessage-deflate; server_max_window_bits=16", false, 0, false},
      {"permessage-deflate; server_max_window_bits=010", false, 0, false},
      {"permessage-deflate; server_max_window_bits=1/", false, 0, false},
      {"permessage-deflate; client_max_window_bits=1.", false, 0, false},
      {"permessage-deflate; server_max_window_bits", false, 0, false},
      {"permessage-deflate; client_max_window_bits=7", false, 0, false},
      {"permessage-deflate; server_no_context_takeover=1", false, 0, false},
      {"permessage-deflate; unknown", false, 0, false},
      {"permessage-deflate; client_max_window_bits; client_max_window_bits", false, 0, false},
      {"permessage-bzip2", false, 0, false},
      {"", false, 0, false},
      {"permessage-deflate; unknown, permessage-deflate; server_max_window_bits=9", true, 9, true},
  };
  for (const Row& row : rows) {
    const DeflateOffer judged = judge_extensions(row.offer, 12);
    EXPECT_EQ(judged.accepted, row.accepted) << row.offer;
    EXPECT_EQ(judged.window_bits, row.bits) << row.offer;
    EXPECT_EQ(judged.window_bits_asked, row.asked) << row.offer;
  }
}

TEST(Handshake, compression_is_agreed_to_only_where_it_is_wanted) {
  constexpr auto* field = "Sec-WebSocket-Extensions";
  EXPECT_EQ(judge(field, "permessage-deflate").window_bits, 0);
  const Handshake agreed =
      judge(field, "permessage-deflate; server_max_window_bits=10", {.deflate_window_bits = 15});
  EXPECT_TRUE(answer_to(agreed).ends_with(
      "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
      "client_no_context_takeover; server_max_window_bits=10\r\n"));
}

TEST(Handshake, the_longest_answer_fits) {
  Handshake longest = judge("Host", "a");
  const std::string name(subprotocol_bytes_max, 'p');
  longest.subprotocol = name;
  longest.window_bits = 15;
  longest.window_bits_asked = true;
  EXPECT_LE(answer_to(longest).size(), answer_bytes_max);
}

// ---- on a stream of HTTP/2 ---------------------------------------------------------------------

// The fields that http2::HeadReader makes of an extended CONNECT.
Fields stream_fields() {
  return {{"host", "example.org"}, {"upgrade", "websocket"}, {"sec-websocket-version", "13"}};
}

std::string stream_answer(Fields fields, const HandshakeOptions& options) {
  const Handshake handshake = judge_handshake(Request(fields).head(), options);
  EXPECT_EQ(handshake.refusal, HandshakeRefusal::none);
  std::array<char, answer_bytes_max> answer;
  char* const end = write_stream_answer(answer.data(), handshake);
  return {answer.data(), end};
}

TEST(StreamHandshake, needs_neither_a_key_nor_the_field_connection) {
  EXPECT_EQ(stream_answer(stream_fields(), {.on_stream = true}), "");
  EXPECT_EQ(judge_handshake(Request(stream_fields()).head(), {}).refusal,
            HandshakeRefusal::no_upgrade);
}

TEST(StreamHandshake, says_what_was_agreed_on_and_nothing_else) {
  Fields fields = stream_fields();
  fields.emplace_back("sec-websocket-protocol", "b, a");
  fields.emplace_back("sec-websocket-extensions", "permessage-deflate");
  constexpr std::array<Bytes, 1> ours = {"a"};
  const HandshakeOptions options{
      .subprotocols = ours, .on_stream = true, .deflate_window_bits = 11};
  EXPECT_EQ(stream_answer(fields, options),
            "Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Extensions: permessage-deflate; "
            "server_no_context_takeover; client_no_context_takeover\r\n");
}

TEST(StreamHandshake, is_refused_to_what_does_not_ask_and_to_pages_of_others) {
  const HandshakeOptions options{.on_stream = true};
  Fields fields = stream_fields();
  fields.erase(fields.begin() + 1);
  EXPECT_EQ(judge_handshake(Request(fields).head(), options).refusal, HandshakeRefusal::no_connect);
  fields = stream_fields();
  fields[2].second = "12";
  EXPECT_EQ(judge_handshake(Request(fields).head(), options).refusal,
            HandshakeRefusal::other_version);
  fields = stream_fields();
  fields.emplace_back("origin", "https://other.example");
  EXPECT_EQ(judge_handshake(Request(fields).head(), options).refusal,
            HandshakeRefusal::foreign_origin);
}

}  // namespace
}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
