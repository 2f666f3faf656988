#include "katana/wire/postgres/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/postgres/server_test.hpp"

namespace katana::postgres {
namespace {

using test::columns;
using test::complete;
using test::error;
using test::message;
using test::number;
using test::ready;
using test::refused;
using test::row;
using test::Sink;
using test::zero_ended;

const std::string parsed = message('1', "");
const std::string bound = message('2', "");
const std::string closed = message('3', "");
const std::string no_data = message('n', "");
const std::string suspended = message('s', "");
const std::string empty_query = message('I', "");
const std::string one_parameter = message('t', number(1, 2) + number(23, 4));
const std::string copy_in = message('G', number(0, 1) + number(2, 2) + number(0, 4));
const std::string copy_out = message('H', number(0, 1) + number(0, 2));
const std::string copy_done = message('c', "");
std::string data(Bytes bytes) { return message('d', bytes); }

const char* name_of(Event event) {
  switch (event) {
    case Event::parsed: return "parsed";
    case Event::bound: return "bound";
    case Event::closed: return "closed";
    case Event::no_columns: return "no columns";
    case Event::empty: return "empty";
    case Event::suspended: return "suspended";
    case Event::copy_in: return "copy in";
    case Event::copy_out: return "copy out";
    case Event::copy_out_ended: return "copy out ended";
    default: return "";
  }
}

// A client and a log of the events: the number of the request, and what came.
class Client {
 public:
  explicit Client(std::size_t pending = 16, const Limits& limits = {})
      : memory_(pending), machine(memory_, limits) {}

  std::string receive(Bytes bytes, std::size_t piece = SIZE_MAX) {
    std::string events;
    while (!bytes.empty()) {
      pending_ += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      for (;;) {
        const std::vector<char> apart(pending_.begin(), pending_.end());
        const Step step = machine.next({apart.data(), apart.size()});
        events += describe(step);
        pending_.erase(0, step.consumed);
        if (step.event == Event::need_bytes) {
          EXPECT_GT(step.size, pending_.size());
        }
        if (step.consumed == 0 || step.is_fatal) break;
      }
    }
    return events;
  }
  std::string written() { return std::exchange(sink.text, ""); }

 private:
  std::string describe(const Step& step) const {
    if (step.event == Event::need_bytes) return "";
    if (step.event == Event::refused) return refused(machine.refusal());
    return of_nobody(step) ? what(step) + "\n"
                           : std::to_string(step.request) + " " + what(step) + "\n";
  }
  static bool of_nobody(const Step& step) {
    return step.event == Event::notice || step.event == Event::notification ||
           step.event == Event::setting || step.is_fatal;
  }
  std::string what(const Step& step) const {
    switch (step.event) {
      case Event::parameters:
        return "parameters " + std::to_string(ParameterTypes(step.body).count());
      case Event::columns: return "columns " + std::to_string(Fields(step.body).count());
      case Event::row: {
        std::string made = "row";
        Row values(step.body);
        for (Value value; values.next(value);) made += " " + std::string(value.bytes);
        return made;
      }
      case Event::complete: return std::string(tag_of(step.body).text);
      case Event::data: return "data " + std::string(step.body);
      case Event::ready: return std::string("ready ") + static_cast<char>(machine.transaction());
      case Event::error:
        return (step.is_fatal ? "fatal " : "error ") + std::string(report_of(step.body).sqlstate);
      case Event::notice: return "notice " + std::string(report_of(step.body).message);
      case Event::notification:
        return "notified " + std::string(notification_of(step.body).channel);
      case Event::setting: return "setting " + std::string(setting_of(step.body).name);
      default: return name_of(step.event);
    }
  }

  std::vector<Machine::Pending> memory_;
  std::string pending_;

 public:
  Machine machine;
  Sink sink;
};

// The request that `stages` begins with, as a call.
enum class Call { query, parse, bind, describe, describe_portal, execute, close, sync };
void call(Client& client, const std::vector<Call>& calls) {
  for (const Call each : calls) {
    Submitted submitted = Submitted::wrong_state;
    switch (each) {
      case Call::query: submitted = client.machine.query("SELECT 1", client.sink); break;
      case Call::parse: submitted = client.machine.parse({.sql = "SELECT 1"}, client.sink); break;
      case Call::bind: submitted = client.machine.bind({}, client.sink); break;
      case Call::describe:
        submitted = client.machine.describe(Kind::statement, "", client.sink);
        break;
      case Call::describe_portal:
        submitted = client.machine.describe(Kind::portal, "", client.sink);
        break;
      case Call::execute: submitted = client.machine.execute({}, client.sink); break;
      case Call::close: submitted = client.machine.close(Kind::statement, "", client.sink); break;
      case Call::sync: submitted = client.machine.sync(client.sink); break;
    }
    ASSERT_EQ(submitted, Submitted::ok);
  }
}

// The events of these calls, however the replies are cut.
void expect_events(const std::vector<Call>& calls, const std::string& replies,
                   const std::string& expected) {
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    Client client;
    call(client, calls);
    EXPECT_EQ(client.receive(replies, piece), expected) << piece;
  }
  for (std::size_t cut = 0; cut <= replies.size(); ++cut) {
    Client client;
    call(client, calls);
    std::string events = client.receive(Bytes(replies).substr(0, cut));
    if (client.machine.refusal() == Refusal::none)
      events += client.receive(Bytes(replies).substr(cut));
    EXPECT_EQ(events, expected) << "cut at " << cut;
  }
}

// ---- simple queries ----------------------------------------------------------------------------

TEST(PostgresMachine, a_query_gives_the_results_of_its_statements_and_ready) {
  expect_events({Call::query},
                columns(2) + row(2, "a") + row(2, "b") + complete("SELECT 2") +
                    complete("CREATE TABLE") + columns(1) + complete("SELECT 0") + ready('T'),
                "0 columns 2\n0 row a a\n0 row b b\n0 SELECT 2\n0 CREATE TABLE\n0 columns 1\n"
                "0 SELECT 0\n0 ready T\n");
}

TEST(PostgresMachine, a_query_that_fails_gives_an_error_and_ready) {
  expect_events(
      {Call::query, Call::query},
      columns(1) + row(1, "a") + error("22012") + ready('E') + complete("ROLLBACK") + ready(),
      "0 columns 1\n0 row a\n0 error 22012\n0 ready E\n1 ROLLBACK\n1 ready I\n");
}

TEST(PostgresMachine, an_empty_query_is_told) {
  expect_events({Call::query}, empty_query + ready(), "0 empty\n0 ready I\n");
}

// ---- the extended protocol ---------------------------------------------------------------------

TEST(PostgresMachine, replies_of_a_pipeline_have_the_numbers_of_their_requests) {
  expect_events({Call::parse, Call::describe, Call::bind, Call::describe_portal, Call::execute,
                 Call::close, Call::sync, Call::bind, Call::execute, Call::sync},
                parsed + one_parameter + columns(1) + bound + columns(1) + row(1, "x") +
                    complete("SELECT 1") + closed + ready() + bound + complete("DELETE 0") +
                    ready('T'),
                "0 parsed\n1 parameters 1\n1 columns 1\n2 bound\n3 columns 1\n4 row x\n4 SELECT 1\n"
                "5 closed\n6 ready I\n7 bound\n8 DELETE 0\n9 ready T\n");
  expect_events({Call::describe, Call::describe_portal, Call::execute, Call::sync},
                one_parameter + no_data + no_data + empty_query + ready(),
                "0 parameters 1\n0 no columns\n1 no columns\n2 empty\n3 ready I\n");
}

TEST(PostgresMachine, behind_an_error_the_next_event_is_the_ready_of_the_groups_sync) {
  expect_events(
      {Call::parse, Call::bind, Call::execute, Call::sync, Call::bind, Call::execute, Call::sync},
      parsed + error("42P02") + ready() + bound + complete("UPDATE 3") + ready(),
      "0 parsed\n1 error 42P02\n3 ready I\n4 bound\n5 UPDATE 3\n6 ready I\n");
  // In each place of a group.
  const std::vector<Call> group = {Call::parse,   Call::describe, Call::bind, Call::describe_portal,
                                   Call::execute, Call::close,    Call::sync, Call::query};
  const std::vector<std::string> replies = {parsed,     one_parameter + columns(1),         bound,
                                            columns(1), row(1, "x") + complete("SELECT 1"), closed};
  for (std::size_t at = 0; at < replies.size(); ++at) {
    Client client;
    call(client, group);
    std::string sent;
    for (std::size_t before = 0; before < at; ++before) sent += replies[before];
    client.receive(sent);
    EXPECT_EQ(client.receive(error("XX000") + ready('E')),
              std::to_string(at) + " error XX000\n6 ready E\n");
    EXPECT_EQ(client.receive(complete("OK") + ready()), "7 OK\n7 ready I\n");
  }
}

// A deferred constraint fails when the Sync commits.
TEST(PostgresMachine, pending_requests_move_to_other_memory) {
  std::vector<Machine::Pending> small(3), large(8);
  Machine machine(small);
  Sink sink;
  const auto take = [&](const std::string& bytes) {
    const Step step = machine.next(bytes);
    EXPECT_EQ(step.consumed, bytes.size());
    return step;
  };
  EXPECT_EQ(machine.parse({.sql = "SELECT 1"}, sink), Submitted::ok);
  EXPECT_EQ(machine.bind({}, sink), Submitted::ok);
  EXPECT_EQ(take(parsed).event, Event::parsed);
  EXPECT_EQ(machine.execute({.columns = 2}, sink), Submitted::ok);
  EXPECT_EQ(machine.sync(sink), Submitted::ok);  // the ring begins anew
  EXPECT_EQ(machine.query("SELECT 2", sink), Submitted::queue_full);
  machine.move_to(large);
  std::fill(small.begin(), small.end(), Machine::Pending{});
  EXPECT_EQ(machine.capacity(), 8u);
  EXPECT_EQ(machine.pending(), 3u);
  EXPECT_EQ(machine.query("SELECT 2", sink), Submitted::ok);
  EXPECT_EQ(take(bound).request, 1u);
  EXPECT_EQ(machine.next(row(1, "x")).event, Event::refused) << "two columns were promised";
  EXPECT_EQ(machine.refusal(), Refusal::wrong_columns);
}

TEST(PostgresMachine, a_sync_may_fail) {
  expect_events({Call::execute, Call::sync, Call::sync},
                complete("INSERT 0 1") + error("23503") + ready() + ready(),
                "0 INSERT 0 1\n1 error 23503\n1 ready I\n2 ready I\n");
}

TEST(PostgresMachine, a_sync_that_is_sent_behind_the_error_ends_the_group_too) {
  Client client;
  call(client, {Call::parse});
  EXPECT_EQ(client.receive(error("42601")), "0 error 42601\n");
  call(client, {Call::bind, Call::execute});
  EXPECT_EQ(client.machine.stage(), Stage::skip);
  call(client, {Call::sync, Call::query});
  EXPECT_EQ(client.receive(ready()), "3 ready I\n");
  EXPECT_EQ(client.receive(complete("OK") + ready()), "4 OK\n4 ready I\n");
  EXPECT_EQ(client.machine.pending(), 0u);
  EXPECT_EQ(client.machine.next_request(), 5u);
}

TEST(PostgresMachine, a_ready_without_a_sync_is_refused) {
  Client client;
  call(client, {Call::parse});
  EXPECT_EQ(client.receive(error("42601") + ready()),
            "0 error 42601\n" + refused(Refusal::unexpected_message));
}

TEST(PostgresMachine, a_portal_is_suspended_at_its_limit_and_goes_on) {
  Client client;
  call(client, {Call::bind});
  ASSERT_EQ(client.machine.execute({.rows_max = 2}, client.sink), Submitted::ok);
  ASSERT_EQ(client.machine.execute({.rows_max = 2}, client.sink), Submitted::ok);
  call(client, {Call::sync});
  EXPECT_EQ(client.receive(bound + row(1, "a") + row(1, "b") + suspended + row(1, "c") +
                           complete("SELECT 1") + ready()),
            "0 bound\n1 row a\n1 row b\n1 suspended\n2 row c\n2 SELECT 1\n3 ready I\n");
}

TEST(PostgresMachine, a_limit_of_one_row_is_one) {
  Client client;
  ASSERT_EQ(client.machine.execute({.rows_max = 1}, client.sink), Submitted::ok);
  EXPECT_EQ(client.receive(row(1, "a") + suspended), "0 row a\n0 suspended\n");
}

TEST(PostgresMachine, more_rows_than_the_limit_are_refused) {
  Client client;
  ASSERT_EQ(client.machine.execute({.rows_max = 2}, client.sink), Submitted::ok);
  EXPECT_EQ(client.receive(row(1, "a") + row(1, "b") + row(1, "c")),
            "0 row a\n0 row b\n" + refused(Refusal::too_many_rows));
  Client early;
  ASSERT_EQ(early.machine.execute({.rows_max = 2}, early.sink), Submitted::ok);
  EXPECT_EQ(early.receive(row(1, "a") + suspended),
            "0 row a\n" + refused(Refusal::unexpected_message));
  Client without;
  ASSERT_EQ(without.machine.execute({}, without.sink), Submitted::ok);
  EXPECT_EQ(without.receive(row(1, "a") + suspended),
            "0 row a\n" + refused(Refusal::unexpected_message));
}

TEST(PostgresMachine, a_row_of_other_columns_is_refused) {
  Client described;
  call(described, {Call::query});
  EXPECT_EQ(described.receive(columns(2) + row(1, "a")),
            "0 columns 2\n" + refused(Refusal::wrong_columns));
  Client known;
  ASSERT_EQ(known.machine.execute({.columns = 2}, known.sink), Submitted::ok);
  EXPECT_EQ(known.receive(row(2, "a") + row(3, "a")),
            "0 row a a\n" + refused(Refusal::wrong_columns));
  Client first;
  ASSERT_EQ(first.machine.execute({}, first.sink), Submitted::ok);
  ASSERT_EQ(first.machine.execute({}, first.sink), Submitted::ok);
  EXPECT_EQ(first.receive(row(3, "a") + complete("SELECT 1") + row(1, "a") + row(2, "a")),
            "0 row a a a\n0 SELECT 1\n1 row a\n" + refused(Refusal::wrong_columns));
}

// next_row() takes a row where next() would report it; all else it leaves to next().
TEST(PostgresMachine, further_rows_are_taken_with_their_values_alone) {
  Client client;
  ASSERT_EQ(client.machine.execute({.columns = 2}, client.sink), Submitted::ok);
  const std::string bytes = row(2, "b") + row(2, "c") + complete("SELECT 3");
  std::vector<Bytes> values(2);
  EXPECT_EQ(client.machine.next_row(bytes, values), 0u) << "no row was the last event";
  EXPECT_EQ(client.receive(row(2, "a")), "0 row a a\n");
  EXPECT_EQ(client.machine.next_row(bytes, std::span(values).first(1)), 0u);
  const std::size_t size = row(2, "b").size();
  for (std::size_t part = 0; part < size; ++part) {
    const std::vector<char> apart(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    EXPECT_EQ(client.machine.next_row({apart.data(), apart.size()}, values), 0u) << part;
  }
  ASSERT_EQ(client.machine.next_row(bytes, values), size);
  EXPECT_EQ(values, std::vector<Bytes>(2, "b"));
  ASSERT_EQ(client.machine.next_row(Bytes(bytes).substr(size), values), size);
  EXPECT_EQ(values, std::vector<Bytes>(2, "c"));
  EXPECT_EQ(client.machine.next_row(Bytes(bytes).substr(2 * size), values), 0u);
  EXPECT_EQ(client.receive(Bytes(bytes).substr(2 * size)), "0 SELECT 3\n");
  EXPECT_EQ(client.machine.next_row(bytes, values), 0u) << "the request is answered";
}

TEST(PostgresMachine, a_further_row_that_breaks_a_rule_is_left_to_next) {
  const auto taken = [](std::string bytes, const Execute& request, const Limits& limits = {}) {
    Client client(16, limits);
    EXPECT_EQ(client.machine.execute(request, client.sink), Submitted::ok);
    EXPECT_EQ(client.receive(row(2, "a")), "0 row a a\n");
    std::vector<Bytes> values(2);
    return client.machine.next_row(bytes, values);
  };
  const std::string good = row(2, "b");
  EXPECT_EQ(taken(good, {}), good.size());
  EXPECT_EQ(taken(row(3, "b"), {}), 0u);
  EXPECT_EQ(taken(good, {.rows_max = 1}), 0u) << "rows are counted";
  EXPECT_EQ(taken(row(2, "bbbbbbbbbb"), {}, {.row_bytes_max = 20}), 0u) << "a limit";
  EXPECT_EQ(taken(row(2, "b"), {}, {.row_bytes_max = 20}), good.size());
  EXPECT_EQ(taken(message('D', number(2, 2) + number(1, 4) + "b" + number(9, 4) + "b"), {}), 0u);
  EXPECT_EQ(taken("D" + number(3, 4) + "bbbbbbbbbb", {}), 0u);
  Client simple;
  call(simple, {Call::query});
  EXPECT_EQ(simple.receive(columns(2) + row(2, "a")), "0 columns 2\n0 row a a\n");
  std::vector<Bytes> values(2);
  EXPECT_EQ(simple.machine.next_row(good, values), 0u) << "of a simple query";
}

// ---- COPY --------------------------------------------------------------------------------------

TEST(PostgresMachine, copy_out_gives_its_data_in_both_protocols) {
  expect_events(
      {Call::query},
      copy_out + data("1\n") + data("") + data("2\n") + copy_done + complete("COPY 2") + ready(),
      "0 copy out\n0 data 1\n\n0 data \n0 data 2\n\n0 copy out ended\n0 COPY 2\n"
      "0 ready I\n");
  expect_events({Call::execute, Call::sync},
                copy_out + data("1") + copy_done + complete("COPY 1") + ready(),
                "0 copy out\n0 data 1\n0 copy out ended\n0 COPY 1\n1 ready I\n");
  expect_events({Call::execute, Call::sync}, copy_out + data("1") + error("57014") + ready(),
                "0 copy out\n0 data 1\n0 error 57014\n1 ready I\n");
}

TEST(PostgresMachine, copy_in_takes_data_until_its_end) {
  Client client;
  call(client, {Call::query});
  EXPECT_EQ(client.machine.copy_data("early", client.sink), Submitted::not_copying);
  EXPECT_EQ(client.machine.end_copy(client.sink), Submitted::not_copying);
  EXPECT_EQ(client.machine.fail_copy("", client.sink), Submitted::not_copying);
  client.written();
  EXPECT_EQ(client.receive(copy_in), "0 copy in\n");
  EXPECT_TRUE(client.machine.is_copying());
  EXPECT_EQ(client.machine.query("SELECT 1", client.sink), Submitted::copying);
  EXPECT_EQ(client.machine.sync(client.sink), Submitted::copying);
  EXPECT_EQ(client.machine.flush(client.sink), Submitted::copying);
  EXPECT_EQ(client.machine.copy_data("1\t2\n", client.sink), Submitted::ok);
  EXPECT_EQ(client.machine.end_copy(client.sink), Submitted::ok);
  EXPECT_EQ(client.written(), message('d', "1\t2\n") + message('c', ""));
  EXPECT_EQ(client.machine.copy_data("late", client.sink), Submitted::not_copying);
  call(client, {Call::query});
  EXPECT_EQ(client.receive(complete("COPY 1") + ready() + complete("OK") + ready()),
            "0 COPY 1\n0 ready I\n1 OK\n1 ready I\n");
}

TEST(PostgresMachine, copy_in_can_fail_at_either_side) {
  Client client;
  call(client, {Call::query});
  client.receive(copy_in);
  client.written();
  EXPECT_EQ(client.machine.fail_copy("no more", client.sink), Submitted::ok);
  EXPECT_EQ(client.written(), message('f', zero_ended("no more")));
  EXPECT_EQ(client.receive(error("57014") + ready()), "0 error 57014\n0 ready I\n");

  call(client, {Call::query});
  client.receive(copy_in);
  EXPECT_EQ(client.receive(error("22P02") + ready()), "1 error 22P02\n1 ready I\n");
  EXPECT_EQ(client.machine.copy_data("late", client.sink), Submitted::not_copying);
}

// The server ignores a Sync while it waits for data: it never answers it.
TEST(PostgresMachine, copy_in_of_an_execute_ignores_the_sync_before_its_data) {
  Client client;
  call(client, {Call::bind, Call::execute, Call::sync, Call::sync});
  EXPECT_EQ(client.receive(bound + copy_in), "0 bound\n1 copy in\n");
  EXPECT_TRUE(client.machine.needs_sync());
  EXPECT_EQ(client.machine.copy_data("1\n", client.sink), Submitted::ok);
  EXPECT_EQ(client.machine.end_copy(client.sink), Submitted::ok);
  EXPECT_EQ(client.machine.query("SELECT 1", client.sink), Submitted::sync_missing);
  call(client, {Call::sync, Call::query});
  EXPECT_EQ(client.receive(complete("COPY 1") + ready() + complete("OK") + ready()),
            "1 COPY 1\n4 ready I\n5 OK\n5 ready I\n");

  Client failing;
  call(failing, {Call::execute, Call::sync});
  failing.receive(copy_in);
  EXPECT_EQ(failing.receive(error("22P02")), "0 error 22P02\n");
  call(failing, {Call::sync});
  EXPECT_EQ(failing.receive(ready()), "2 ready I\n");
  // It had not read the first Sync: that has an answer, too, which is nothing else's.
  EXPECT_EQ(failing.receive(ready()), refused(Refusal::unexpected_message));
}

// The server closes the connection at any request that it reads in place of data.
TEST(PostgresMachine, copy_in_before_other_requests_is_refused) {
  for (const std::vector<Call>& calls :
       {std::vector{Call::execute, Call::sync, Call::query}, std::vector{Call::execute, Call::bind},
        std::vector{Call::query, Call::query}, std::vector{Call::query, Call::bind}}) {
    Client client;
    call(client, calls);
    EXPECT_EQ(client.receive(copy_in), refused(Refusal::copy_in_pipeline));
  }
}

// ---- what may come at any time -----------------------------------------------------------------

TEST(PostgresMachine, notices_notifications_and_settings_come_between_all_others) {
  const std::string any = test::report('N', "NOTICE", "00000", "hear") +
                          test::notification("news", "x") + test::setting("TimeZone", "UTC");
  const std::string told = "notice hear\nnotified news\nsetting TimeZone\n";
  expect_events({Call::query, Call::parse, Call::sync},
                any + columns(1) + any + row(1, "a") + any + complete("SELECT 1") + any + ready() +
                    any + parsed + any + ready() + any,
                told + "0 columns 1\n" + told + "0 row a\n" + told + "0 SELECT 1\n" + told +
                    "0 ready I\n" + told + "1 parsed\n" + told + "2 ready I\n" + told);
}

TEST(PostgresMachine, a_fatal_error_ends_every_stage) {
  const std::string fatal = test::report('E', "FATAL", "57P01");
  Client idle;
  EXPECT_EQ(idle.receive(fatal), "fatal 57P01\n");
  EXPECT_EQ(idle.machine.stage(), Stage::ended);
  EXPECT_EQ(idle.machine.query("SELECT 1", idle.sink), Submitted::wrong_state);
  EXPECT_EQ(idle.machine.sync(idle.sink), Submitted::wrong_state);
  EXPECT_EQ(idle.machine.flush(idle.sink), Submitted::wrong_state);
  EXPECT_EQ(idle.machine.terminate(idle.sink), Submitted::wrong_state);
  EXPECT_EQ(idle.machine.next("").event, Event::refused);
  Client rows;
  call(rows, {Call::query, Call::query});
  EXPECT_EQ(rows.receive(columns(1) + row(1, "a") + fatal), "0 columns 1\n0 row a\nfatal 57P01\n");
}

TEST(PostgresMachine, behind_a_refusal_nothing_is_read) {
  Client client;
  call(client, {Call::parse});
  EXPECT_EQ(client.receive(bound), refused(Refusal::unexpected_message));
  EXPECT_EQ(client.machine.next(parsed).event, Event::refused);
  EXPECT_EQ(client.machine.stage(), Stage::ended);
  EXPECT_EQ(client.machine.sync(client.sink), Submitted::wrong_state);
}

TEST(PostgresMachine, an_error_that_answers_no_request_is_refused) {
  Client client;
  EXPECT_EQ(client.receive(error("57014")), refused(Refusal::unexpected_message));
}

// ---- requests ----------------------------------------------------------------------------------

TEST(PostgresMachine, all_requests_of_a_turn_are_written_in_their_order) {
  Client client;
  call(client, {Call::parse, Call::bind, Call::execute, Call::sync});
  EXPECT_EQ(client.machine.flush(client.sink), Submitted::ok);
  EXPECT_EQ(client.machine.terminate(client.sink), Submitted::ok);
  std::string types;
  const std::string all = client.written();
  for (std::size_t at = 0; at < all.size();) {
    types += all[at];
    at += 1 + static_cast<unsigned char>(all[at + 4]);
  }
  EXPECT_EQ(types, "PBESHX");
  EXPECT_EQ(client.machine.stage(), Stage::ended);
}

TEST(PostgresMachine, no_more_requests_are_pending_than_there_is_memory) {
  Client client(2);
  call(client, {Call::parse, Call::sync});
  EXPECT_EQ(client.machine.query("SELECT 1", client.sink), Submitted::queue_full);
  EXPECT_EQ(client.machine.sync(client.sink), Submitted::queue_full);
  client.written();
  // Around the end of the memory many times.
  for (int at = 0; at < 5; ++at) {
    client.receive(parsed);
    call(client, {Call::parse});
    client.receive(ready());
    call(client, {Call::sync});
  }
  EXPECT_EQ(client.machine.pending(), 2u);
  EXPECT_EQ(client.receive(parsed + ready()), "10 parsed\n11 ready I\n");
  EXPECT_EQ(client.machine.stage(), Stage::idle);
}

// Each request alone, because each asks for itself.
TEST(PostgresMachine, no_request_is_taken_while_it_may_not_be_sent) {
  const std::vector<std::function<Submitted(Client&)>> all = {
      [](Client& client) { return client.machine.query("SELECT 1", client.sink); },
      [](Client& client) { return client.machine.parse({}, client.sink); },
      [](Client& client) { return client.machine.bind({}, client.sink); },
      [](Client& client) { return client.machine.describe(Kind::portal, "", client.sink); },
      [](Client& client) { return client.machine.execute({}, client.sink); },
      [](Client& client) { return client.machine.close(Kind::portal, "", client.sink); },
      [](Client& client) { return client.machine.sync(client.sink); },
  };
  for (const auto& request : all) {
    Client full(1);
    call(full, {Call::query});
    Client copying;
    call(copying, {Call::query});
    copying.receive(copy_in);
    Client ended;
    ended.receive(test::report('E', "FATAL", "57P01"));
    full.written();
    copying.written();
    EXPECT_EQ(request(full), Submitted::queue_full);
    EXPECT_EQ(request(copying), Submitted::copying);
    EXPECT_EQ(request(ended), Submitted::wrong_state);
    EXPECT_EQ(full.written() + copying.written() + ended.written(), "");
  }
}

TEST(PostgresMachine, a_query_waits_for_the_sync_of_the_requests_before_it) {
  Client client;
  call(client, {Call::parse});
  EXPECT_EQ(client.machine.query("SELECT 1", client.sink), Submitted::sync_missing);
  client.receive(parsed);
  EXPECT_EQ(client.machine.query("SELECT 1", client.sink), Submitted::sync_missing);
  EXPECT_TRUE(client.machine.needs_sync());
  call(client, {Call::sync, Call::query});
  EXPECT_FALSE(client.machine.needs_sync());
}

TEST(PostgresMachine, a_request_that_is_not_written_is_not_pending) {
  Client client;
  Sink full(0);
  using namespace std::string_view_literals;
  EXPECT_EQ(client.machine.query("SELECT 1", full), Submitted::no_room);
  EXPECT_EQ(client.machine.query("a\0b"sv, client.sink), Submitted::zero_byte);
  EXPECT_EQ(client.machine.sync(full), Submitted::no_room);
  EXPECT_EQ(client.machine.pending(), 0u);
  EXPECT_EQ(client.machine.next_request(), 0u);
  call(client, {Call::query});
  client.receive(copy_in);
  EXPECT_EQ(client.machine.end_copy(full), Submitted::no_room);
  EXPECT_EQ(client.machine.fail_copy("no", full), Submitted::no_room);
  EXPECT_TRUE(client.machine.is_copying());
  EXPECT_EQ(client.machine.terminate(full), Submitted::no_room);
  EXPECT_EQ(client.machine.end_copy(client.sink), Submitted::ok);
}

// ---- hostile servers ---------------------------------------------------------------------------

TEST(PostgresMachine, a_message_beyond_a_limit_is_refused_at_its_header) {
  Limits limits;
  limits.row_bytes_max = 1000;
  for (const std::uint32_t size : {1000u, 0x7fff'ffffu, 0xffff'ffffu}) {
    Client client(16, limits);
    call(client, {Call::execute});
    EXPECT_EQ(client.receive("D" + number(size, 4)), refused(Refusal::message_too_large));
  }
  Client client(16, limits);
  call(client, {Call::execute});
  const Step step = client.machine.next("D" + number(999, 4));
  EXPECT_EQ(step.event, Event::need_bytes);
  EXPECT_EQ(step.size, 1000u);
}

TEST(PostgresMachine, a_malformed_message_is_refused_in_every_stage) {
  for (const std::vector<Call>& calls : {std::vector<Call>{}, {Call::execute}, {Call::query}}) {
    for (const auto& [sent, why] : std::vector<std::pair<std::string, Refusal>>{
             {message('D', number(1, 2)), Refusal::bad_row},
             {message('T', number(1, 2)), Refusal::bad_description},
             {message('C', "xy"), Refusal::bad_text},
             {message('E', std::string(1, '\0')), Refusal::bad_report},
             {message('N', "x"), Refusal::bad_report},
             {message('A', number(0, 6)), Refusal::bad_notification},
             {message('S', number(0, 2)), Refusal::bad_setting},
             {message('Z', "x"), Refusal::bad_transaction},
             {message('G', number(9, 3)), Refusal::bad_copy},
             {message('1', "x"), Refusal::bad_length},
             {message('W', number(0, 3)), Refusal::unknown_message},
             {message('K', number(0, 8)), Refusal::unexpected_message},
             {message('R', number(0, 4)), Refusal::unexpected_message},
             {message('v', number(0, 8)), Refusal::unexpected_message}}) {
      Client client;
      call(client, calls);
      EXPECT_EQ(client.receive(sent), refused(why));
      EXPECT_EQ(client.machine.next(parsed).event, Event::refused);
    }
  }
}

// ---- the table ---------------------------------------------------------------------------------

struct Drawn {
  Stage from;
  Reply cause;
  Stage to;
};

TEST(PostgresStageTable, the_diagram_in_the_documentation_is_that_of_the_table) {
  std::vector<Drawn> drawn;
  for (const auto& [from, reply, event, to] : stage_transitions) drawn.push_back({from, reply, to});
  expect_drawn("docs/diagrams/postgres.md",
               draw_states("Stages of the answer to a request of PostgreSQL",
                           "katana/wire/postgres/states.hpp", drawn, stage_names, reply_names));
}

// One message of each type that is well-formed in itself.
std::string sample(Reply type) {
  switch (type) {
    case Reply::authentication: return message('R', number(0, 4));
    case Reply::backend_key: return message('K', number(0, 8));
    case Reply::bind_complete: return bound;
    case Reply::close_complete: return closed;
    case Reply::command_complete: return complete("OK");
    case Reply::copy_data: return data("x");
    case Reply::copy_done: return copy_done;
    case Reply::copy_in: return copy_in;
    case Reply::copy_out: return copy_out;
    case Reply::data_row: return row(1, "x");
    case Reply::empty_query: return empty_query;
    case Reply::error: return error("XX000");
    case Reply::negotiate_version: return message('v', number(0, 8));
    case Reply::no_data: return no_data;
    case Reply::notice: return test::report('N', "NOTICE", "00000");
    case Reply::notification: return test::notification("a", "b");
    case Reply::parameter_description: return one_parameter;
    case Reply::parameter_status: return test::setting("a", "b");
    case Reply::parse_complete: return parsed;
    case Reply::portal_suspended: return suspended;
    case Reply::ready: return ready();
    case Reply::row_description: return columns(1);
    case Reply::count_: break;
  }
  return "";
}

// Brings a client to a stage that a server can bring it to.
void bring(Client& client, Stage stage) {
  const auto from = [&client](const std::vector<Call>& calls, const std::string& replies) {
    call(client, calls);
    client.receive(replies);
  };
  switch (stage) {
    case Stage::idle: return;
    case Stage::parse: return from({Call::parse}, "");
    case Stage::bind: return from({Call::bind}, "");
    case Stage::close: return from({Call::close}, "");
    case Stage::statement: return from({Call::describe}, "");
    case Stage::statement_columns: return from({Call::describe}, one_parameter);
    case Stage::portal: return from({Call::describe_portal}, "");
    case Stage::execute: return from({Call::execute}, "");
    case Stage::rows:
      ASSERT_EQ(client.machine.execute({.rows_max = 2}, client.sink), Submitted::ok);
      return from({}, row(1, "x"));
    case Stage::copy_out: return from({Call::execute}, copy_out);
    case Stage::copy_out_end: return from({Call::execute}, copy_out + copy_done);
    case Stage::copy_in: return from({Call::execute}, copy_in);
    case Stage::copy_in_end:
      from({Call::execute}, copy_in);
      ASSERT_EQ(client.machine.end_copy(client.sink), Submitted::ok);
      return;
    case Stage::query: return from({Call::query}, "");
    case Stage::query_next: return from({Call::query}, complete("OK"));
    case Stage::query_rows: return from({Call::query}, columns(1));
    case Stage::query_copy_out: return from({Call::query}, copy_out);
    case Stage::query_copy_out_end: return from({Call::query}, copy_out + copy_done);
    case Stage::query_copy_in: return from({Call::query}, copy_in);
    case Stage::query_copy_in_end:
      from({Call::query}, copy_in);
      ASSERT_EQ(client.machine.fail_copy("no", client.sink), Submitted::ok);
      return;
    case Stage::query_end: return from({Call::query}, error("XX000"));
    case Stage::sync: return from({Call::sync}, "");
    case Stage::skip: return from({Call::parse, Call::sync}, error("XX000"));
    default: return from({}, test::report('E', "FATAL", "XX000"));
  }
}

TEST(PostgresStageTable, in_each_stage_each_message_is_allowed_by_the_table_or_refused) {
  for (std::size_t stage = 0; stage < stage_count; ++stage) {
    const auto from = static_cast<Stage>(stage);
    if (from == Stage::none || from == Stage::next) continue;
    for (std::size_t type = 0; type < reply_count; ++type) {
      const auto reply = static_cast<Reply>(type);
      Client client;
      bring(client, from);
      ASSERT_EQ(client.machine.stage(), from);
      const bool is_any = reply == Reply::notice || reply == Reply::notification ||
                          reply == Reply::parameter_status;
      const auto move = detail::stage_matrix[stage][type];
      std::string sent = sample(reply);
      // A portal is suspended at its limit, which needs another row.
      if (from == Stage::rows && reply == Reply::portal_suspended) sent = row(1, "x") + sent;
      client.receive(sent);
      const bool is_refused = client.machine.refusal() != Refusal::none;
      const bool is_allowed = from == Stage::ended || is_any || move.to != Stage::none;
      EXPECT_EQ(is_refused, !is_allowed) << stage_names[stage] << " " << reply_names[type];
      if (is_refused || from == Stage::ended) continue;
      const Stage to = is_any ? from : move.to == Stage::next ? Stage::idle : move.to;
      EXPECT_EQ(client.machine.stage(), to) << stage_names[stage] << " " << reply_names[type];
    }
  }
}

TEST(PostgresStageTable, every_stage_of_a_request_ends_and_can_fail) {
  std::set<std::pair<Stage, Reply>> seen;
  std::set<Stage> fails;
  for (const StageTransition& each : stage_transitions) {
    EXPECT_TRUE(seen.insert({each.from, each.reply}).second);
    if (each.reply == Reply::error) fails.insert(each.from);
  }
  EXPECT_EQ(fails.size(), stage_count - 4);  // not idle, next, none, ended
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
