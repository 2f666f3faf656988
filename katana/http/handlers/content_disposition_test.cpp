#include "katana/http/handlers/content_disposition.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/wire/http/reply_head.hpp"

namespace katana {
namespace {

std::string attachment(Bytes name) {
  return std::string(content_disposition("attachment", name).bytes());
}

TEST(ContentDisposition, a_plain_name_is_quoted) {
  EXPECT_EQ(attachment("report 1.pdf"), R"(attachment; filename="report 1.pdf")");
}

TEST(ContentDisposition, another_name_comes_in_utf_8_besides) {
  EXPECT_EQ(attachment("Bericht März.pdf"), R"(attachment; filename="Bericht M_rz.pdf"; )"
                                            "filename*=UTF-8''Bericht%20M%C3%A4rz.pdf");
  EXPECT_EQ(attachment("a\"b%41.txt"),
            "attachment; filename=\"a_b_41.txt\"; filename*=UTF-8''a%22b%2541.txt");
}

TEST(ContentDisposition, folders_are_left_out) {
  EXPECT_EQ(attachment("../../etc/passwd"), R"(attachment; filename="passwd")");
  EXPECT_EQ(attachment(R"(C:\autoexec.bat)"), R"(attachment; filename="autoexec.bat")");
  EXPECT_EQ(attachment("folder/"), "attachment");
}

TEST(ContentDisposition, whatever_the_name_the_value_is_that_of_one_field) {
  std::string every;
  for (int octet = 0; octet < 256; ++octet) {
    every += static_cast<char>(octet);
    const std::string name = std::string("a") + static_cast<char>(octet) + "b";
    EXPECT_TRUE(http::valid_field("Content-Disposition", attachment(name))) << octet;
  }
  EXPECT_TRUE(http::valid_field("Content-Disposition", attachment(every)));
  EXPECT_LT(attachment(std::string(5000, '\xff')).size(), 1000u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
