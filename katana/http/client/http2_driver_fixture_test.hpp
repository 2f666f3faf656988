// Http2DriverTest: a client of HTTP/2 by prior knowledge; the test is the server, frame by frame.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/client/client_fixture_test.hpp"
#include "katana/wire/http2/peer_test.hpp"

namespace katana::client {

class Http2DriverTest : public ClientTest {
 protected:
  using ErrorCode = http2::ErrorCode;
  using Fields = http2::Fields;
  using FrameType = http2::FrameType;
  using Frames = std::vector<std::string>;

  explicit Http2DriverTest(const HttpClientOptions& options = http2_options())
      : ClientTest(options) {}
  ~Http2DriverTest() override {
    piece.reset();
    stream.reset();
  }

  static HttpClientOptions http2_options() {
    HttpClientOptions options = test_options();
    options.http2 = Http2::prior_knowledge;
    return options;
  }
  static std::string frame(FrameType type, unsigned flags, std::uint32_t id, Bytes payload = {}) {
    return http2::frame(type, flags, id, payload);
  }
  static std::string code(ErrorCode value) {
    return http2::number(static_cast<std::uint32_t>(value));
  }
  static std::string content(std::uint32_t id, const std::string& text, bool last = false) {
    return frame(FrameType::data, last ? unsigned{http2::flag_end_stream} : 0u, id, text);
  }

  // The server receives the bytes that are sent on that link, and sends its settings.
  void greet(std::uint32_t index = 0, const std::string& settings = "") {
    answer(index);
    say(index, frame(FrameType::settings, 0, 0, settings) +
                   frame(FrameType::settings, http2::flag_ack, 0));
  }
  std::string head(std::uint32_t index, std::uint32_t id, const Fields& fields, bool last) {
    const unsigned flags = http2::flag_end_headers | (last ? unsigned{http2::flag_end_stream} : 0u);
    return frame(FrameType::headers, flags, id, deflaters_[index].block(fields));
  }
  std::string reply(std::uint32_t index, std::uint32_t id, const std::string& text = "") {
    const std::string begin = head(index, id, {{":status", "200"}}, text.empty());
    return text.empty() ? begin : begin + content(id, text, true);
  }
  // The frames that the client has sent since the last call: "HEADERS 1 end".
  Frames frames(std::uint32_t index = 0) {
    std::string text = take_sent(index);
    if (Bytes(text).starts_with(http2::client_preface)) {
      text.erase(0, http2::client_preface.size());
    }
    return http2::describe_all(text);
  }
  void cancel(std::uint32_t index, std::uint32_t id, ErrorCode why) {
    say(index, frame(FrameType::rst_stream, 0, id, code(why)));
    turn();
  }
  void go_away(std::uint32_t index, std::uint32_t last, ErrorCode why = ErrorCode::no_error) {
    say(index, frame(FrameType::goaway, 0, 0, http2::number(last) + code(why) + "=hunter2"));
    turn();
  }
  Reply& post(const std::string& text = "") {
    return fetch(Request("POST", home_url).content(text, "text/plain"));
  }
  // A connection that has served one request: the next stream is 3.
  void warm_up() {
    Reply& first = get();
    greet();
    say(0, reply(0, 1));
    ASSERT_EQ(error_of(first), "status 200");
    take_sent(0);
  }
  void open_stream(std::uint32_t id) {
    Task<Result<ResponseStream>> opened = http().open(Request(home_url));
    opened.start();
    turn();
    say(0, head(0, id, {{":status", "200"}}, false));
    stream.emplace(taken(opened));
  }
  std::size_t read() {
    piece.emplace(stream->read());
    piece->start();
    turn();
    turn();
    if (!piece->done()) return 0;
    const auto result = piece->result();
    return result ? result->size() : 0;
  }

  const std::string home_url = "http://server.test/";
  std::optional<ResponseStream> stream;
  std::optional<Task<Result<Text>>> piece;

 private:
  std::map<std::uint32_t, http2::Deflater> deflaters_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
