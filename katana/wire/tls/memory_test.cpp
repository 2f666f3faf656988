// The bytes that OpenSSL holds for one idle connection, counted where it allocates.
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "katana/wire/tls/machine_fixture_test.hpp"

namespace katana::tls {
namespace {

std::size_t held = 0;
// From this allocation on there is no memory, or for this one alone.
std::size_t allocations_left = SIZE_MAX;
bool is_refused_once = false;
bool is_refused = false;

// The size stands in front of the memory that is given away.
constexpr std::size_t front = alignof(std::max_align_t);

void* allocate(std::size_t size, const char*, int) {
  if (allocations_left == 0) {
    is_refused = true;
    if (is_refused_once) allocations_left = SIZE_MAX;
    return nullptr;
  }
  --allocations_left;
  auto* const block = static_cast<char*>(std::malloc(front + size));
  if (block == nullptr) return nullptr;
  std::memcpy(block, &size, sizeof size);
  held += size;
  return block + front;
}

void release(void* given, const char*, int) {
  if (given == nullptr) return;
  char* const block = static_cast<char*>(given) - front;
  std::size_t size = 0;
  std::memcpy(&size, block, sizeof size);
  held -= size;
  std::free(block);
}

void* resize(void* given, std::size_t size, const char* file, int line) {
  void* const made = allocate(size, file, line);
  if (made == nullptr || given == nullptr) return made;
  std::size_t before = 0;
  std::memcpy(&before, static_cast<char*>(given) - front, sizeof before);
  std::memcpy(made, given, std::min(size, before));
  release(given, file, line);
  return made;
}

// Before OpenSSL allocates anything: after that it refuses.
const bool counts = CRYPTO_set_mem_functions(&allocate, &resize, &release) == 1;

TEST(TlsMemory, an_idle_connection_keeps_no_record_buffers) {
  ASSERT_TRUE(counts);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Bench first({.version = version});  // memory that OpenSSL allocates once is not counted
    first.pass();
  }
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TestClient client({.version = version});
    BlockPool pool(4096, 64);
    Outbox output(pool);
    std::array<char, 4096> plain;
    std::size_t before = 0, after_one = 0;
    const auto give = [&](Machine& machine) {
      const std::size_t at_start = held;
      std::string up = client.take_output();
      const std::size_t freed = at_start - held;
      for (Step step{Event::hello}; step.event != Event::need_bytes;) {
        step = machine.next(up, plain, output, Instant{1});
        up.erase(0, step.consumed);
        if (step.event == Event::hello) machine.admit();
      }
      return freed;
    };
    before = held;
    Machine machine(test_context());
    // Only the machine's share: the client's memory is measured apart.
    std::size_t of_client = 0;
    for (int round = 0; round < 3; ++round) {
      of_client -= give(machine);
      const std::string down = take_all(output);
      const std::size_t at_start = held;
      client.receive(down);
      if (round == 1) client.send("question");
      of_client += held - at_start;
    }
    after_one = held - before - of_client;
    ASSERT_TRUE(machine.opened());
    RecordProperty(version == TLS1_2_VERSION ? "bytes_1_2" : "bytes_1_3",
                   static_cast<int>(after_one));
    EXPECT_LE(after_one, 16u * 1024) << "TLS version " << version;
    EXPECT_GT(after_one, 1024u);  // otherwise nothing was counted
  }
}

TEST(TlsMemory, a_connection_that_is_gone_has_given_everything_back) {
  ASSERT_TRUE(counts);
  const auto talk = [] {
    Bench bench;
    bench.pass();
    bench.client.end();
    bench.pass();
  };
  talk();  // memory that OpenSSL allocates once is not counted
  const std::size_t before = held;
  for (int round = 0; round < 3; ++round) talk();
  EXPECT_EQ(held, before);
}

TEST(TlsMemory, an_address_that_is_not_announced_leaves_nothing) {
  ASSERT_TRUE(counts);
  const TestCertificate certificate;
  const TestContext context = make_test_context(certificate);
  Machine machine(*context, Side::client);
  EXPECT_TRUE(machine.announce_name("127.0.0.1"));
  const std::size_t before = held;
  EXPECT_TRUE(machine.announce_name("127.0.0.1"));
  EXPECT_TRUE(machine.announce_name("2001:db8::1"));
  EXPECT_EQ(held, before);
}

TEST(TlsMemory, a_machine_that_finds_no_memory_is_not_valid_and_leaves_nothing) {
  ASSERT_TRUE(counts);
  {
    const Machine first(test_context());
  }  // memory that OpenSSL allocates once is not counted
  const std::size_t before = held;
  for (const bool once : {true, false}) {
    is_refused_once = once;
    std::size_t allocations = 0;
    do {
      ASSERT_LT(allocations, 1000u);
      is_refused = false;
      allocations_left = allocations;
      {
        const Machine machine(test_context());
        allocations_left = SIZE_MAX;
        EXPECT_EQ(machine.valid(), !is_refused) << allocations;
      }
      ERR_clear_error();
      ASSERT_EQ(held, before) << allocations;
      ++allocations;
    } while (is_refused);
    EXPECT_GT(allocations, 2u);
  }
}

TEST(TlsMemory, a_record_that_finds_no_memory_fails_the_machine_and_is_not_written) {
  ASSERT_TRUE(counts);
  Bench bench;
  bench.pass();
  allocations_left = 0;
  const std::size_t sealed = bench.machine.seal("answer", bench.output);
  allocations_left = SIZE_MAX;
  EXPECT_EQ(sealed, 0u);
  EXPECT_TRUE(bench.machine.has_failed());
  EXPECT_FALSE(bench.machine.can_seal());
  EXPECT_TRUE(bench.output.empty());
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
