#include "katana/observe/crash/build_id.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "katana/observe/crash/stack.hpp"

namespace katana::crash {
namespace {

std::string own_file() {
  std::string text(std::filesystem::file_size("/proc/self/exe"), '\0');
  std::ifstream file("/proc/self/exe", std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

std::string hex(Bytes bytes) {
  std::string text;
  for (const char each : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(each) & 0xf];
  }
  return text;
}

TEST(BuildId, of_the_file_is_that_of_the_loaded_program) {
  prepare_unwinder();
  Module module;
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&own_file), module));
  ASSERT_FALSE(module.build_id.empty());
  EXPECT_EQ(build_id_of(own_file()), hex(module.build_id));
}

TEST(BuildId, is_found_without_sections) {
  std::string file = own_file();
  const auto whole = build_id_of(file);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shnum = 0;
  header.e_shoff = 0;
  std::memcpy(file.data(), &header, sizeof header);
  EXPECT_EQ(build_id_of(file), whole);
}

TEST(BuildId, of_other_files_is_nothing) {
  EXPECT_EQ(build_id_of(""), std::nullopt);
  EXPECT_EQ(build_id_of("katana-crash-report 1\n"), std::nullopt);
  std::string narrow = own_file();
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(build_id_of(narrow), std::nullopt);
}

TEST(BuildId, of_a_file_that_is_cut_is_found_or_nothing) {
  const std::string file = own_file();
  const auto whole = build_id_of(file);
  for (std::size_t size = 0; size < 8192; ++size) {
    const auto found = build_id_of(Bytes(file).substr(0, size));
    EXPECT_TRUE(!found || found == whole) << size;
  }
}

}  // namespace
}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
