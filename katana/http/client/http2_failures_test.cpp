// Failures of connections, and uploads that wait for 100.
#include "katana/http/client/http2_driver_fixture_test.hpp"

namespace katana::client {
namespace {

using http2::number;
using testing::HasSubstr;

TEST_F(Http2DriverTest, the_code_of_a_goaway_is_told_when_its_connection_ends) {
  HttpClientOptions options = http2_options();
  options.retries_max = 0;
  use(options);
  Reply& asked = post();
  greet(0);
  go_away(0, 1, ErrorCode::enhance_your_calm);
  close_by_server(0);
  EXPECT_THAT(error_of(asked), HasSubstr("(GOAWAY, ENHANCE_YOUR_CALM)"));
  Reply& other = post();
  greet(1);
  go_away(1, 1);
  close_by_server(1);
  EXPECT_THAT(error_of(other), testing::Not(HasSubstr("GOAWAY")));
}

TEST_F(Http2DriverTest, a_failure_is_data_loss_or_a_deadline_and_names_the_option_that_helps) {
  const std::string settings = frame(FrameType::settings, 0, 0);
  std::string openings = settings + frame(FrameType::headers, 0, 1, "x");
  for (int count = 0; count < 20; ++count) openings += frame(FrameType::continuation, 0, 1, "x");
  const auto error_with = [&](const std::string& said) {
    Reply& asked = get();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    say(index, said);
    turn(seconds(30));
    turn();
    turn();
    return asked.done() ? asked.result().error() : Error(Code::internal, "it is not done");
  };
  const Error flood = error_with(openings);
  EXPECT_EQ(flood.code(), Code::data_loss);
  EXPECT_THAT(flood.describe(), HasSubstr("raise head_bytes_max"));
  const Error malformed =
      error_with(settings + frame(FrameType::headers, http2::flag_end_headers, 2, "\x88"));
  EXPECT_EQ(malformed.code(), Code::data_loss);
  EXPECT_THAT(malformed.describe(), testing::Not(HasSubstr("raise head_bytes_max")));
  const Error late = error_with(settings + frame(FrameType::headers, 0, 1, "\x88"));
  EXPECT_EQ(late.code(), Code::deadline_exceeded) << late.describe();
}

Task<Result<Text>> read_abc(int& reads) { co_return Text(std::string(++reads == 1 ? "abc" : "")); }

TEST_F(Http2DriverTest, with_expect_the_status_100_alone_lets_the_content_go) {
  int reads = 0;
  const auto source = std::make_shared<FunctionSource>([&reads] { return read_abc(reads); });
  Reply& asked = fetch(Request("PUT", home_url).content(source, "a/b").expect_continue());
  greet();
  frames();
  say(0, head(0, 1, {{":status", "103"}}, false));
  EXPECT_EQ(reads, 0);
  say(0, head(0, 1, {{":status", "100"}}, false));
  say(0, frame(FrameType::window_update, 0, 0, number(1000)) +
             frame(FrameType::settings, 0, 0, std::string("\0\3\0\0\0\377", 6)));
  for (int count = 0; count < 6; ++count) turn();
  EXPECT_EQ(reads, 2) << "the content and its end";
  std::size_t content_frames = 0;
  for (const std::string& each : frames()) content_frames += each.starts_with("DATA 1") ? 1 : 0;
  EXPECT_EQ(content_frames, 2u);
  say(0, reply(0, 1));
  EXPECT_EQ(error_of(asked), "status 200");
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
