#include "katana/app/telemetry/process_context.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <system_error>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/otlp/export_message.hpp"

namespace katana::app {
namespace {

constexpr const char* mapping_name = "OTEL_CTX";
constexpr std::uint32_t format_version = 2;
constexpr std::size_t payload_bytes_max = 65'536;  // that readers take
// linux/memfd.h of Linux 6.3.
constexpr unsigned no_exec_seal = 8;
// linux/prctl.h of Linux 5.17.
constexpr int set_vma = 0x53564d41;
constexpr unsigned long anonymous_name = 0;

// The header as readers expect it.
struct Header {
  char signature[8];
  std::uint32_t version;
  std::uint32_t payload_bytes;
  std::uint64_t published_at_ns;  // of CLOCK_BOOTTIME; 0: it is being written
  const void* payload;
};
static_assert(sizeof(Header) == 32);

std::atomic<bool> is_shown = false;

std::string payload_of(const otlp::Resource& resource) {
  std::string payload;
  ProtobufWriter out(payload);
  const std::size_t about = out.begin(1);
  for (const auto& [key, value] : resource.attributes()) {
    otlp::add_text_attribute(out, 1, key, value);
  }
  out.end(about);
  return payload;
}

// A program that has given up its rights (process.sandbox) would be reported for memfd_create.
bool has_given_up_rights() {
  std::ifstream status("/proc/self/status");
  std::string key;
  int is_filtered = 0;
  int is_limited = 0;
  while (status >> key) {
    if (key == "NoNewPrivs:") status >> is_limited;
    if (key == "Seccomp:") status >> is_filtered;
  }
  return is_filtered != 0 && is_limited != 0;
}

// A file in memory is found by its name where the kernel does not name anonymous mappings.
void* map_named(std::size_t bytes) noexcept {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int file = ::memfd_create(mapping_name, flags | no_exec_seal);
  if (file < 0 && errno == EINVAL) file = ::memfd_create(mapping_name, flags);
  if (file < 0) return MAP_FAILED;
  void* memory = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  return memory;
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Result<ProcessContext> ProcessContext::make(const otlp::Resource& resource) {
  const std::string payload = payload_of(resource);
  if (payload.size() > payload_bytes_max) {
    return fail(Code::invalid_argument,
                fmt::format("the resource has {} bytes, and readers take at most {}: shorten "
                            "telemetry.resource or OTEL_RESOURCE_ATTRIBUTES",
                            payload.size(), payload_bytes_max));
  }
  if (is_shown.exchange(true)) {
    return fail(Code::already_exists, "this process shows its resource already");
  }
  const auto refused = [](const char* action) {
    const int number = errno;
    is_shown = false;
    return std::unexpected(Error(
        Code::unavailable, fmt::format("{}: {}", action, std::generic_category().message(number))));
  };
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (sizeof(Header) + payload.size() + page - 1) / page * page;
  void* memory = has_given_up_rights() ? MAP_FAILED : map_named(bytes);
  const bool is_named = memory != MAP_FAILED;
  if (!is_named) {
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return refused("map memory for the process context");
  // A child would show what is not true of it.
  if (::madvise(memory, bytes, MADV_DONTFORK) != 0) {
    ::munmap(memory, bytes);
    return refused("keep the process context from children");
  }
  auto* const header = new (memory) Header{};
  char* const behind = static_cast<char*>(memory) + sizeof(Header);
  std::memcpy(behind, payload.data(), payload.size());
  std::memcpy(header->signature, mapping_name, sizeof header->signature);
  header->version = format_version;
  header->payload_bytes = static_cast<std::uint32_t>(payload.size());
  header->payload = behind;
  // release: a reader of another process that sees the time sees the rest.
  std::atomic_ref(header->published_at_ns).store(now_ns(), std::memory_order_release);
  if (::prctl(set_vma, anonymous_name, memory, bytes, mapping_name) != 0 && !is_named) {
    ::munmap(memory, bytes);
    return refused("name the process context");
  }
  return ProcessContext(memory, bytes);
}

ProcessContext::~ProcessContext() {
  if (memory_ == nullptr) return;
  ::munmap(memory_, bytes_);
  is_shown = false;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
