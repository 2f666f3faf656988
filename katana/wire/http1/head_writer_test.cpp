#include "katana/wire/http1/head_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>

#include "katana/wire/http/status.hpp"

namespace katana::http1 {
namespace {

using Length = HeadWriter::Length;
using Persistence = HeadWriter::Persistence;

struct Given {
  unsigned status = 200;
  std::string type;
  std::string fields;
  Length length = Length::content_length;
  std::uint64_t content_length = 0;
  Persistence persistence = Persistence::implied;
};

// A head as RFC 9112 §4 words it.
std::string expected_head(const Given& given, const std::string& server_and_date) {
  std::string head = "HTTP/1.1 " + std::to_string(given.status) + " ";
  head.append(http::reason_phrase(given.status)).append("\r\n").append(server_and_date);
  if (!given.type.empty()) head += "Content-Type: " + given.type + "\r\n";
  if (given.length == Length::content_length) {
    head += "Content-Length: " + std::to_string(given.content_length) + "\r\n";
  }
  if (given.length == Length::chunked) head += "Transfer-Encoding: chunked\r\n";
  head += given.fields;
  if (given.persistence == Persistence::close) head += "Connection: close\r\n";
  if (given.persistence == Persistence::keep_alive) head += "Connection: keep-alive\r\n";
  return head + "\r\n";
}

// Writes into a heap block of the size that is asked for: AddressSanitizer then finds a write
// outside of it.
std::string write(HeadWriter& writer, const Given& given) {
  // A copy: a type is then never known by its address.
  const std::string type = given.type;
  const http::ReplyHead head{
      .status = given.status, .content_type = type, .fields = given.fields, .content_length = 0};
  const auto block = std::make_unique<char[]>(writer.bytes_max(head));
  const char* const end =
      writer.write(block.get(), head, given.length, given.content_length, given.persistence);
  return {block.get(), static_cast<std::size_t>(end - block.get())};
}

TEST(HeadWriter, a_head_does_not_depend_on_the_heads_before_it) {
  const std::array<std::string, 4> server_and_dates = {"", "Server: katana\r\n",
                                                       "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
                                                       "Server: " + std::string(400, 's') + "\r\n"};
  const std::array<unsigned, 6> statuses = {200, 201, 404, 511, 299, 999};
  const std::array<std::string, 7> types = {"",
                                            "text/plain",
                                            "text/plaiN",
                                            "text/html",
                                            std::string(48, 'a'),
                                            std::string(49, 'a'),
                                            std::string(256, 'b')};
  const std::array<std::string, 3> fields = {"", "A: b\r\n",
                                             "C: " + std::string(3000, 'd') + "\r\n"};
  const std::array<std::uint64_t, 4> lengths = {0, 13, 1'000'000, UINT64_MAX};
  std::mt19937 random(1);
  const auto any_of = [&](const auto& values) { return values.at(random() % values.size()); };
  HeadWriter writer;
  std::string server_and_date;
  for (int round = 0; round < 50'000; ++round) {
    if (random() % 16 == 0) {
      server_and_date = any_of(server_and_dates);
      writer.set_server_and_date(server_and_date);
    }
    const Given given{.status = any_of(statuses),
                      .type = any_of(types),
                      .fields = any_of(fields),
                      .length = static_cast<Length>(random() % 3),
                      .content_length = any_of(lengths),
                      .persistence = static_cast<Persistence>(random() % 3)};
    ASSERT_EQ(write(writer, given), expected_head(given, server_and_date));
    ASSERT_EQ(write(writer, given), expected_head(given, server_and_date)) << "again";
  }
}

TEST(HeadWriter, every_registered_status_fits_the_room_that_is_asked_for) {
  for (unsigned status = 100; status <= 999; ++status) {
    HeadWriter writer;
    const Given given{.status = status,
                      .type = "t",
                      .fields = "",
                      .length = Length::content_length,
                      .content_length = UINT64_MAX,
                      .persistence = Persistence::keep_alive};
    ASSERT_EQ(write(writer, given), expected_head(given, ""));
  }
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
