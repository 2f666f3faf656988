// Spans: their parents, which of them are kept, and the counts when there is no room.
#include "katana/observe/trace/span.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/when.hpp"

namespace katana::trace {
namespace {

// An event that a coroutine awaits and a test sets.
class Door {
 public:
  void open() { std::exchange(waiting_, {}).resume(); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiting_ = handle; }
  void await_resume() const noexcept {}

 private:
  Waiting waiting_;
};

struct Seen {
  std::string name;
  SpanContext context;
  SpanContext parent;
  Instant began, ended;
  SpanStatus status;
};

class SpanTest : public testing::Test {
 protected:
  void make(TracerOptions options) {
    options.clock = [this] { return Instant{++ticks_ + now_.ns}; };
    options.seed = 1;
    tracer_.emplace(std::move(options));
    root_ = Root::begin(*tracer_);
    activity_.span = &root_->current();
  }
  void SetUp() override { make({}); }

  // Runs f in the activity of the root.
  template <class F>
  void within(F f) {
    const ActivityScope scope(&activity_);
    f();
    EXPECT_EQ(current_activity, &activity_) << "the activity is what it was";
  }
  void end_root(bool failed = false) {
    root_->end({.failed = failed}, [](SpanRecord& span) { span.set_name("root"); });
    root_ = {};
  }
  std::map<std::string, Seen> drained() {
    std::map<std::string, Seen> seen;
    tracer_->drain([&](const SpanRecord& span) {
      seen[std::string(span.name())] = {
          std::string(span.name()), span.context, span.parent, span.began, span.ended, span.status};
    });
    return seen;
  }
  static void expect_below(const Seen& child, const Seen& parent) {
    EXPECT_EQ(child.parent, parent.context) << child.name << " is below " << parent.name;
    EXPECT_EQ(child.context.trace, parent.context.trace);
    EXPECT_LE(parent.began, child.began) << child.name;
    EXPECT_GE(parent.ended, child.ended) << child.name;
  }
  Task<void> work(Door& door, const char* outer, const char* inner) {
    Span span{Bytes(outer)};
    co_await door;
    Span below{Bytes(inner)};
    co_await door;
  }

  Instant now_{1};
  std::atomic<std::int64_t> ticks_{0};
  Activity activity_;
  std::optional<Tracer> tracer_;
  RootRef root_;
};

TEST_F(SpanTest, a_span_is_below_the_one_that_is_current_and_current_until_it_ends) {
  within([] {
    Span outer("outer");
    {
      Span inner("inner");
    }
    Span second("second");
    second.end();
    Span third("third");
  });
  end_root();
  const auto seen = drained();
  ASSERT_EQ(seen.size(), 5u);
  expect_below(seen.at("outer"), seen.at("root"));
  for (const char* name : {"inner", "second", "third"})
    expect_below(seen.at(name), seen.at("outer"));
  EXPECT_FALSE(seen.at("root").parent.is_valid());
}

TEST_F(SpanTest, interleaved_coroutines_never_see_one_anothers_spans) {
  Door a_door, b_door;
  std::optional<Task<void>> a, b;
  within([&] {
    const ActivityScope as(current_activity);
    a.emplace(work(a_door, "a", "in a"));
    EXPECT_FALSE(a->start());
  });
  within([&] {
    const ActivityScope as(current_activity);
    b.emplace(work(b_door, "b", "in b"));
    EXPECT_FALSE(b->start());
  });
  for (Door* door : {&a_door, &b_door, &b_door, &a_door}) {
    door->open();
    EXPECT_EQ(current_activity, nullptr);
  }
  end_root();
  const auto seen = drained();
  ASSERT_EQ(seen.size(), 5u);
  expect_below(seen.at("in a"), seen.at("a"));
  expect_below(seen.at("in b"), seen.at("b"));
  expect_below(seen.at("a"), seen.at("root"));
  expect_below(seen.at("b"), seen.at("root"));
}

TEST_F(SpanTest, tasks_that_run_at_once_are_below_what_awaits_them_all) {
  Door a_door, b_door;
  const auto both = [&]() -> Task<void> {
    Span span("both");
    co_await when_all(work(a_door, "a", "in a"), work(b_door, "b", "in b"));
    Span after("after");
  };
  auto task = both();
  within([&] {
    const ActivityScope as(current_activity);
    EXPECT_FALSE(task.start());
  });
  for (Door* door : {&b_door, &a_door, &a_door, &b_door}) door->open();
  EXPECT_TRUE(task.done());
  end_root();
  const auto seen = drained();
  ASSERT_EQ(seen.size(), 7u);
  for (const char* name : {"a", "b", "after"}) expect_below(seen.at(name), seen.at("both"));
  expect_below(seen.at("in b"), seen.at("b"));
}

TEST_F(SpanTest, a_coroutine_that_is_destroyed_while_it_waits_ends_its_spans_and_no_others) {
  Door door;
  std::optional<Task<void>> task;
  within([&] {
    const ActivityScope as(current_activity);
    task.emplace(work(door, "outer", "inner"));
    task->start();
  });
  within([&] {
    Span here("here");
    task.reset();
    Span below("below");
  });
  end_root();
  const auto seen = drained();
  expect_below(seen.at("below"), seen.at("here"));
  expect_below(seen.at("outer"), seen.at("root"));
}

TEST_F(SpanTest, where_nothing_is_recorded_a_span_changes_nothing) {
  Span nowhere("nowhere");
  EXPECT_FALSE(nowhere.is_recorded());
  EXPECT_EQ(current_activity, nullptr);
  make({.sampler = Sampler::of_ratio(0)});
  within([this] {
    Span span("span");
    EXPECT_FALSE(span.is_recorded());
    EXPECT_EQ(current_activity, &activity_);
  });
  end_root(true);
  EXPECT_TRUE(drained().empty());
}

TEST_F(SpanTest, what_was_not_sampled_is_kept_when_it_failed_or_took_long) {
  const auto keeps = [this](TracerOptions options, bool failed, Duration took) {
    options.sampler = Sampler::of_ratio(0);
    make(std::move(options));
    within([] { Span span("span"); });
    now_ = now_ + took;
    end_root(failed);
    return drained().size();
  };
  EXPECT_EQ(keeps({.keep_failed = true}, true, {}), 2u);
  EXPECT_EQ(keeps({.keep_failed = true}, false, seconds(9)), 0u);
  EXPECT_EQ(keeps({.keep_slow = seconds(1)}, false, seconds(2)), 2u);
  EXPECT_EQ(keeps({.keep_slow = seconds(1)}, true, milliseconds(900)), 0u);
}

TEST_F(SpanTest, spans_that_are_held_are_bounded_and_come_back_when_they_are_not_kept) {
  make({.sampler = Sampler::of_ratio(0), .spans_max = 8, .keep_failed = true, .held_max = 4});
  for (int round = 0; round < 100; ++round) {
    within([] {
      for (int index = 0; index < 6; ++index) Span span("span");
    });
    end_root();
    root_ = Root::begin(*tracer_);
    activity_.span = &root_->current();
  }
  EXPECT_EQ(tracer_->counted(Drop::held_full), 200u);
  EXPECT_EQ(tracer_->counted(Drop::buffer_full), 0u);
  EXPECT_TRUE(drained().empty());
}

TEST_F(SpanTest, one_that_ends_after_its_root_shares_its_fate) {
  for (const bool failed : {false, true}) {
    make({.sampler = Sampler::of_ratio(0), .keep_failed = true});
    {
      std::optional<Span> late;
      within([&] {
        const ActivityScope as(current_activity);
        late.emplace("late");
      });
      end_root(failed);
      late.reset();
    }
    EXPECT_EQ(drained().count("late"), failed ? 1u : 0u);
  }
}

TEST_F(SpanTest, spans_without_room_are_counted_and_the_others_are_whole) {
  make({.spans_max = 3});
  within([] {
    for (int index = 0; index < 5; ++index) Span span("span");
  });
  EXPECT_EQ(tracer_->counted(Drop::buffer_full), 2u);
  EXPECT_EQ(tracer_->drain([](const SpanRecord&) {}), 3u);
  within([] { Span again("again"); });
  EXPECT_EQ(drained().count("again"), 1u);
}

TEST_F(SpanTest, a_text_without_room_is_cut_at_a_character_and_an_attribute_is_counted) {
  within([] {
    Span span("span");
    span.set("long", std::string(1000, 'x'));
    span.set("umlauts", std::string("ääääääääääääääääääää"));
    span.set("none", Bytes("y"));
    for (int index = 0; index < 40; ++index) span.set("count", index);
  });
  bool drained = false;
  tracer_->drain([&](const SpanRecord& span) {
    drained = true;
    EXPECT_EQ(span.attribute_count(), attributes_max);
    EXPECT_EQ(span.dropped_attributes(), 19u);
    EXPECT_EQ(tracer_->cut_texts(), 2u);
    const Bytes umlauts = span.text(span.attribute(1).text);
    EXPECT_EQ(umlauts, "ääääääääää") << "1,024 − 4 − 1,000 bytes";
    EXPECT_EQ(span.text(span.attribute(2).text), "");
    EXPECT_EQ(span.attribute(3).integer, 0);
  });
  EXPECT_TRUE(drained);
}

TEST_F(SpanTest, a_reader_that_rests_is_called_at_the_next_span_and_once) {
  EXPECT_FALSE(tracer_->call_at_next_span()) << "there is nothing to call";
  int calls = 0;
  root_ = {};
  TracerOptions options;
  options.on_filling = [&] { ++calls; };
  make(std::move(options));
  EXPECT_TRUE(tracer_->call_at_next_span());
  EXPECT_EQ(calls, 0);
  end_root();
  EXPECT_EQ(calls, 1);
  Root::begin(*tracer_)->end({}, [](SpanRecord&) {});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(tracer_->drain([](const SpanRecord&) {}), 2u);
}

TEST_F(SpanTest, the_same_seed_gives_the_same_ids) {
  const auto ids = [] {
    Tracer tracer({.seed = 42});
    const TraceId first = tracer.new_trace();
    return std::pair(first, tracer.new_span());
  };
  EXPECT_EQ(ids(), ids());
  Tracer a, b;
  EXPECT_NE(a.new_trace(), b.new_trace());
}

TEST_F(SpanTest, a_trace_of_another_process_goes_on_with_its_state) {
  const SpanContext parent{.trace = {1, 2}, .span = {3}, .flags = flag_sampled, .is_remote = true};
  root_ = Root::begin(*tracer_, {parent, "a=1"}, Instant{});
  EXPECT_EQ(root_->context().trace, parent.trace);
  EXPECT_NE(root_->context().span, parent.span);
  EXPECT_EQ(root_->context().flags, flag_sampled) << "its id may not be random";
  EXPECT_EQ(root_->state(), "a=1");
  end_root();
  EXPECT_EQ(drained().at("root").parent, parent);
}

TEST_F(SpanTest, of_many_threads_each_span_is_drained_once_or_counted) {
  make({.spans_max = 64});
  constexpr int threads = 4, spans = 20'000;
  std::atomic<int> running{threads};
  std::vector<std::thread> all;
  const CurrentSpan current = root_->current();
  for (int index = 0; index < threads; ++index) {
    all.emplace_back([&] {
      Activity activity;
      activity.span = &current;
      const ActivityScope scope(&activity);
      for (int count = 0; count < spans; ++count) Span span("span");
      running.fetch_sub(1);
    });
  }
  std::size_t drained = 0;
  const auto drain = [&] {
    drained += tracer_->drain([](const SpanRecord& span) { ASSERT_EQ(span.name(), "span"); });
  };
  while (running.load() > 0) drain();
  for (std::thread& each : all) each.join();
  drain();
  EXPECT_EQ(drained + tracer_->counted(Drop::buffer_full), threads * spans);
  EXPECT_EQ(tracer_->drained(), drained);
}

}  // namespace
}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
