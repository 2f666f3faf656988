#include "katana/base/registry/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace katana::registry {

struct Clock {
  virtual int now() const = 0;  // no virtual destructor: none is needed

 protected:
  ~Clock() = default;
};
struct Store {
  virtual ~Store() = default;
  virtual std::string read() const = 0;
};
struct Users {
  virtual ~Users() = default;
  virtual std::string name() const = 0;
};

namespace {

using Journal = std::vector<std::string>;

// Writes its making and its end into a journal.
struct Noted {
  Noted(Journal& journal, std::string name) : journal_(journal), name_(std::move(name)) {
    journal_.push_back("+" + name_);
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { journal_.push_back("-" + name_); }

 private:
  Journal& journal_;
  std::string name_;
};
struct FixedClock final : Clock, Noted {
  FixedClock(Journal& journal, int time) : Noted(journal, "clock"), time_(time) {}
  int now() const override { return time_; }
  int time_;
};
struct MemoryStore final : Noted, Store {
  explicit MemoryStore(Journal& journal) : Noted(journal, "store") {}
  std::string read() const override { return "row"; }
};
struct StoredUsers final : Users, Noted {
  StoredUsers(Journal& journal, Store& store, Clock& clock)
      : Noted(journal, "users"), store_(store), clock_(clock) {}
  std::string name() const override { return store_.read() + std::to_string(clock_.now()); }
  Store& store_;
  Clock& clock_;
};
struct Session : Noted {
  Session(Journal& journal, Users& users) : Noted(journal, "session"), users_(users) {}
  Users& users_;
};
struct Buffer : Noted {
  explicit Buffer(Journal& journal) : Noted(journal, "buffer") {}
};

void add_users(Registry& registry, Journal& journal) {
  registry.singleton<Users>([&journal](Store& store, Clock& clock) {
    return std::make_unique<StoredUsers>(journal, store, clock);
  });
  registry.singleton<Store>([&journal] { return std::make_unique<MemoryStore>(journal); });
  registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 7); });
}

std::unique_ptr<Services> sealed(Registry registry) {
  auto services = std::move(registry).seal();
  EXPECT_TRUE(services) << services.error().describe();
  return std::move(*services);
}
std::string refusal(Registry registry) {
  auto services = std::move(registry).seal();
  EXPECT_FALSE(services);
  return services ? "" : services.error().describe();
}

TEST(Registry, makes_what_is_needed_first_and_destroys_it_last) {
  Journal journal;
  Registry registry;
  add_users(registry, journal);
  auto services = sealed(std::move(registry));
  EXPECT_EQ(journal, (Journal{"+store", "+clock", "+users"}));
  EXPECT_EQ(services->get<Users>().name(), "row7");
  journal.clear();
  services.reset();
  EXPECT_EQ(journal, (Journal{"-users", "-clock", "-store"}));
}

TEST(Registry, resolves_an_interface_to_the_object_itself_so_a_call_is_one_virtual_call) {
  struct Stepper {  // knows no interface
    int time = 3;
    int read() const { return time; }
  };
  struct Adapter final : Clock {
    explicit Adapter(Stepper& stepper) : stepper_(stepper) {}
    int now() const override { return stepper_.read(); }  // not virtual: can be inlined
    Stepper& stepper_;
  };
  static_assert(!std::is_polymorphic_v<Stepper>);
  Stepper stepper;
  const Adapter* made = nullptr;
  Registry registry;
  registry.instance<Stepper>(stepper);
  registry.singleton<Clock>([&made](Stepper& of) {
    auto adapter = std::make_unique<Adapter>(of);
    made = adapter.get();
    return adapter;
  });
  auto services = sealed(std::move(registry));
  EXPECT_EQ(&services->get<Clock>(), made);
  stepper.time = 4;
  EXPECT_EQ(services->get<Clock>().now(), 4);
}

TEST(Registry, finds_by_type_by_slot_and_again_and_again_the_same_object) {
  Journal journal;
  Registry registry;
  add_users(registry, journal);
  const auto services = sealed(std::move(registry));
  const auto slot = services->slot<Clock>();
  ASSERT_TRUE(slot);
  EXPECT_EQ(&services->get(*slot), &services->get<Clock>());
  EXPECT_EQ(services->find<Clock>(), &services->get<Clock>());
  EXPECT_EQ(services->find<Session>(), nullptr);
}

TEST(Registry, a_slot_of_what_nobody_registered_is_an_error_that_names_what_there_is) {
  Journal journal;
  Registry registry;
  add_users(registry, journal);
  const auto services = sealed(std::move(registry));
  const auto slot = services->slot<Buffer>();
  ASSERT_FALSE(slot);
  EXPECT_EQ(slot.error().code(), Code::not_found);
  EXPECT_NE(slot.error().describe().find("Buffer' is registered; there are: 'katana::registry::"),
            std::string::npos)
      << slot.error().describe();
}

template <class Call>
std::string missing(Call call) {
  try {
    call();
  } catch (const MissingService& missing) {
    return missing.what();
  }
  return "nothing is missing";
}

TEST(Registry, getting_what_is_no_singleton_names_it_and_the_place_of_the_call) {
  Registry registry;
  const auto services = sealed(std::move(registry));
  const std::string text = missing([&] { (void)services->get<Clock>(); });
  EXPECT_NE(text.find("get<katana::registry::Clock>() at registry_test.cpp:"), std::string::npos)
      << text;
  EXPECT_NE(text.find("not registered as a singleton: call singleton<katana::registry::Clock>()"),
            std::string::npos)
      << text;
  EXPECT_EQ(missing([&] { (void)services->get(Slot<Clock>()); }).find("get<katana::registry::Cl"),
            0u);
}

TEST(Registry, what_is_switched_off_is_named_with_what_switches_it_on) {
  Registry registry;
  registry.absent<Clock>("set 'clock.url'");
  const auto services = sealed(std::move(registry));
  const std::string text = missing([&] { (void)services->get<Clock>(); });
  EXPECT_TRUE(text.ends_with("is not registered as a singleton: set 'clock.url'")) << text;
  EXPECT_EQ(services->slot<Clock>().error().describe(),
            "no service 'katana::registry::Clock' is registered: set 'clock.url'");
  Registry needing;
  needing.absent<Clock>("set 'clock.url'");
  needing.singleton<Store>([](Clock&) { return std::unique_ptr<Store>(); });
  const std::string mistake = refusal(std::move(needing));
  EXPECT_NE(mistake.find("'katana::registry::Clock', which is not registered: set 'clock.url'"),
            std::string::npos)
      << mistake;
}

TEST(Registry, a_circle_is_named_in_full) {
  Registry registry;
  registry.singleton<Users>([](Store&) { return std::unique_ptr<Users>(); });
  registry.singleton<Store>([](Clock&) { return std::unique_ptr<Store>(); });
  registry.singleton<Clock>([](Users*) -> std::unique_ptr<FixedClock> { return nullptr; });
  EXPECT_NE(refusal(std::move(registry))
                .find("in a circle: katana::registry::Users → katana::registry::Store → "
                      "katana::registry::Clock → katana::registry::Users."),
            std::string::npos);
}

TEST(Registry, a_service_that_needs_itself_is_a_circle) {
  Registry registry;
  registry.singleton<Store>([](Store&) { return std::unique_ptr<Store>(); });
  EXPECT_NE(
      refusal(std::move(registry)).find(": katana::registry::Store → katana::registry::Store."),
      std::string::npos);
}

TEST(Registry, what_is_missing_is_named_with_who_wants_it_and_where) {
  Registry registry;
  registry.singleton<Users>([](Store&) { return std::unique_ptr<Users>(); });
  const std::string text = refusal(std::move(registry));
  EXPECT_NE(text.find("'katana::registry::Users' (registry_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("needs 'katana::registry::Store', which is not registered. Register it, or "
                      "take 'katana::registry::Store*' if it may be missing"),
            std::string::npos)
      << text;
}

TEST(Registry, an_optional_need_is_null_when_nobody_registers_it_and_made_first_otherwise) {
  for (const bool there : {false, true}) {
    Journal journal;
    bool given = false;
    Registry registry;
    registry.singleton<Buffer>([&](Clock* clock) {
      given = clock != nullptr;
      return std::make_unique<Buffer>(journal);
    });
    if (there) {
      registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 1); });
    }
    const auto services = sealed(std::move(registry));
    EXPECT_EQ(given, there);
    EXPECT_EQ(journal, there ? (Journal{"+clock", "+buffer"}) : (Journal{"+buffer"}));
  }
}

TEST(Registry, registered_twice_is_refused_with_both_places) {
  Journal journal;
  Registry registry;
  add_users(registry, journal);
  add_users(registry, journal);
  const std::string text = refusal(std::move(registry));
  EXPECT_NE(text.find("3 problems"), std::string::npos) << text;
  EXPECT_NE(text.find("'katana::registry::Clock' is registered twice: registry_test.cpp:"),
            std::string::npos)
      << text;
  EXPECT_TRUE(journal.empty());
}

TEST(Registry, mistakes_of_every_kind_are_told_at_once) {
  Journal journal;
  Registry registry;
  registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 1); });
  registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 2); });
  registry.singleton<Store>([](Store&) { return std::unique_ptr<Store>(); });
  registry.scoped<Buffer>([&journal] { return std::make_unique<Buffer>(journal); });
  registry.singleton<Users>(
      [](Buffer&, Owned<Clock>, std::string&) -> std::unique_ptr<Users> { return nullptr; });
  const std::string text = refusal(std::move(registry));
  EXPECT_EQ(text.find("5 problems with the services:"), 0u) << text;
  for (const char* const each :
       {"is registered twice", "in a circle: katana::registry::Store", "which is not registered",
        "would keep a scoped service beyond its scope", "Take 'katana::registry::Clock&'"}) {
    EXPECT_NE(text.find(each), std::string::npos) << each << "\n" << text;
  }
}

TEST(Registry, a_singleton_may_not_keep_a_scoped_service_not_even_by_a_transient_one) {
  Journal journal;
  Registry registry;
  registry.singleton<Users>([](Owned<Store>) { return std::unique_ptr<Users>(); });
  registry.transient<Store>([](Buffer&) { return std::unique_ptr<Store>(); });
  registry.scoped<Buffer>([&journal] { return std::make_unique<Buffer>(journal); });
  const std::string text = refusal(std::move(registry));
  EXPECT_NE(text.find("is a singleton and would keep a scoped service beyond its scope: "
                      "'katana::registry::Users' → 'katana::registry::Store' → '"),
            std::string::npos)
      << text;
}

TEST(Registry, a_reference_to_a_transient_service_and_owning_a_shared_one_are_refused) {
  Journal journal;
  Registry registry;
  registry.singleton<Users>([](Store&, Owned<Clock>) { return std::unique_ptr<Users>(); });
  registry.transient<Store>([] { return std::unique_ptr<Store>(); });
  registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 1); });
  const std::string text = refusal(std::move(registry));
  EXPECT_NE(text.find("takes a reference to 'katana::registry::Store', which is transient"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'katana::registry::Clock' is a singleton, which others share. Take "
                      "'katana::registry::Clock&'"),
            std::string::npos)
      << text;
}

TEST(Registry, many_problems_are_listed_up_to_a_bound) {
  Registry registry;
  for (int count = 0; count < 30; ++count) {
    registry.singleton<Clock>([](Store&) -> std::unique_ptr<FixedClock> { return nullptr; });
  }
  const std::string text = refusal(std::move(registry));
  EXPECT_EQ(std::ranges::count(text, '\n'), 17) << text;
  EXPECT_NE(text.find("and 43 more"), std::string::npos) << text;  // 29 twice, 30 missing
}

TEST(Registry, a_failing_factory_is_named_with_its_needs_and_what_was_made_is_destroyed) {
  Journal journal;
  Registry registry;
  registry.singleton<Users>([](Store&, Clock&) -> Result<std::unique_ptr<Users>> {
    return fail(Code::permission_denied, "open 'users.db': permission denied");
  });
  registry.singleton<Store>([&journal] { return std::make_unique<MemoryStore>(journal); });
  registry.singleton<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 7); });
  const auto services = std::move(registry).seal();
  ASSERT_FALSE(services);
  EXPECT_EQ(services.error().code(), Code::permission_denied);
  EXPECT_EQ(services.error().describe(),
            "service 'katana::registry::Users' (needs 'katana::registry::Store' and "
            "'katana::registry::Clock') was not made: open 'users.db': permission denied");
  EXPECT_EQ(journal, (Journal{"+store", "+clock", "-clock", "-store"}));
}

TEST(Registry, a_factory_that_throws_or_returns_null_fails_by_name) {
  Registry throwing;
  throwing.singleton<Store>(
      []() -> std::unique_ptr<Store> { throw std::runtime_error("no disk"); });
  EXPECT_EQ(refusal(std::move(throwing)),
            "service 'katana::registry::Store' was not made: its factory threw: no disk");
  Registry null;
  null.singleton<Store>([] { return std::unique_ptr<Store>(); });
  EXPECT_EQ(refusal(std::move(null)),
            "service 'katana::registry::Store' was not made: its factory returned null");
}

TEST(Registry, a_transient_service_is_made_for_each_and_goes_with_its_owner) {
  Journal journal;
  Registry registry;
  registry.transient<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 1); });
  const auto services = sealed(std::move(registry));
  EXPECT_TRUE(journal.empty());
  {
    auto one = services->make<Clock>();
    auto other = services->make<Clock>();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->get(), other->get());
    EXPECT_EQ((*one)->now(), 1);
  }
  EXPECT_EQ(journal, (Journal{"+clock", "+clock", "-clock", "-clock"}));
}

TEST(Registry, a_transient_need_is_owned_by_who_needs_it_and_ended_if_that_fails) {
  Journal journal;
  struct Holder {
    Owned<Clock> clock;
  };
  for (const bool fails : {false, true}) {
    journal.clear();
    Registry registry;
    registry.transient<Clock>([&journal] { return std::make_unique<FixedClock>(journal, 1); });
    registry.singleton<Holder>([fails](Owned<Clock> clock) -> Result<std::unique_ptr<Holder>> {
      if (fails) return fail(Code::internal);
      return std::make_unique<Holder>(std::move(clock));
    });
    auto services = std::move(registry).seal();
    EXPECT_EQ(services.has_value(), !fails);
    services = fail(Code::cancelled);
    EXPECT_EQ(journal, (Journal{"+clock", "-clock"}));
  }
}

TEST(Registry, an_alias_is_the_same_object_with_the_same_lifetime) {
  Journal journal;
  Registry registry;
  registry.alias<Store, MemoryStore>();
  registry.alias<Clock, FixedClock>();
  registry.singleton<MemoryStore>([&journal] { return std::make_unique<MemoryStore>(journal); });
  registry.transient<FixedClock>([&journal] { return std::make_unique<FixedClock>(journal, 5); });
  {
    const auto services = sealed(std::move(registry));
    EXPECT_EQ(&services->get<Store>(), &services->get<MemoryStore>());
    const auto clock = services->make<Clock>();
    ASSERT_TRUE(clock);
    EXPECT_EQ((*clock)->now(), 5);
  }
  EXPECT_EQ(journal, (Journal{"+store", "+clock", "-clock", "-store"}));
}

TEST(Registry, an_instance_is_borrowed) {
  Journal journal;
  {
    MemoryStore store(journal);
    Registry registry;
    registry.instance<Store>(store);
    {
      const auto services = sealed(std::move(registry));
      EXPECT_EQ(&services->get<Store>(), &store);
    }
    EXPECT_EQ(journal, Journal{"+store"});
  }
}

TEST(Registry, describes_itself_in_the_order_of_making) {
  Journal journal;
  Registry registry;
  add_users(registry, journal);
  EXPECT_EQ(sealed(std::move(registry))->describe(),
            "katana::registry::Store: a singleton\nkatana::registry::Clock: a singleton\n"
            "katana::registry::Users: a singleton (needs 'katana::registry::Store' and "
            "'katana::registry::Clock')\n");
}

class ScopeTest : public testing::Test {
 protected:
  ScopeTest() {
    Registry registry;
    add_users(registry, journal);
    registry.scoped<Session>(
        [this](Users& users) { return std::make_unique<Session>(journal, users); });
    registry.scoped<Buffer>([this](Session&) { return std::make_unique<Buffer>(journal); });
    registry.transient<std::string>(
        [](Session& session) { return std::make_unique<std::string>(session.users_.name()); });
    services = sealed(std::move(registry));
    journal.clear();
  }
  Journal journal;
  std::unique_ptr<Services> services;
};

TEST_F(ScopeTest, makes_a_service_when_it_is_first_asked_for_and_destroys_in_reverse) {
  {
    Scope scope(*services);
    EXPECT_TRUE(journal.empty());
    const auto buffer = scope.get<Buffer>();
    ASSERT_TRUE(buffer);
    EXPECT_EQ(*scope.get<Buffer>(), *buffer);
    EXPECT_EQ(*scope.get(*services->slot<Buffer>()), *buffer);
    EXPECT_EQ(&(*scope.get<Session>())->users_, &services->get<Users>());
    EXPECT_EQ(*scope.get<Users>(), &services->get<Users>());
    EXPECT_EQ(journal, (Journal{"+session", "+buffer"}));
  }
  EXPECT_EQ(journal, (Journal{"+session", "+buffer", "-buffer", "-session"}));
}

TEST_F(ScopeTest, two_scopes_have_services_of_their_own) {
  Scope one(*services), other(*services);
  EXPECT_NE(*one.get<Session>(), *other.get<Session>());
}

TEST_F(ScopeTest, makes_transient_services_that_need_scoped_ones_only_in_a_scope) {
  Scope scope(*services);
  EXPECT_EQ(*scope.make<std::string>().value(), "row7");
  const auto outside = services->make<std::string>();
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().describe().find("is scoped: make this in a Scope"), std::string::npos)
      << outside.error().describe();
}

TEST_F(ScopeTest, says_when_a_service_is_asked_for_in_the_wrong_way) {
  Scope scope(*services);
  EXPECT_NE(scope.get<std::string>().error().describe().find("is transient: use make()"),
            std::string::npos);
  EXPECT_NE(scope.make<Session>().error().describe().find("is scoped, which others share: use get"),
            std::string::npos);
  EXPECT_EQ(scope.get<int>().error().code(), Code::not_found);
}

TEST(Registry, sealed_services_are_read_and_made_by_many_threads) {
  std::atomic<int> made = 0;
  Registry registry;
  registry.singleton<std::atomic<int>>([] { return std::make_unique<std::atomic<int>>(0); });
  registry.transient<std::string>([&made](std::atomic<int>&) {
    made.fetch_add(1);
    return std::make_unique<std::string>("x");
  });
  registry.scoped<int>([&made] { return std::make_unique<int>(made.fetch_add(1)); });
  const auto services = sealed(std::move(registry));
  constexpr int turns = 200;
  std::vector<std::thread> threads;
  for (int count = 0; count < 4; ++count) {
    threads.emplace_back([&services] {
      for (int turn = 0; turn < turns; ++turn) {
        services->get<std::atomic<int>>().fetch_add(1);
        Scope scope(*services);
        if (!services->make<std::string>() || !scope.get<int>()) std::abort();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(services->get<std::atomic<int>>().load(), 4 * turns);
  EXPECT_EQ(made.load(), 8 * turns);
}

TEST(Registry, an_override_takes_the_place_of_a_registration_and_keeps_its_lifetime) {
  Journal journal;
  FixedClock fixed(journal, 7);
  Registry registry;
  registry.override_instance<Clock>(fixed);  // also before what it replaces
  registry.singleton<Clock>([]() -> Result<std::unique_ptr<FixedClock>> {
    return fail(Code::unavailable, "this machine has no clock");
  });
  registry.scoped<Store>([&journal] { return std::make_unique<MemoryStore>(journal); });
  registry.override_service<Store>([](Clock& clock) {
    struct Small final : Store {
      explicit Small(int time) : time_(time) {}
      std::string read() const override { return std::to_string(time_); }
      int time_;
    };
    return std::make_unique<Small>(clock.now());
  });
  const auto services = sealed(std::move(registry));
  EXPECT_EQ(&services->get<Clock>(), &fixed);
  Scope first(*services), second(*services);
  EXPECT_EQ(first.get<Store>().value()->read(), "7");
  EXPECT_NE(first.get<Store>().value(), second.get<Store>().value());
  EXPECT_EQ(journal, Journal{"+clock"});
}

TEST(Registry, an_override_of_what_nobody_registers_is_named) {
  Journal journal;
  FixedClock fixed(journal, 7);
  Registry registry;
  registry.override_instance<Clock>(fixed);
  registry.override_service<int>([] { return std::make_unique<int>(1); });
  const auto services = std::move(registry).seal();
  ASSERT_FALSE(services);
  EXPECT_EQ(services.error().code(), Code::not_found);
  const std::string text = services.error().describe();
  EXPECT_NE(text.find("'katana::registry::Clock', 'int'"), std::string::npos) << text;
  EXPECT_NE(text.find("remove the override"), std::string::npos) << text;
}

TEST(Registry, a_hundred_services_are_all_found_and_no_others) {
  // Types that differ only by a number hash like neighbours in memory.
  Registry registry;
  const auto add = [&registry]<std::size_t... I>(std::index_sequence<I...>) {
    (registry.singleton<std::integral_constant<std::size_t, I>>(
         [] { return std::make_unique<std::integral_constant<std::size_t, I>>(); }),
     ...);
  };
  add(std::make_index_sequence<100>());
  const auto services = sealed(std::move(registry));
  [&services]<std::size_t... I>(std::index_sequence<I...>) {
    EXPECT_TRUE((... && (services->find<std::integral_constant<std::size_t, I>>() != nullptr)));
    EXPECT_TRUE(
        (... && (services->find<std::integral_constant<std::size_t, I + 100>>() == nullptr)));
  }(std::make_index_sequence<100>());
}

}  // namespace
}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
