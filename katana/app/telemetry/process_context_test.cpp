#include "katana/app/telemetry/process_context.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "katana/base/text/protobuf.hpp"

namespace katana::app {
namespace {

// The begin of the mapping, as a reader finds it; none: there is no such mapping.
std::optional<std::uintptr_t> find_mapping() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find("/memfd:OTEL_CTX") != std::string::npos ||
        line.find("[anon_shmem:OTEL_CTX]") != std::string::npos ||
        line.find("[anon:OTEL_CTX]") != std::string::npos) {
      return std::stoull(line, nullptr, 16);
    }
  }
  return std::nullopt;
}

template <class T>
T read_at(std::uintptr_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// The attributes of the resource, read as OTEP 4719 says.
std::map<std::string, std::string> attributes_at(std::uintptr_t header) {
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(header), "OTEL_CTX", 8), 0);
  EXPECT_EQ(read_at<std::uint32_t>(header + 8), 2u);
  EXPECT_GT(read_at<std::uint64_t>(header + 16), 0u);
  const auto bytes = read_at<std::uint32_t>(header + 12);
  const auto payload = read_at<const char*>(header + 24);
  std::map<std::string, std::string> attributes;
  ProtobufReader context(Bytes(payload, bytes));
  EXPECT_TRUE(context.next());
  EXPECT_EQ(context.number(), 1u);
  ProtobufReader resource(context.bytes());
  while (resource.next()) {
    EXPECT_EQ(resource.number(), 1u);
    ProtobufReader attribute(resource.bytes());
    EXPECT_TRUE(attribute.next());
    const std::string key(attribute.bytes());
    EXPECT_TRUE(attribute.next());
    ProtobufReader value(attribute.bytes());
    EXPECT_TRUE(value.next());
    attributes[key] = std::string(value.bytes());
  }
  EXPECT_TRUE(resource.is_good());
  EXPECT_FALSE(context.next());
  EXPECT_TRUE(context.is_good());
  return attributes;
}

otlp::Resource resource_of_shop() {
  otlp::Resource resource;
  resource.set("service.name", "shop");
  resource.set("service.instance.id", "627cc493-f310-47de-96bd-71410b7dec09");
  return resource;
}

TEST(ProcessContext, a_reader_finds_the_resource_until_it_ends) {
  ASSERT_FALSE(find_mapping());
  {
    const auto context = ProcessContext::make(resource_of_shop());
    ASSERT_TRUE(context) << context.error().describe();
    const auto mapping = find_mapping();
    ASSERT_TRUE(mapping);
    EXPECT_EQ(attributes_at(*mapping),
              (std::map<std::string, std::string>{
                  {"service.name", "shop"},
                  {"service.instance.id", "627cc493-f310-47de-96bd-71410b7dec09"}}));
  }
  EXPECT_FALSE(find_mapping());
}

TEST(ProcessContext, a_resource_may_be_larger_than_a_page) {
  otlp::Resource resource = resource_of_shop();
  resource.set("team", std::string(10'000, 'a'));
  const auto context = ProcessContext::make(resource);
  ASSERT_TRUE(context);
  const auto mapping = find_mapping();
  ASSERT_TRUE(mapping);
  EXPECT_EQ(attributes_at(*mapping)["team"], std::string(10'000, 'a'));
}

TEST(ProcessContext, a_resource_that_readers_would_refuse_is_refused) {
  otlp::Resource resource = resource_of_shop();
  resource.set("team", std::string(65'536, 'a'));
  const auto context = ProcessContext::make(resource);
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().code(), Code::invalid_argument);
  EXPECT_FALSE(find_mapping());
  EXPECT_TRUE(ProcessContext::make(resource_of_shop())) << "the refusal leaves nothing behind";
}

TEST(ProcessContext, there_is_one_in_a_process_at_a_time) {
  {
    const auto first = ProcessContext::make(resource_of_shop());
    ASSERT_TRUE(first);
    const auto second = ProcessContext::make(resource_of_shop());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::already_exists);
    EXPECT_TRUE(find_mapping());
  }
  EXPECT_TRUE(ProcessContext::make(resource_of_shop()));
}

TEST(ProcessContext, a_child_does_not_show_it) {
  const auto context = ProcessContext::make(resource_of_shop());
  ASSERT_TRUE(context);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(find_mapping() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
