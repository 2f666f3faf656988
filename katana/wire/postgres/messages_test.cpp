#include "katana/wire/postgres/messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/wire/postgres/frame.hpp"
#include "katana/wire/postgres/server_test.hpp"

namespace katana::postgres {
namespace {

using test::message;
using test::number;

std::string text(Bytes bytes) { return std::string(bytes) + '\0'; }

TEST(PostgresFrame, a_message_is_found_once_it_is_whole_and_its_size_is_told_before) {
  const std::string bytes = message('Z', "I");
  const Limits limits;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Frame frame = read_frame(Bytes(bytes).substr(0, size), limits);
    EXPECT_EQ(frame.type, Reply::count_);
    EXPECT_EQ(frame.refusal, Refusal::none);
    EXPECT_EQ(frame.size, size < header_bytes ? header_bytes : bytes.size());
  }
  const std::string two = bytes + "more";
  const Frame frame = read_frame(two, limits);
  EXPECT_EQ(frame.type, Reply::ready);
  EXPECT_EQ(frame.body, "I");
  EXPECT_EQ(frame.size, bytes.size());
}

TEST(PostgresFrame, each_type_is_known_by_its_byte_and_no_other_is) {
  std::size_t known = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const char type = static_cast<char>(byte);
    const Frame frame = read_frame(Bytes(&type, 1), {});
    known += frame.refusal == Refusal::none;
    EXPECT_EQ(frame.refusal == Refusal::none, reply_bytes.find(type) != Bytes::npos) << byte;
  }
  EXPECT_EQ(known, reply_count);
}

// No byte of the body has to be there.
TEST(PostgresFrame, a_length_is_refused_before_its_bytes_are_awaited) {
  Limits limits;
  limits.row_bytes_max = 100;
  limits.report_bytes_max = 90;
  limits.description_bytes_max = 80;
  limits.message_bytes_max = 70;
  limits.authentication_bytes_max = 60;
  EXPECT_EQ(limits.bytes_max(), 265u);  // the limit of a cancel key is fixed
  const auto refusal = [&limits](char type, std::size_t size) {
    std::string bytes(1, type);
    bytes += number(static_cast<std::uint32_t>(size - 1), 4);
    const Frame frame = read_frame(bytes, limits);
    EXPECT_LE(frame.size, limits.bytes_max());
    return frame.refusal;
  };
  const std::string_view fixed = "23cInd1s";
  for (const char type : std::string_view("DdENTtGHCASRv")) {
    const std::size_t max = std::string_view("Dd").contains(type)     ? 100
                            : std::string_view("EN").contains(type)   ? 90
                            : std::string_view("TtGH").contains(type) ? 80
                            : std::string_view("Rv").contains(type)   ? 60
                                                                      : 70;
    EXPECT_EQ(refusal(type, max), Refusal::none) << type;
    EXPECT_EQ(refusal(type, max + 1), Refusal::message_too_large) << type;
    EXPECT_EQ(refusal(type, 0xffff'ffff), Refusal::message_too_large) << type;
    if (type != 'd') {
      EXPECT_EQ(refusal(type, header_bytes), Refusal::bad_length) << type;
    }
    EXPECT_EQ(refusal(type, header_bytes - 1), Refusal::bad_length) << type;
    EXPECT_EQ(refusal(type, 1), Refusal::bad_length) << type;
  }
  for (const char type : fixed) {
    if (type == 'd') continue;
    EXPECT_EQ(refusal(type, header_bytes), Refusal::none) << type;
    EXPECT_EQ(refusal(type, header_bytes + 1), Refusal::bad_length) << type;
  }
  EXPECT_EQ(refusal('Z', header_bytes + 1), Refusal::none);
  EXPECT_EQ(refusal('Z', header_bytes), Refusal::bad_length);
  EXPECT_EQ(refusal('Z', header_bytes + 2), Refusal::bad_length);
  EXPECT_EQ(refusal('K', header_bytes + 7), Refusal::bad_length);
  EXPECT_EQ(refusal('K', header_bytes + 8), Refusal::none);
  EXPECT_EQ(refusal('K', header_bytes + 4 + 256), Refusal::none);
  EXPECT_EQ(refusal('K', header_bytes + 4 + 257), Refusal::message_too_large);
}

TEST(PostgresMessages, columns_are_read_with_all_of_their_properties) {
  const std::string body = number(2, 2) + text("id") + number(16384, 4) + number(1, 2) +
                           number(23, 4) + number(4, 2) + number(0xffff'ffff, 4) + number(0, 2) +
                           text("") + number(0, 4) + number(0, 2) + number(25, 4) +
                           number(0xffff, 2) + number(20, 4) + number(1, 2);
  ASSERT_EQ(check_fields(body), Refusal::none);
  Fields fields(body);
  EXPECT_EQ(fields.count(), 2);
  Field field;
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.name, "id");
  EXPECT_EQ(field.table, 16384u);
  EXPECT_EQ(field.column, 1);
  EXPECT_EQ(field.type, 23u);
  EXPECT_EQ(field.type_bytes, 4);
  EXPECT_EQ(field.modifier, -1);
  EXPECT_EQ(field.format, Format::text);
  ASSERT_TRUE(fields.next(field));
  EXPECT_EQ(field.name, "");
  EXPECT_EQ(field.type_bytes, -1);
  EXPECT_EQ(field.modifier, 20);
  EXPECT_EQ(field.format, Format::binary);
  EXPECT_FALSE(fields.next(field));
}

TEST(PostgresMessages, a_null_is_not_an_empty_value) {
  const std::string body =
      number(3, 2) + number(0xffff'ffff, 4) + number(0, 4) + number(2, 4) + "ab";
  ASSERT_EQ(check_row(body), Refusal::none);
  Row row(body);
  Value value;
  ASSERT_TRUE(row.next(value));
  EXPECT_TRUE(value.is_null);
  ASSERT_TRUE(row.next(value));
  EXPECT_FALSE(value.is_null);
  EXPECT_EQ(value.bytes, "");
  ASSERT_TRUE(row.next(value));
  EXPECT_EQ(value.bytes, "ab");
  EXPECT_EQ(value.bytes.data(), body.data() + body.size() - 2);  // no copy
  EXPECT_FALSE(row.next(value));
}

TEST(PostgresMessages, a_tag_has_the_number_of_its_rows) {
  EXPECT_EQ(tag_of(text("INSERT 0 5")).rows, 5u);
  EXPECT_EQ(tag_of(text("SELECT 9999999999")).rows, 9'999'999'999u);
  EXPECT_EQ(tag_of(text("COPY 9223372036854775807")).rows, 9'223'372'036'854'775'807u);
  EXPECT_EQ(check_tag(text("~ 1")), Refusal::none);
  EXPECT_EQ(tag_of(text("7")).rows, std::nullopt);
  EXPECT_EQ(tag_of(text("CREATE TABLE")).rows, std::nullopt);
  EXPECT_EQ(tag_of(text("BEGIN")).rows, std::nullopt);
  EXPECT_EQ(tag_of(text("SELECT 99999999999999999999")).rows, std::nullopt);
  EXPECT_EQ(tag_of(text("INSERT 0 5")).text, "INSERT 0 5");
}

TEST(PostgresMessages, a_report_has_its_fields_and_ignores_those_of_later_servers) {
  const std::string body = text("SFEHLER") + text("VERROR") + text("C23505") + text("Mdoubled") +
                           text("Dkey") + text("Hhint") + text("P7") + text("p8") + text("qSQL") +
                           text("Wthere") + text("ss") + text("tt") + text("cc") + text("dd") +
                           text("nn") + text("Ff.c") + text("L1") + text("Rr") + text("!new") +
                           std::string(1, '\0');
  ASSERT_EQ(check_report(body), Refusal::none);
  const Report report = report_of(body);
  EXPECT_EQ(report.severity, "ERROR");
  EXPECT_EQ(report.sqlstate, "23505");
  EXPECT_EQ(report.message, "doubled");
  EXPECT_EQ(report.detail, "key");
  EXPECT_EQ(report.hint, "hint");
  EXPECT_EQ(report.position, "7");
  EXPECT_EQ(report.internal_position, "8");
  EXPECT_EQ(report.internal_query, "SQL");
  EXPECT_EQ(report.where, "there");
  EXPECT_EQ(report.schema, "s");
  EXPECT_EQ(report.table, "t");
  EXPECT_EQ(report.column, "c");
  EXPECT_EQ(report.type, "d");
  EXPECT_EQ(report.constraint, "n");
  EXPECT_EQ(report.file, "f.c");
  EXPECT_EQ(report.line, "1");
  EXPECT_EQ(report.routine, "r");
  EXPECT_FALSE(report.is_fatal());
}

// A server before 9.6 sends no V.
TEST(PostgresMessages, a_report_without_the_untranslated_severity_has_the_other_one) {
  const std::string body = text("SFATAL") + text("C57P01") + std::string(1, '\0');
  ASSERT_EQ(check_report(body), Refusal::none);
  EXPECT_TRUE(report_of(body).is_fatal());
  const std::string panic = text("SX") + text("VPANIC") + text("C57P01") + std::string(1, '\0');
  EXPECT_TRUE(report_of(panic).is_fatal());
}

TEST(PostgresMessages, a_sqlstate_has_digits_and_upper_case_letters) {
  const auto check_of = [](Bytes code) {
    return check_report(text("SERROR") + text("C" + std::string(code)) + std::string(1, '\0'));
  };
  for (const Bytes code : {"0A000", "ZZ999", "AZ09Z"}) EXPECT_EQ(check_of(code), Refusal::none);
  for (const Bytes code : {"@0000", "[0000", "0/000", "0:000", "0a000", "000000", ""}) {
    EXPECT_EQ(check_of(code), Refusal::bad_report) << code;
  }
}

TEST(PostgresMessages, types_of_parameters_and_formats_of_a_copy_are_read_in_order) {
  const std::string types = number(3, 2) + number(23, 4) + number(0, 4) + number(25, 4);
  ASSERT_EQ(check_parameter_types(types), Refusal::none);
  ParameterTypes parameters(types);
  EXPECT_EQ(parameters.count(), 3);
  std::vector<std::uint32_t> read;
  for (std::uint32_t type = 0; parameters.next(type);) read.push_back(type);
  EXPECT_EQ(read, (std::vector<std::uint32_t>{23, 0, 25}));

  const std::string binary =
      number(1, 1) + number(3, 2) + number(1, 2) + number(0, 2) + number(1, 2);
  ASSERT_EQ(check_copy_formats(binary), Refusal::none);
  CopyFormats formats(binary);
  EXPECT_TRUE(formats.is_binary());
  EXPECT_EQ(formats.count(), 3);
  std::vector<Format> each;
  for (Format format = Format::text; formats.next(format);) each.push_back(format);
  EXPECT_EQ(each, (std::vector<Format>{Format::binary, Format::text, Format::binary}));
  const std::string lines = number(0, 1) + number(1, 2) + number(0, 2);
  ASSERT_EQ(check_copy_formats(lines), Refusal::none);
  EXPECT_FALSE(CopyFormats(lines).is_binary());
}

TEST(PostgresMessages, a_notification_a_setting_and_a_key_are_read_in_place) {
  const std::string sent = number(77, 4) + text("news") + text("it is");
  ASSERT_EQ(check_notification(sent), Refusal::none);
  EXPECT_EQ(notification_of(sent).process, 77u);
  EXPECT_EQ(notification_of(sent).channel, "news");
  EXPECT_EQ(notification_of(sent).payload, "it is");
  const std::string setting = text("TimeZone") + text("UTC");
  ASSERT_EQ(check_setting(setting), Refusal::none);
  EXPECT_EQ(setting_of(setting).name, "TimeZone");
  EXPECT_EQ(setting_of(setting).value, "UTC");
  const std::string key = number(5, 4) + "keys";
  EXPECT_EQ(backend_key_of(key).process, 5u);
  EXPECT_EQ(backend_key_of(key).key, "keys");
}

struct Malformed {
  Reply type;
  std::string body;
  Refusal refusal;
};

TEST(PostgresMessages, a_malformed_body_is_refused_with_its_reason) {
  const std::string zero(1, '\0');
  const std::string field =
      text("a") + number(0, 4) + number(0, 2) + number(23, 4) + number(4, 2) + number(0, 4);
  const std::vector<Malformed> all = {
      {Reply::row_description, number(1, 2), Refusal::bad_description},
      {Reply::row_description, number(1, 2) + field + number(2, 2), Refusal::bad_description},
      {Reply::row_description, number(1, 2) + field + number(0, 2) + "x", Refusal::bad_description},
      {Reply::row_description, number(2, 2) + field + number(0, 2), Refusal::bad_description},
      {Reply::row_description, number(0, 2) + field + number(0, 2), Refusal::bad_description},
      {Reply::row_description, number(1, 2) + "no zero byte", Refusal::bad_description},
      {Reply::data_row, number(1, 2), Refusal::bad_row},
      {Reply::data_row, number(1, 2) + number(2, 4) + "a", Refusal::bad_row},
      {Reply::data_row, number(1, 2) + number(1, 4) + "ab", Refusal::bad_row},
      {Reply::data_row, number(1, 2) + number(0xffff'fffe, 4), Refusal::bad_row},
      {Reply::data_row, number(0xffff, 2), Refusal::bad_row},
      {Reply::parameter_description, number(2, 2) + number(23, 4), Refusal::bad_description},
      {Reply::parameter_description, number(0, 2) + number(23, 4), Refusal::bad_description},
      {Reply::copy_in, "", Refusal::bad_copy},
      {Reply::copy_in, number(2, 1) + number(0, 2), Refusal::bad_copy},
      {Reply::copy_in, number(0, 1) + number(1, 2) + number(1, 2), Refusal::bad_copy},
      {Reply::copy_out, number(1, 1) + number(1, 2) + number(2, 2), Refusal::bad_copy},
      {Reply::copy_out, number(1, 1) + number(2, 2) + number(1, 2), Refusal::bad_copy},
      {Reply::copy_out, number(1, 1) + number(0, 2) + number(1, 2), Refusal::bad_copy},
      {Reply::command_complete, "", Refusal::bad_text},
      {Reply::command_complete, "SELECT 1", Refusal::bad_text},
      {Reply::command_complete, text("SELECT 1\x7f"), Refusal::bad_tag},
      {Reply::command_complete, text("SELECT 1\n"), Refusal::bad_tag},
      {Reply::command_complete, text("SELECT 1") + "x", Refusal::bad_text},
      {Reply::command_complete, zero, Refusal::bad_tag},
      {Reply::command_complete, text("SELECT\n1"), Refusal::bad_tag},
      {Reply::error, zero, Refusal::bad_report},
      {Reply::error, text("SERROR") + text("C23505"), Refusal::bad_report},
      {Reply::error, text("SERROR") + text("C23505") + zero + "x", Refusal::bad_report},
      {Reply::error, text("SERROR") + zero, Refusal::bad_report},
      {Reply::error, text("C23505") + zero, Refusal::bad_report},
      {Reply::notice, text("SERROR") + text("C2350") + zero, Refusal::bad_report},
      {Reply::notice, text("SERROR") + text("C2350x") + zero, Refusal::bad_report},
      {Reply::notice, text("SERROR") + text("C23 05") + zero, Refusal::bad_report},
      {Reply::parameter_status, text("a"), Refusal::bad_setting},
      {Reply::parameter_status, text("") + text("a"), Refusal::bad_setting},
      {Reply::parameter_status, text("a") + text("b") + "c", Refusal::bad_setting},
      {Reply::notification, number(1, 4) + text("") + text(""), Refusal::bad_notification},
      {Reply::notification, number(1, 4) + text("a"), Refusal::bad_notification},
      {Reply::notification, number(1, 4) + text("a") + text("b") + "c", Refusal::bad_notification},
      {Reply::ready, "X", Refusal::bad_transaction},
  };
  for (std::size_t at = 0; at < all.size(); ++at) {
    EXPECT_EQ(check(all[at].type, all[at].body), all[at].refusal) << at;
  }
}

// The body was not checked.
TEST(PostgresMessages, a_view_of_a_body_that_is_cut_off_ends_early) {
  const std::string body = number(2, 2) + number(1, 4) + "a" + number(3, 4) + "bcd";
  for (std::size_t size = 0; size < body.size(); ++size) {
    const std::vector<char> apart(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    const Bytes cut(apart.data(), apart.size());
    EXPECT_EQ(check_row(cut), Refusal::bad_row);
    Row row(cut);
    Fields fields(cut);
    CopyFormats formats(cut);
    ParameterTypes types(cut);
    Value value;
    Field field;
    Format format;
    std::uint32_t type = 0;
    int values = 0;
    while (row.next(value)) ++values;
    EXPECT_LT(values, 2);
    while (fields.next(field)) EXPECT_LT(field.name.size(), size);
    while (formats.next(format)) EXPECT_LE(formats.count(), 0xffff);
    while (types.next(type)) EXPECT_LE(types.count(), 0xffff);
  }
}

TEST(PostgresMessages, a_view_gives_no_more_parts_than_it_says) {
  const std::string more(64, '\0');
  const std::string body = number(1, 2) + more;
  Row row(body);
  Fields fields(body);
  ParameterTypes types(body);
  const std::string formats_body = number(0, 1) + body;
  CopyFormats formats(formats_body);
  Value value;
  Field field;
  std::uint32_t type = 0;
  Format format = Format::text;
  EXPECT_TRUE(row.next(value));
  EXPECT_FALSE(row.next(value));
  EXPECT_TRUE(fields.next(field));
  EXPECT_FALSE(fields.next(field));
  EXPECT_TRUE(types.next(type));
  EXPECT_FALSE(types.next(type));
  EXPECT_TRUE(formats.next(format));
  EXPECT_FALSE(formats.next(format));
}

TEST(PostgresMessages, the_most_columns_are_those_of_the_server) {
  std::string row;
  for (int at = 0; at < columns_max; ++at) row += number(0xffff'ffff, 4);
  EXPECT_EQ(check_row(number(columns_max, 2) + row), Refusal::none);
  EXPECT_EQ(check_row(number(columns_max + 1, 2) + row + number(0, 4)), Refusal::bad_row);
  std::string fields;
  std::string formats;
  for (int at = 0; at < columns_max; ++at) {
    fields += text("c") + number(0, 18);
    formats += number(0, 2);
  }
  EXPECT_EQ(check_fields(number(columns_max, 2) + fields), Refusal::none);
  EXPECT_EQ(check_fields(number(columns_max + 1, 2) + fields + text("c") + number(0, 18)),
            Refusal::bad_description);
  EXPECT_EQ(check_copy_formats(number(0, 1) + number(columns_max, 2) + formats), Refusal::none);
  EXPECT_EQ(check_copy_formats(number(0, 1) + number(columns_max + 1, 2) + formats + number(0, 2)),
            Refusal::bad_copy);
}

TEST(PostgresRefusal, each_has_a_sentence_of_its_own) {
  std::vector<Bytes> seen;
  for (int number = 0; number < 100; ++number) {
    const Bytes sentence = text_of(static_cast<Refusal>(number));
    if (sentence == "unknown") continue;
    EXPECT_EQ(std::ranges::count(seen, sentence), 0) << sentence;
    EXPECT_GT(sentence.size(), 10u) << number;
    seen.push_back(sentence);
  }
  EXPECT_EQ(seen.size(), 37u);
}

TEST(PostgresMessages, a_row_is_read_at_once_as_value_by_value) {
  const std::string body =
      number(3, 2) + number(2, 4) + "ab" + number(0xffff'ffff, 4) + number(0, 4);
  ASSERT_EQ(check_row(body), Refusal::none);
  std::vector<Bytes> values(4, "before");
  ASSERT_EQ(read_row(body, values), 3);
  Row row(body);
  for (std::size_t column = 0; column < 3; ++column) {
    Value value;
    ASSERT_TRUE(row.next(value));
    EXPECT_EQ(values[column], value.bytes);
    EXPECT_EQ(values[column].data() == nullptr, value.is_null);
  }
  EXPECT_EQ(values[3], "before");
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_EQ(check_row(Bytes(body).substr(0, size)), Refusal::bad_row) << size;
  }
  EXPECT_EQ(check_row(body + "x"), Refusal::bad_row);
}

TEST(PostgresMessages, a_row_is_taken_only_if_its_check_passes_and_it_has_as_many_values) {
  const std::string body =
      number(3, 2) + number(2, 4) + "ab" + number(0xffff'ffff, 4) + number(0, 4);
  std::vector<Bytes> values(3), read(3);
  ASSERT_TRUE(take_row(body, values));
  ASSERT_EQ(read_row(body, read), 3);
  EXPECT_EQ(values, read);
  EXPECT_EQ(values[1].data(), nullptr);
  EXPECT_NE(values[2].data(), nullptr);
  for (std::size_t size = 0; size < body.size(); ++size) {
    const std::vector<char> apart(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(take_row({apart.data(), apart.size()}, values)) << size;
  }
  EXPECT_FALSE(take_row(body + "x", values));
  EXPECT_FALSE(take_row(body, std::span(values).first(2)));
  values.resize(4);
  EXPECT_FALSE(take_row(body, values));
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
