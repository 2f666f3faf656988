// read_secret_file(): files that have a secret, and those that have none.
#include "katana/base/values/secret_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace katana {
namespace {

class SecretFileTest : public testing::Test {
 protected:
  ~SecretFileTest() override {
    std::error_code ignored;  // a leftover file is no failure of the test
    std::filesystem::remove(path_, ignored);
  }
  const std::string& write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("katana-secret-" + std::to_string(::getpid())))
          .string();
};

TEST_F(SecretFileTest, secrets_are_read_without_the_white_space_around_them) {
  EXPECT_EQ(read_secret_file(write(" s3 cret \r\n"))->reveal(), "s3 cret");
}

TEST_F(SecretFileTest, files_that_have_no_secret_are_refused_and_named) {
  EXPECT_EQ(read_secret_file(write("\n")).error().code(), Code::invalid_argument);
  EXPECT_EQ(read_secret_file(write(std::string(65 * 1024, 'x'))).error().code(),
            Code::out_of_range);
  EXPECT_NE(read_secret_file(path_).error().describe().find(path_), std::string::npos);
  EXPECT_EQ(read_secret_file(path_ + ".none").error().code(), Code::not_found);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
