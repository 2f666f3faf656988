#include "katana/wire/http/multipart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace katana::http {
namespace {

// The parts of a body that arrives in pieces: "name[/filename][:type]=content;" for each part, and
// how it ended.
std::string read(Bytes text, std::size_t piece = SIZE_MAX, const MultipartLimits& limits = {}) {
  MultipartReader reader("B", limits);
  std::string seen, carried;
  while (!text.empty() || !carried.empty()) {
    const std::size_t size = std::min(piece, text.size());
    carried += text.substr(0, size);
    text.remove_prefix(size);
    for (;;) {
      const auto step = reader.next(carried);
      EXPECT_LE(step.consumed, carried.size());
      const MultipartPart& part = reader.part();
      switch (step.event) {
        case MultipartEvent::part:
          seen += part.name;
          if (part.has_filename) seen += "/" + std::string(part.filename);
          if (!part.content_type.empty()) seen += ":" + std::string(part.content_type);
          seen += "=";
          break;
        case MultipartEvent::content: seen += reader.content(); break;
        case MultipartEvent::part_end: seen += ";"; break;
        case MultipartEvent::end: seen += "end"; break;
        case MultipartEvent::refused:
          return seen + "refused " + std::to_string(static_cast<int>(reader.refusal()));
        case MultipartEvent::need_bytes: break;
      }
      carried.erase(0, step.consumed);
      if (step.event == MultipartEvent::need_bytes && step.consumed == 0) break;
      if (carried.empty() && step.event == MultipartEvent::need_bytes) break;
    }
    if (text.empty()) break;
  }
  return reader.ended() ? seen : seen + "unended";
}

std::string part(std::string_view name, std::string_view content) {
  return "--B\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"\r\n\r\n" +
         std::string(content) + "\r\n";
}

const std::string form =
    "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n"
    "--B\r\ncontent-type: text/plain\r\nContent-Disposition: form-data; name=b; "
    "filename=\"x \\\" %22.txt\"\r\n\r\n\r\n--\r\n-B\r\n--A\r\n\r\n"
    "--B  \r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n"
    "--B\r\nContent-Disposition: form-data; name=\"none\"\r\n\r\n"
    "--B--\r\nepilogue";
const std::string form_read =
    "a=one;b/x \\\" %22.txt:text/plain=\r\n--\r\n-B\r\n--A\r\n;empty=;none=;end";

TEST(Multipart, a_form_is_read_part_by_part_however_it_is_cut) {
  EXPECT_EQ(read(form), form_read);
  for (std::size_t piece = 1; piece < form.size(); ++piece) {
    EXPECT_EQ(read(form, piece), form_read) << piece;
  }
}

TEST(Multipart, a_preamble_is_passed_and_a_long_one_refused) {
  const std::string with = "preamble\r\n--B but not quite";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    EXPECT_EQ(read("preamble\r\n" + part("a", "1") + "--B--", piece), "a=1;end");
    EXPECT_EQ(read("\r\n" + part("a", "1") + "--B--", piece), "a=1;end");
    EXPECT_EQ(read(std::string(2000, 'x') + "\r\n" + part("a", "1") + "--B--", piece), "refused 1");
  }
  EXPECT_EQ(read(with), "refused 1");
  EXPECT_EQ(read("--B--"), "end");
}

TEST(Multipart, what_ends_too_soon_has_not_ended) {
  for (std::size_t size = 1; size < form.size() - 10; ++size) {
    EXPECT_TRUE(read(form.substr(0, size)).ends_with("unended")) << size;
  }
}

TEST(Multipart, malformed_heads_are_refused) {
  for (const char* head :
       {"", "Content-Type: text/plain", "Content-Disposition: attachment; name=\"a\"",
        "Content-Disposition: form-data", "Content-Disposition: form-data; filename=\"a\"",
        "Content-Disposition: form-data; name", "Content-Disposition: form-data; name=\"a",
        "Content-Disposition: form-data; name=a; name=b", "no colon",
        "Content-Disposition : form-data; name=a", "Content-Disposition: form-data; name=\"a\0\"",
        "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b"}) {
    EXPECT_EQ(read("--B\r\n" + std::string(head) + "\r\n\r\nx\r\n--B--"), "refused 1") << head;
  }
  EXPECT_EQ(read("--B\r\n\r\nx\r\n--B--"), "refused 1");
  EXPECT_EQ(read("--Bx\r\n"), "refused 1");
  EXPECT_EQ(read(part("a", "1") + "--B-x"), "a=1;refused 1");
}

TEST(Multipart, limits_hold_wherever_it_is_cut) {
  MultipartLimits limits;
  limits.head_bytes_max = 100;
  limits.parts_max = 2;
  limits.part_bytes_max = 10;
  const std::string two = part("a", "1") + part("b", "0123456789");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, SIZE_MAX}) {
    EXPECT_EQ(read(two + "--B--", piece, limits), "a=1;b=0123456789;end");
    EXPECT_EQ(read(two + part("c", ""), piece, limits), "a=1;b=0123456789;refused 3");
    EXPECT_TRUE(read(part("a", "0123456789x") + "--B--", piece, limits).ends_with("refused 4"));
    EXPECT_EQ(read(part(std::string(100, 'n'), "1"), piece, limits), "refused 2");
  }
}

TEST(Multipart, a_head_of_the_limits_size_passes_wherever_it_is_cut) {
  MultipartLimits limits;
  limits.head_bytes_max = 100;
  const std::size_t around = part("", "").find("\r\n\r\n") - std::string_view("--B\r\n").size();
  const std::string name(limits.head_bytes_max - around, 'n');
  for (std::size_t piece = 1; piece < 120; ++piece) {
    EXPECT_EQ(read(part(name, "1") + "--B--", piece, limits), name + "=1;end");
    EXPECT_EQ(read(part(name + "n", "1") + "--B--", piece, limits), "refused 2");
  }
}

TEST(Multipart, the_boundary_is_a_parameter_of_the_type) {
  const auto boundary = MultipartReader::boundary_of;
  EXPECT_EQ(boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(boundary("Multipart/Form-Data;charset=utf-8; Boundary=\"a b:c\""), "a b:c");
  EXPECT_EQ(boundary("multipart/form-data; boundary=" + std::string(70, 'x')),
            std::string(70, 'x'));
  for (const Bytes type :
       {"", "multipart/form-data", "multipart/mixed; boundary=a",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\"a ", "multipart/form-data; boundary=\"a \"",
        "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=a b",
        "multipart/form-data boundary=a", "multipart/form-data; boundary=\"a\\\"b\""}) {
    EXPECT_EQ(boundary(type), std::nullopt) << type;
  }
  EXPECT_EQ(boundary("multipart/form-data; boundary=" + std::string(71, 'x')), std::nullopt);
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
