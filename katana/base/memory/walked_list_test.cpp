#include "katana/base/memory/walked_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace katana {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Numbered : WalkedItem<Numbered> {
  explicit Numbered(int value) noexcept : number(value) {}
  const int number;
};

struct List {
  explicit List(int count) {
    for (int number = 0; number < count; ++number) add(number);
  }
  void add(int number) {
    items.push_back(std::make_unique<Numbered>(number));
    list.push_back(*items.back());
  }
  std::vector<int> numbers() {
    std::vector<int> found;
    list.for_each([&](const Numbered& each) {
      found.push_back(each.number);
      return true;
    });
    return found;
  }

  WalkedList<Numbered> list;
  std::vector<std::unique_ptr<Numbered>> items;
};

// Returns the numbers of one step.
std::vector<int> step(ListWalk<Numbered>& walk, std::size_t count, bool& over) {
  std::vector<int> found;
  over = walk.step(count, [&](const Numbered& each) {
    found.push_back(each.number);
    return true;
  });
  return found;
}

// A static or thread-local list is not destroyed before objects that outlive it: they would leave a
// list whose own node has left.
static_assert(std::is_trivially_destructible_v<WalkedList<Numbered>>);

TEST(WalkedList, has_its_objects_in_the_order_in_which_they_entered) {
  List list(3);
  EXPECT_THAT(list.numbers(), ElementsAre(0, 1, 2));
  list.items[1].reset();
  EXPECT_THAT(list.numbers(), ElementsAre(0, 2));
  list.items[0].reset();
  list.items[2].reset();
  EXPECT_THAT(list.numbers(), IsEmpty());
}

TEST(ListWalk, visits_each_object_once_in_steps_of_a_number) {
  List list(5);
  ListWalk<Numbered> walk;
  walk.begin(list.list);
  bool over = true;
  EXPECT_THAT(step(walk, 2, over), ElementsAre(0, 1));
  EXPECT_FALSE(over);
  EXPECT_THAT(step(walk, 2, over), ElementsAre(2, 3));
  EXPECT_FALSE(over);
  EXPECT_THAT(step(walk, 2, over), ElementsAre(4));
  EXPECT_TRUE(over);
  EXPECT_THAT(step(walk, 2, over), IsEmpty());
  EXPECT_TRUE(over);
}

TEST(ListWalk, goes_on_when_objects_at_its_place_leave_and_others_enter) {
  List list(6);
  ListWalk<Numbered> walk;
  walk.begin(list.list);
  bool over = true;
  EXPECT_THAT(step(walk, 3, over), ElementsAre(0, 1, 2));
  list.items[2].reset();  // the one before the place
  list.items[3].reset();  // and the one behind
  list.add(6);
  EXPECT_THAT(list.numbers(), ElementsAre(0, 1, 4, 5, 6)) << "the place is no object";
  EXPECT_THAT(step(walk, 3, over), ElementsAre(4, 5, 6));
  EXPECT_TRUE(over || step(walk, 3, over).empty());
}

TEST(ListWalk, does_not_disturb_another_walk) {
  List list(4);
  ListWalk<Numbered> first, second;
  bool over = true;
  first.begin(list.list);
  EXPECT_THAT(step(first, 2, over), ElementsAre(0, 1));
  second.begin(list.list);
  std::vector<int> all;
  while (!over) {
    for (const int each : step(second, 1, over)) all.push_back(each);
  }
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(step(first, 9, over), ElementsAre(2, 3));
}

TEST(ListWalk, ends_when_the_function_says_so_and_when_it_is_destroyed) {
  List list(3);
  std::optional<ListWalk<Numbered>> walk;
  walk.emplace().begin(list.list);
  std::vector<int> found;
  EXPECT_TRUE(walk->step(9, [&](const Numbered& each) {
    found.push_back(each.number);
    return found.size() < 2;
  }));
  EXPECT_THAT(found, ElementsAre(0, 1));
  walk->begin(list.list);
  bool over = true;
  step(*walk, 1, over);
  walk.reset();
  EXPECT_THAT(list.numbers(), ElementsAre(0, 1, 2));
  list.items.clear();
  EXPECT_THAT(list.numbers(), IsEmpty());
}

TEST(ThreadLists, are_one_for_each_thread_and_outlive_it) {
  std::unique_ptr<Numbered> other = std::make_unique<Numbered>(1);
  std::thread([&] { ThreadLists<Numbered>::own()->push_back(*other); }).join();
  const Numbered* found = nullptr;
  ThreadLists<Numbered>::own()->for_each([&](const Numbered& each) {
    found = &each;
    return true;
  });
  EXPECT_EQ(found, nullptr);
  other.reset();
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
