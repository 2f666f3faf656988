// micro_container: the cost of turning structs into JSON and MessagePack, and back.
//
//   micro_container [--quick] [--only SUBSTRING] [--json FILE]
//
// Subjects take turns, round by round, on the same users. Each parse fills a new struct and is
// compared with the original. Each written text is compared with the floor's, byte by byte. Each
// question has a second one of allocations per operation.
#define MSGPACK_NO_BOOST
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../micro.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"
#include "users.hpp"

#if defined(HAVE_MSGPACK_HPP)
#include <msgpack.hpp>
#endif
#if defined(HAVE_NLOHMANN_JSON_HPP)
#include <nlohmann/json.hpp>
#endif

namespace bench {
namespace {

namespace container = katana::container;
using katana::Bytes;

// `work()` done many times, and how often one of them allocates.
struct Job {
  std::string name;
  std::function<void()> work;
};

class Bench {
 public:
  Bench(micro::Suite& suite, std::uint64_t operations) : suite_(suite), operations_(operations) {}

  // Asks for nanoseconds, and then for allocations, per operation.
  const micro::Answers* ask(const std::string& question, const std::vector<Job>& jobs) {
    std::vector<micro::Subject> times, counts;
    const std::uint64_t operations = suite_.operations(operations_);
    for (const Job& job : jobs) {
      times.push_back({job.name, [job, operations] {
                         return micro::time_operations(operations, [&] {
                           for (std::uint64_t count = 0; count < operations; ++count) job.work();
                         });
                       }});
      counts.push_back({job.name, [job] {
                          const std::uint64_t before = allocations();
                          for (int count = 0; count < 100; ++count) job.work();
                          return micro::Sample{static_cast<double>(allocations() - before) / 100};
                        }});
    }
    const auto* answers = suite_.ask({question + ": time", "ns"}, times);
    suite_.ask({question + ": allocations", "1"}, counts, 2);
    return answers;
  }

 private:
  micro::Suite& suite_;
  std::uint64_t operations_;
};

// ---- reading JSON ----

namespace ondemand = simdjson::ondemand;

void take_text(simdjson::simdjson_result<ondemand::value> value, std::string& to) {
  to = std::string_view(value.get_string());
}

void take_user(ondemand::object object, User& to) {
  to.id = object["id"].get_uint64();
  take_text(object["name"], to.name);
  take_text(object["email"], to.email);
  to.age = static_cast<int>(std::int64_t(object["age"].get_int64()));
  to.active = object["active"].get_bool();
  take_text(object["created_at"], to.created_at);
}

struct Bare {
  ondemand::parser parser;
  void read(simdjson::padded_string_view text, User& to) {
    ondemand::document document = parser.iterate(text);
    take_user(document.get_object(), to);
  }
  void read(simdjson::padded_string_view text, std::vector<User>& to) {
    ondemand::document document = parser.iterate(text);
    for (ondemand::object object : document.get_array()) take_user(object, to.emplace_back());
  }
};

bool is_same(const User& a, const User& b) { return a == b; }
bool is_same(const RuledUser& a, const User& b) {
  return a.id == b.id && a.name == b.name && a.email == b.email && a.age == b.age &&
         a.active == b.active && a.created_at == b.created_at;
}
template <class T>
bool is_same(const std::vector<T>& a, const std::vector<User>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& one, const User& other) { return is_same(one, other); });
}

// The result of a read is compared once, outside of the measured time.
template <class T, class Expected>
Job reading(std::string name, const Expected& expected, std::function<bool(T&)> read) {
  T first{};
  micro::expect(read(first) && is_same(first, expected), "read the same");
  return {std::move(name), [read = std::move(read)] {
            T value{};
            micro::expect(read(value), "read");
            micro::use(value);
          }};
}

template <class T>
bool read_katana(Bytes text, T& value) {
  container::Findings findings;
  return container::read_json(text, value, findings);
}

template <class T, class Ruled>
void measure_reading(micro::Suite& suite, Bench bench, const std::string& what, const T& expected,
                     const std::function<bool(const JsonRival&, const std::string&, T&)>& parse) {
  const std::string text = container::to_json(expected);
  std::string padded = text;
  padded.resize(text.size() + container::json_padding_bytes);
  const simdjson::padded_string_view view(padded.data(), text.size(), padded.size());
  auto bare = std::make_shared<Bare>();
  auto copied = std::make_shared<std::string>(padded);
  std::vector<Job> jobs;
  jobs.push_back(reading<T>("simdjson on-demand by hand, padded text", expected, [=](T& value) {
    bare->read(view, value);
    return true;
  }));
  jobs.push_back(reading<T>("katana, padded text", expected, [view](T& value) {
    container::Findings findings;
    return container::read_json(container::PaddedText{Bytes(view)}, value, findings);
  }));
  jobs.push_back(reading<T>("simdjson on-demand by hand, text copied", expected, [=](T& value) {
    std::memcpy(copied->data(), text.data(), text.size());
    bare->read(simdjson::padded_string_view(copied->data(), text.size(), copied->size()), value);
    return true;
  }));
  jobs.push_back(reading<T>("katana", expected,
                            [&text](T& value) { return read_katana(Bytes(text), value); }));
  jobs.push_back(reading<Ruled>("katana, rules checked", expected,
                                [&text](Ruled& value) { return read_katana(Bytes(text), value); }));
  for (const JsonRival& rival : json_rivals()) {
    jobs.push_back(reading<T>(rival.name, expected, [rival, &text, parse](T& value) {
      return parse(rival, text, value);
    }));
  }
  const auto* times = bench.ask("JSON, read " + what, jobs);
  suite.target("read " + what + " <= 1.4 x simdjson on-demand by hand, both on padded text", times,
               "katana, padded text", "simdjson on-demand by hand, padded text", 1.4,
               micro::at_most);
  suite.target("read " + what + " <= 1.4 x simdjson on-demand by hand, both copy the text", times,
               "katana", "simdjson on-demand by hand, text copied", 1.4, micro::at_most);
}

// ---- writing JSON ----

template <class T>
void measure_writing(micro::Suite& suite, Bench bench, const std::string& what, const T& value,
                     const std::function<void(const JsonRival&, const T&, std::string&)>& write) {
  std::string expected(64 * 1024, '\0');
  expected.resize(static_cast<std::size_t>(floor_write(expected.data(), value) - expected.data()));
  std::vector<char> memory(64 * 1024);
  std::string text;
  katana::BlockPool pool(4096, 64);
  katana::Outbox outbox(pool);
  std::vector<Job> jobs;
  jobs.push_back({"hand-written", [&] {
                    const char* const end = floor_write(memory.data(), value);
                    micro::expect(end - memory.data() == std::ssize(expected), "written");
                  }});
  if (expected.size() < outbox.reserve_bytes_max() / 2) {  // one reservation is enough
    jobs.push_back({"hand-written, Outbox", [&] {
                      outbox.clear();
                      char* const at = outbox.reserve(512);
                      outbox.commit(static_cast<std::size_t>(floor_write(at, value) - at));
                      micro::expect(outbox.pending() == expected.size(), "written");
                    }});
  }
  jobs.push_back({"katana, string", [&] {
                    text.clear();
                    container::write_json(value, text);
                    micro::expect(text.size() == expected.size(), "written");
                  }});
  jobs.push_back({"katana, Outbox", [&] {
                    outbox.clear();
                    micro::expect(container::write_json(value, outbox), "there is room");
                    micro::expect(outbox.pending() == expected.size(), "written");
                  }});
  jobs.push_back({"katana, Text", [&] {
                    katana::Text reply;
                    container::write_json(value, reply);
                    micro::expect(reply.size() == expected.size(), "written");
                  }});
  for (const JsonRival& rival : json_rivals()) {
    jobs.push_back({rival.name, [rival, &text, &expected, &value, write] {
                      write(rival, value, text);
                      micro::expect(text.size() == expected.size(), "written");
                    }});
  }
  const auto* times = bench.ask("JSON, write " + what, jobs);
  micro::expect(container::to_json(value) == expected, "written like the floor");
  suite.target("write " + what + " <= 1.5 x the hand-written writer, string", times,
               "katana, string", "hand-written", 1.5, micro::at_most);
  suite.target("write " + what + " <= 1.5 x the hand-written writer, Outbox", times,
               "katana, Outbox", "hand-written", 1.5, micro::at_most);
  suite.target("write " + what + " <= 1.5 x the hand-written writer, both into an Outbox", times,
               "katana, Outbox", "hand-written, Outbox", 1.5, micro::at_most);
  suite.target("write " + what + " <= 0.4 x rapidjson", times, "katana, string", "rapidjson", 0.4,
               micro::at_most);
}

// ---- MessagePack ----

#if defined(HAVE_MSGPACK_HPP)
struct PackedUser : User {
  MSGPACK_DEFINE_MAP(id, name, email, age, active, created_at)
};

void add_message_pack_rival(std::vector<Job>& reads, std::vector<Job>& writes,
                            const std::vector<PackedUser>& users, const std::string& octets,
                            msgpack::sbuffer& buffer) {
  reads.push_back({"msgpack-cxx", [&] {
                     std::vector<PackedUser> read;
                     msgpack::unpack(octets.data(), octets.size()).get().convert(read);
                     micro::expect(read.size() == users.size() && read.back() == users.back(),
                                   "read the same");
                   }});
  writes.push_back({"msgpack-cxx", [&] {
                      buffer.clear();
                      msgpack::pack(buffer, users);
                      micro::expect(buffer.size() == octets.size(), "written");
                    }});
}
#endif

void measure_message_pack(micro::Suite& suite, Bench bench, const std::vector<User>& users) {
  const std::string octets = container::to_message_pack(users);
  std::string text;
  std::vector<Job> reads, writes;
  reads.push_back(
      {"katana", [&] {
         std::vector<User> read;
         container::Findings findings;
         micro::expect(container::read_message_pack(Bytes(octets), read, findings), "read");
         micro::expect(read.size() == users.size() && read.back() == users.back(), "read the same");
       }});
  writes.push_back({"katana", [&] {
                      text.clear();
                      container::write_message_pack(users, text);
                      micro::expect(text.size() == octets.size(), "written");
                    }});
#if defined(HAVE_MSGPACK_HPP)
  std::vector<PackedUser> packed;
  for (const User& user : users) packed.push_back(PackedUser{user});
  msgpack::sbuffer buffer;
  add_message_pack_rival(reads, writes, packed, octets, buffer);
#endif
  const auto* read = bench.ask("MessagePack, read 100 users", reads);
  const auto* write = bench.ask("MessagePack, write 100 users", writes);
  suite.target("MessagePack: read 100 users <= 1.0 x msgpack-cxx", read, "katana", "msgpack-cxx",
               1.0, micro::at_most);
  suite.target("MessagePack: write 100 users <= 1.0 x msgpack-cxx", write, "katana", "msgpack-cxx",
               1.0, micro::at_most);
}

// ---- small containers ----

void measure_creation(micro::Suite& suite, Bench bench) {
  std::vector<Job> jobs;
  jobs.push_back({"katana", [] {
                    container::Object object;
                    object.reserve(3);
                    object.add("id", 7);
                    object.add("name", "Ada");
                    object.add("active", true);
                    const container::Value value(std::move(object));
                    micro::use(value);
                  }});
#if defined(HAVE_NLOHMANN_JSON_HPP)
  jobs.push_back({"nlohmann", [] {
                    nlohmann::json value;
                    value["id"] = 7;
                    value["name"] = "Ada";
                    value["active"] = true;
                    micro::use(value);
                  }});
#endif
  const auto* times = bench.ask("make and drop an object of three members", jobs);
  suite.target("small containers: at least 5 million a second, so at most 200 ns", times, "katana",
               200, micro::at_most);
}

int run(int count, char** arguments) {
  micro::Suite suite("container", count, arguments);
  const User user = make_user(42);
  const std::vector<User> users = make_users();
  measure_reading<User, RuledUser>(suite, Bench(suite, 100'000), "a user", user,
                                   [](const JsonRival& rival, const std::string& text, User& to) {
                                     return rival.parse_one(text, to);
                                   });
  measure_reading<std::vector<User>, std::vector<RuledUser>>(
      suite, Bench(suite, 1'500), "100 users", users,
      [](const JsonRival& rival, const std::string& text, std::vector<User>& to) {
        return rival.parse_many(text, to);
      });
  measure_writing<User>(suite, Bench(suite, 200'000), "a user", user,
                        [](const JsonRival& rival, const User& value, std::string& to) {
                          rival.write_one(value, to);
                        });
  measure_writing<std::vector<User>>(suite, Bench(suite, 3'000), "100 users", users,
                                     [](const JsonRival& rival, const std::vector<User>& value,
                                        std::string& to) { rival.write_many(value, to); });
  measure_message_pack(suite, Bench(suite, 1'500), users);
  measure_creation(suite, Bench(suite, 200'000));
  return suite.finish();
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) { return bench::run(count, arguments); }

// SPDX-License-Identifier: Apache-2.0
