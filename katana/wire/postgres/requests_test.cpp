#include "katana/wire/postgres/requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/wire/postgres/server_test.hpp"

namespace katana::postgres {
namespace {

using test::message;
using test::number;
using test::Sink;
using test::zero_ended;

TEST(PostgresRequests, each_message_has_the_bytes_of_the_documentation) {
  Sink sink;
  EXPECT_EQ(write_query("SELECT 1", sink), Submitted::ok);
  EXPECT_EQ(sink.text, message('Q', zero_ended("SELECT 1")));

  sink.text.clear();
  const std::array<std::uint32_t, 2> types = {23, 0};
  EXPECT_EQ(write_parse({"s1", "SELECT $1", types}, sink), Submitted::ok);
  EXPECT_EQ(sink.text, message('P', zero_ended("s1") + zero_ended("SELECT $1") + number(2, 2) +
                                        number(23, 4) + number(0, 4)));

  sink.text.clear();
  const std::array<Value, 3> values = {Value{"abc"}, Value{"", true}, Value{""}};
  const std::array<Format, 1> binary = {Format::binary};
  const std::array<Format, 2> results = {Format::text, Format::binary};
  EXPECT_EQ(write_bind({"p", "s1", values, binary, results}, sink), Submitted::ok);
  EXPECT_EQ(sink.text,
            message('B', zero_ended("p") + zero_ended("s1") + number(1, 2) + number(1, 2) +
                             number(3, 2) + number(3, 4) + "abc" + number(0xffff'ffff, 4) +
                             number(0, 4) + number(2, 2) + number(0, 2) + number(1, 2)));

  sink.text.clear();
  EXPECT_EQ(write_describe(Kind::statement, "s1", sink), Submitted::ok);
  EXPECT_EQ(write_describe(Kind::portal, "", sink), Submitted::ok);
  EXPECT_EQ(write_execute("p", 100, sink), Submitted::ok);
  EXPECT_EQ(write_close(Kind::statement, "s1", sink), Submitted::ok);
  EXPECT_EQ(write_sync(sink), Submitted::ok);
  EXPECT_EQ(write_flush(sink), Submitted::ok);
  EXPECT_EQ(write_terminate(sink), Submitted::ok);
  EXPECT_EQ(sink.text, message('D', zero_ended("Ss1")) + message('D', zero_ended("P")) +
                           message('E', zero_ended("p") + number(100, 4)) +
                           message('C', zero_ended("Ss1")) + message('S', "") + message('H', "") +
                           message('X', ""));

  sink.text.clear();
  EXPECT_EQ(write_copy_data("1\t2\n", sink), Submitted::ok);
  EXPECT_EQ(write_copy_done(sink), Submitted::ok);
  EXPECT_EQ(write_copy_fail("why", sink), Submitted::ok);
  EXPECT_EQ(sink.text, message('d', "1\t2\n") + message('c', "") + message('f', zero_ended("why")));

  sink.text.clear();
  EXPECT_EQ(write_cancel({0x01020304, "key!"}, sink), Submitted::ok);
  EXPECT_EQ(write_cancel({7, std::string(256, 'k')}, sink), Submitted::ok);
  EXPECT_EQ(sink.text, number(16, 4) + number(80'877'102, 4) + number(0x01020304, 4) + "key!" +
                           number(268, 4) + number(80'877'102, 4) + number(7, 4) +
                           std::string(256, 'k'));
}

TEST(PostgresRequests, messages_of_a_start_have_the_bytes_of_the_documentation) {
  Sink sink;
  const std::array<StartupParameter, 2> parameters = {{{"user", "katana"}, {"database", "d"}}};
  EXPECT_EQ(write_startup(version_3_2, parameters, sink), Submitted::ok);
  EXPECT_EQ(sink.text, number(32, 4) + number(196610, 4) + zero_ended("user") +
                           zero_ended("katana") + zero_ended("database") + zero_ended("d") +
                           std::string(1, '\0'));
  sink.text.clear();
  EXPECT_EQ(write_encryption_request(Encryption::tls, sink), Submitted::ok);
  EXPECT_EQ(write_encryption_request(Encryption::gss, sink), Submitted::ok);
  EXPECT_EQ(sink.text, number(8, 4) + number(80'877'103, 4) + number(8, 4) + number(80'877'104, 4));
  sink.text.clear();
  EXPECT_EQ(write_password("pw", sink), Submitted::ok);
  EXPECT_EQ(write_sasl_initial("SCRAM-SHA-256", "n,,", sink), Submitted::ok);
  EXPECT_EQ(write_sasl("c=biws", sink), Submitted::ok);
  EXPECT_EQ(sink.text, message('p', zero_ended("pw")) +
                           message('p', zero_ended("SCRAM-SHA-256") + number(3, 4) + "n,,") +
                           message('p', "c=biws"));
}

// The bytes behind it would be read as the next part of the message.
TEST(PostgresRequests, a_zero_byte_within_a_text_is_refused) {
  using namespace std::string_view_literals;
  Sink sink;
  const Bytes bad = "a\0b"sv;
  EXPECT_EQ(write_query(bad, sink), Submitted::zero_byte);
  EXPECT_EQ(write_parse({.name = bad}, sink), Submitted::zero_byte);
  EXPECT_EQ(write_parse({.sql = bad}, sink), Submitted::zero_byte);
  EXPECT_EQ(write_bind({.portal = bad}, sink), Submitted::zero_byte);
  EXPECT_EQ(write_bind({.statement = bad}, sink), Submitted::zero_byte);
  EXPECT_EQ(write_describe(Kind::portal, bad, sink), Submitted::zero_byte);
  EXPECT_EQ(write_close(Kind::portal, bad, sink), Submitted::zero_byte);
  EXPECT_EQ(write_execute(bad, 0, sink), Submitted::zero_byte);
  EXPECT_EQ(write_copy_fail(bad, sink), Submitted::zero_byte);
  EXPECT_EQ(write_password(bad, sink), Submitted::zero_byte);
  EXPECT_EQ(write_sasl_initial(bad, "n,,", sink), Submitted::zero_byte);
  for (const StartupParameter& parameter :
       {StartupParameter{bad, "v"}, StartupParameter{"n", bad}, StartupParameter{"", "v"}}) {
    EXPECT_EQ(write_startup(version_3_0, {&parameter, 1}, sink), Submitted::zero_byte);
  }
  EXPECT_EQ(sink.text, "");
}

TEST(PostgresRequests, a_name_that_a_server_would_cut_off_is_refused) {
  Sink sink;
  const std::string longest(63, 'n');
  const std::string longer(64, 'n');
  EXPECT_EQ(write_parse({.name = longer}, sink), Submitted::name_too_long);
  EXPECT_EQ(write_bind({.portal = longer}, sink), Submitted::name_too_long);
  EXPECT_EQ(write_bind({.statement = longer}, sink), Submitted::name_too_long);
  EXPECT_EQ(write_describe(Kind::portal, longer, sink), Submitted::name_too_long);
  EXPECT_EQ(write_close(Kind::portal, longer, sink), Submitted::name_too_long);
  EXPECT_EQ(write_execute(longer, 0, sink), Submitted::name_too_long);
  EXPECT_EQ(sink.text, "");
  EXPECT_EQ(write_parse({.name = longest}, sink), Submitted::ok);
}

TEST(PostgresRequests, what_no_server_takes_is_refused) {
  Sink sink;
  std::vector<Value> values(65536);
  EXPECT_EQ(write_bind({.values = values}, sink), Submitted::too_large);
  values.pop_back();
  EXPECT_EQ(write_bind({.values = values}, sink), Submitted::ok);
  sink.text.clear();
  const std::vector<std::uint32_t> types(65536);
  EXPECT_EQ(write_parse({.types = types}, sink), Submitted::too_large);
  const std::vector<Format> formats(65536);
  EXPECT_EQ(write_bind({.formats = formats}, sink), Submitted::too_large);
  EXPECT_EQ(write_bind({.result_formats = formats}, sink), Submitted::too_large);
  Sink most;
  const std::span<const std::uint32_t> most_types(types.data(), 65535);
  const std::span<const Format> most_formats(formats.data(), 65535);
  EXPECT_EQ(write_parse({.types = most_types}, most), Submitted::ok);
  EXPECT_EQ(write_bind({.formats = most_formats, .result_formats = most_formats}, most),
            Submitted::ok);
  // A view of more than there is: its bytes are not read.
  const Bytes huge("x", std::size_t{1} << 30);
  EXPECT_EQ(write_copy_data(huge, sink), Submitted::too_large);
  const std::array<Value, 1> value = {Value{huge}};
  EXPECT_EQ(write_bind({.values = value}, sink), Submitted::too_large);
  EXPECT_EQ(write_execute("", 0x8000'0000, sink), Submitted::too_large);
  const std::string long_text(10'000, 'x');
  const StartupParameter parameter{"user", long_text};
  EXPECT_EQ(write_startup(version_3_0, {&parameter, 1}, sink), Submitted::too_large);
  EXPECT_EQ(write_cancel({7, std::string(257, 'k')}, sink), Submitted::wrong_state);
  EXPECT_EQ(write_cancel({7, ""}, sink), Submitted::wrong_state);
  EXPECT_EQ(sink.text, "");
}

TEST(PostgresRequests, without_room_for_all_of_it_nothing_is_written) {
  const std::string sql(1000, 's');
  const std::array<Value, 2> values = {Value{"value"}, Value{"not written", true}};
  const StartupParameter parameter{"user", "katana"};
  const std::vector<std::function<Submitted(const Output&)>> all = {
      [&](const Output& output) { return write_query(sql, output); },
      [&](const Output& output) { return write_parse({"s", sql}, output); },
      [&](const Output& output) { return write_bind({.values = values}, output); },
      [](const Output& output) { return write_describe(Kind::portal, "p", output); },
      [](const Output& output) { return write_close(Kind::statement, "s", output); },
      [](const Output& output) { return write_execute("p", 0x7fff'ffff, output); },
      [](const Output& output) { return write_sync(output); },
      [](const Output& output) { return write_copy_data("1\n", output); },
      [](const Output& output) { return write_copy_fail("why", output); },
      [](const Output& output) { return write_password("pw", output); },
      [](const Output& output) { return write_sasl_initial("SCRAM", "n,,", output); },
      [](const Output& output) { return write_cancel({1, "key!"}, output); },
      [&](const Output& output) { return write_startup(version_3_0, {&parameter, 1}, output); },
      [](const Output& output) { return write_encryption_request(Encryption::gss, output); },
  };
  for (const auto& write : all) {
    Sink whole;
    ASSERT_EQ(write(whole), Submitted::ok);
    Sink small(whole.text.size() - 1);
    EXPECT_EQ(write(small), Submitted::no_room);
    EXPECT_EQ(small.text, "");
    Sink exact(whole.text.size());
    EXPECT_EQ(write(exact), Submitted::ok);
    EXPECT_EQ(exact.text, whole.text);
  }
}

// Counts the bytes, and reads none.
struct Counter {
  bool takes(std::size_t) const { return true; }
  void write(Bytes bytes) { count += bytes.size(); }
  std::size_t count = 0;
};

TEST(PostgresRequests, the_largest_message_is_that_which_a_server_takes) {
  Counter counter;
  const Bytes largest("x", request_bytes_max);
  EXPECT_EQ(write_copy_data(largest, counter), Submitted::ok);
  EXPECT_EQ(counter.count, request_bytes_max + header_bytes);
  EXPECT_EQ(write_copy_data(Bytes("x", request_bytes_max + 1), counter), Submitted::too_large);
  Sink sink;
  const std::string value(startup_bytes_max - 4 - 4 - 1 - 5 - 1, 'v');
  const StartupParameter parameter{"user", value};
  EXPECT_EQ(write_startup(version_3_0, {&parameter, 1}, sink), Submitted::ok);
  EXPECT_EQ(sink.text.size(), startup_bytes_max);
  const StartupParameter longer{"users", value};
  EXPECT_EQ(write_startup(version_3_0, {&longer, 1}, sink), Submitted::too_large);
}

TEST(PostgresRequests, an_outbox_takes_messages_larger_than_its_blocks) {
  BlockPool blocks(256, 64);
  Outbox outbox(blocks);
  const std::string large(3000, 'v');
  const std::array<Value, 2> values = {Value{large}, Value{"small"}};
  ASSERT_EQ(write_bind({.values = values}, outbox), Submitted::ok);
  ASSERT_EQ(write_sync(outbox), Submitted::ok);
  std::string written;
  outbox.for_each_pending([&written](Bytes bytes, const Retained*) { written += bytes; });
  Sink sink;
  ASSERT_EQ(write_bind({.values = values}, sink), Submitted::ok);
  ASSERT_EQ(write_sync(sink), Submitted::ok);
  EXPECT_EQ(written, sink.text);
  // A full outbox refuses whole messages.
  int count = 0;
  while (write_bind({.values = values}, outbox) == Submitted::ok) ++count;
  EXPECT_GT(count, 0);
  EXPECT_EQ(outbox.pending() % (sink.text.size() - 5), 5u);
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
