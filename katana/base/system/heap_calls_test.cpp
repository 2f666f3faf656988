// Counts the heap calls of code that promises to need none after its warm-up.
#include "katana/base/system/heap_calls_test.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"

namespace katana {
namespace {

using HeapCalls = HeapCallsTest;

// How many heap calls `work` makes when it has been done before.
template <class Work>
std::uint64_t calls_when_warm(Work work) {
  for (int count = 0; count < 3; ++count) work();
  const std::uint64_t before = heap_calls();
  for (int count = 0; count < 100; ++count) work();
  return heap_calls() - before;
}

TEST_F(HeapCalls, are_counted) {
  const std::uint64_t before = heap_calls();
  const auto number = std::make_unique<int>(1);
  EXPECT_EQ(heap_calls() - before, 1u);
  EXPECT_EQ(*number, 1);
}

TEST_F(HeapCalls, the_recycler_makes_none_for_sizes_it_has_met) {
  EXPECT_EQ(calls_when_warm([] {
              for (std::size_t size = 1; size <= recycler::recycled_bytes_max; size *= 2) {
                recycler::release(recycler::allocate(size), size);
              }
            }),
            0u);
}

TEST_F(HeapCalls, the_recycler_makes_one_for_each_piece_above_its_maximum) {
  constexpr std::size_t large = recycler::recycled_bytes_max + 1;
  EXPECT_EQ(calls_when_warm([] { recycler::release(recycler::allocate(large), large); }), 100u);
}

TEST_F(HeapCalls, the_recycler_keeps_a_bounded_number_of_pieces) {
  std::vector<void*> pieces(recycler::kept_per_class_max + 50);
  for (void*& piece : pieces) piece = recycler::allocate(300);
  for (void* const piece : pieces) recycler::release(piece, 300);
  const std::uint64_t before = heap_calls();
  for (void*& piece : pieces) piece = recycler::allocate(300);
  EXPECT_EQ(heap_calls() - before, 50u);
  for (void* const piece : pieces) recycler::release(piece, 300);
}

TEST_F(HeapCalls, the_recycler_keeps_more_of_small_pieces_but_no_end_of_them) {
  std::vector<void*> pieces(recycler::kept_small_max + 50);
  for (void*& piece : pieces) piece = recycler::allocate(recycler::small_bytes_max);
  for (void* const piece : pieces) recycler::release(piece, recycler::small_bytes_max);
  const std::uint64_t before = heap_calls();
  for (void*& piece : pieces) piece = recycler::allocate(recycler::small_bytes_max);
  EXPECT_EQ(heap_calls() - before, 50u);
  for (void* const piece : pieces) recycler::release(piece, recycler::small_bytes_max);
}

TEST_F(HeapCalls, a_text_makes_none) {
  EXPECT_EQ(calls_when_warm([] {
              Text text = format_text("{}:{}", "name", 42);
              text.append(
                  std::string_view("more than sixty-four octets, so that it has to grow, "
                                   "and then some more of them"));
            }),
            0u);
}

TEST_F(HeapCalls, success_and_an_error_of_a_code_alone_make_none) {
  EXPECT_EQ(calls_when_warm([] {
              Result<int> value = 1;
              Result<int> failed = fail(Code::not_found);
              Result<int> copy = failed;
              ASSERT_EQ(copy.error().message(), "not found");
              value = std::move(copy);
            }),
            0u);
}

TEST_F(HeapCalls, copying_an_error_with_a_message_makes_none) {
  const Error error = Error(Code::internal, "a message that is too long to be kept in a string");
  EXPECT_EQ(calls_when_warm([&] {
              const Error copy = error;
              ASSERT_EQ(copy.message(), error.message());
            }),
            0u);
}

// A message that lies in its string costs the Detail alone; one that does not, its text as well.
TEST_F(HeapCalls, an_error_with_a_message_makes_one_and_each_wider_one_one_more) {
  EXPECT_EQ(calls_when_warm([] { Error(Code::internal, "short"); }), 100u);
  const Error root(Code::internal, "a message that is too long to be kept in a string");
  EXPECT_EQ(calls_when_warm([&] {
              const Error wider = root.within("context");
              ASSERT_EQ(wider.message(), "context");
            }),
            100u);
}

TEST_F(HeapCalls, a_chain_shares_its_cause_however_often_it_is_copied_or_passed_on) {
  const Error chain =
      Error(Code::internal, "root").within("first").within("second").within("third");
  EXPECT_EQ(calls_when_warm([&] {
              const Error copy = chain;
              Result<int> one = std::unexpected(copy);
              const Result<std::string> other = std::unexpected(std::move(one).error());
              ASSERT_EQ(other.error().message(), "third");
            }),
            0u);
}

TEST_F(HeapCalls, a_result_that_is_returned_through_ten_functions_makes_none) {
  struct Way {
    static Result<int> down(int depth) {
      if (depth == 0) return fail(Code::not_found);
      const Result<int> below = down(depth - 1);
      if (!below) return std::unexpected(below.error());
      return *below;
    }
  };
  EXPECT_EQ(calls_when_warm([] { ASSERT_EQ(Way::down(10).error().code(), Code::not_found); }), 0u);
}

TEST_F(HeapCalls, an_outbox_makes_none) {
  BlockPool pool(256, 16);
  Outbox outbox(pool);
  EXPECT_EQ(calls_when_warm([&] {
              ASSERT_TRUE(outbox.write(std::string_view("written")));
              ASSERT_TRUE(outbox.refer("referred"));
              outbox.advance(outbox.pending());
            }),
            0u);
}

Task<int> answer() { co_return 42; }
Task<int> nested() { co_return co_await answer() + co_await answer(); }
Task<int> suspended(std::coroutine_handle<>* waiting) {
  struct Wait {
    std::coroutine_handle<>* place;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { *place = handle; }
    void await_resume() const noexcept {}
  };
  co_await Wait{waiting};
  co_return co_await nested();
}

TEST_F(HeapCalls, a_task_that_does_not_suspend_makes_none) {
  EXPECT_EQ(calls_when_warm([] {
              Task<int> task = nested();
              ASSERT_TRUE(task.start());
              ASSERT_EQ(task.result(), 84);
            }),
            0u);
}

TEST_F(HeapCalls, a_task_that_suspends_makes_none) {
  EXPECT_EQ(calls_when_warm([] {
              std::coroutine_handle<> waiting;
              Task<int> task = suspended(&waiting);
              ASSERT_FALSE(task.start());
              waiting.resume();
              ASSERT_EQ(task.result(), 84);
            }),
            0u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
