// Stages of the request that is being answered, and the replies that each of them allows.
//
// Machine moves by this table and by nothing else. Notices, notifications and settings may come in
// every stage and change none. A fatal error ends every stage. machine_test draws
// docs/diagrams/postgres.md from the table, and compares the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/frame.hpp"

namespace katana::postgres {

// Where the answer to the first pending request is.
enum class Stage : std::uint8_t {
  none,               // of the table alone: the reply is not allowed
  next,               // of the table alone: the request is answered
  idle,               // no request is pending
  parse,              // Parse
  bind,               // Bind
  close,              // Close
  statement,          // Describe of a statement
  statement_columns,  // its parameters came
  portal,             // Describe of a portal
  execute,            // Execute
  rows,               // its rows come
  copy_out,           // COPY TO STDOUT
  copy_out_end,       // its data is complete
  copy_in,            // COPY FROM STDIN: the client sends data
  copy_in_end,        // the client has sent all
  query,              // Query
  query_next,         // one of its statements is complete
  query_rows,         // as the stages of Execute
  query_copy_out,
  query_copy_out_end,
  query_copy_in,
  query_copy_in_end,
  query_end,  // it failed, or had no statement
  sync,       // Sync
  skip,       // a request failed: the server ignores those before the next Sync
  ended,      // by a fatal error, or refused
  count_,     // how many there are
};

// The findings of Machine::next().
enum class Event : std::uint8_t {
  need_bytes,      // at least Step::size of them in all
  refused,         // see refusal(); close the connection
  parsed,          // a statement is prepared
  bound,           // a portal is there
  closed,          // a statement or a portal is gone
  parameters,      // ParameterTypes(body)
  columns,         // Fields(body)
  no_columns,      // the statement gives no rows
  row,             // Row(body)
  complete,        // tag_of(body)
  empty,           // the statement had no text
  suspended,       // the row limit of Execute is reached: another Execute gives further rows
  copy_in,         // CopyFormats(body): call copy_data(), then end_copy() or fail_copy()
  copy_out,        // CopyFormats(body); its data follows
  data,            // body: bytes of COPY, most often one row
  copy_out_ended,  // all data came
  ready,           // the end of a Query, or a Sync: transaction()
  error,           // report_of(body)
  notice,          // report_of(body)
  notification,    // notification_of(body)
  setting,         // setting_of(body)
};

// The number of stages, for tables.
inline constexpr std::size_t stage_count = static_cast<std::size_t>(Stage::count_);

// Names for the diagram, by Stage.
inline constexpr std::array<Bytes, stage_count> stage_names = {
    "idle",           "next",
    "none",           "parse",
    "bind",           "close",
    "statement",      "statement_columns",
    "portal",         "execute",
    "rows",           "copy_out",
    "copy_out_end",   "copy_in",
    "copy_in_end",    "query",
    "query_next",     "query_rows",
    "query_copy_out", "query_copy_out_end",
    "query_copy_in",  "query_copy_in_end",
    "query_end",      "sync",
    "skip",           "ended"};

// One allowed reply.
struct StageTransition {
  // The stage before.
  Stage from;
  // The message of the server.
  Reply reply;
  // The event for the caller.
  Event event;
  // The stage after.
  Stage to;
};

// Every allowed reply.
inline constexpr std::array<StageTransition, 61> stage_transitions = {{
    {Stage::parse, Reply::parse_complete, Event::parsed, Stage::next},
    {Stage::parse, Reply::error, Event::error, Stage::skip},
    {Stage::bind, Reply::bind_complete, Event::bound, Stage::next},
    {Stage::bind, Reply::error, Event::error, Stage::skip},
    {Stage::close, Reply::close_complete, Event::closed, Stage::next},
    {Stage::close, Reply::error, Event::error, Stage::skip},
    {Stage::statement, Reply::parameter_description, Event::parameters, Stage::statement_columns},
    {Stage::statement, Reply::error, Event::error, Stage::skip},
    {Stage::statement_columns, Reply::row_description, Event::columns, Stage::next},
    {Stage::statement_columns, Reply::no_data, Event::no_columns, Stage::next},
    {Stage::statement_columns, Reply::error, Event::error, Stage::skip},
    {Stage::portal, Reply::row_description, Event::columns, Stage::next},
    {Stage::portal, Reply::no_data, Event::no_columns, Stage::next},
    {Stage::portal, Reply::error, Event::error, Stage::skip},
    {Stage::execute, Reply::data_row, Event::row, Stage::rows},
    {Stage::execute, Reply::command_complete, Event::complete, Stage::next},
    {Stage::execute, Reply::empty_query, Event::empty, Stage::next},
    {Stage::execute, Reply::copy_in, Event::copy_in, Stage::copy_in},
    {Stage::execute, Reply::copy_out, Event::copy_out, Stage::copy_out},
    {Stage::execute, Reply::error, Event::error, Stage::skip},
    {Stage::rows, Reply::data_row, Event::row, Stage::rows},
    {Stage::rows, Reply::command_complete, Event::complete, Stage::next},
    {Stage::rows, Reply::portal_suspended, Event::suspended, Stage::next},
    {Stage::rows, Reply::error, Event::error, Stage::skip},
    {Stage::copy_out, Reply::copy_data, Event::data, Stage::copy_out},
    {Stage::copy_out, Reply::copy_done, Event::copy_out_ended, Stage::copy_out_end},
    {Stage::copy_out, Reply::error, Event::error, Stage::skip},
    {Stage::copy_out_end, Reply::command_complete, Event::complete, Stage::next},
    {Stage::copy_out_end, Reply::error, Event::error, Stage::skip},
    {Stage::copy_in, Reply::error, Event::error, Stage::skip},
    {Stage::copy_in_end, Reply::command_complete, Event::complete, Stage::next},
    {Stage::copy_in_end, Reply::error, Event::error, Stage::skip},
    {Stage::query, Reply::row_description, Event::columns, Stage::query_rows},
    {Stage::query, Reply::command_complete, Event::complete, Stage::query_next},
    {Stage::query, Reply::empty_query, Event::empty, Stage::query_end},
    {Stage::query, Reply::copy_in, Event::copy_in, Stage::query_copy_in},
    {Stage::query, Reply::copy_out, Event::copy_out, Stage::query_copy_out},
    {Stage::query, Reply::error, Event::error, Stage::query_end},
    {Stage::query_next, Reply::row_description, Event::columns, Stage::query_rows},
    {Stage::query_next, Reply::command_complete, Event::complete, Stage::query_next},
    {Stage::query_next, Reply::copy_in, Event::copy_in, Stage::query_copy_in},
    {Stage::query_next, Reply::copy_out, Event::copy_out, Stage::query_copy_out},
    {Stage::query_next, Reply::error, Event::error, Stage::query_end},
    {Stage::query_next, Reply::ready, Event::ready, Stage::next},
    {Stage::query_rows, Reply::data_row, Event::row, Stage::query_rows},
    {Stage::query_rows, Reply::command_complete, Event::complete, Stage::query_next},
    {Stage::query_rows, Reply::error, Event::error, Stage::query_end},
    {Stage::query_copy_out, Reply::copy_data, Event::data, Stage::query_copy_out},
    {Stage::query_copy_out, Reply::copy_done, Event::copy_out_ended, Stage::query_copy_out_end},
    {Stage::query_copy_out, Reply::error, Event::error, Stage::query_end},
    {Stage::query_copy_out_end, Reply::command_complete, Event::complete, Stage::query_next},
    {Stage::query_copy_out_end, Reply::error, Event::error, Stage::query_end},
    {Stage::query_copy_in, Reply::error, Event::error, Stage::query_end},
    {Stage::query_copy_in_end, Reply::command_complete, Event::complete, Stage::query_next},
    {Stage::query_copy_in_end, Reply::error, Event::error, Stage::query_end},
    {Stage::query_end, Reply::error, Event::error, Stage::query_end},
    {Stage::query_end, Reply::ready, Event::ready, Stage::next},
    {Stage::sync, Reply::error, Event::error, Stage::sync},
    {Stage::sync, Reply::ready, Event::ready, Stage::next},
    {Stage::skip, Reply::error, Event::error, Stage::skip},
    {Stage::skip, Reply::ready, Event::ready, Stage::next},
}};

namespace detail {
// The event of a reply, and the stage behind it.
struct StageMove {
  Event event = Event::refused;
  Stage to = Stage::none;
};
// [from][reply]
inline constexpr auto stage_matrix = [] {
  std::array<std::array<StageMove, reply_count>, stage_count> made{};
  for (const auto& [from, reply, event, to] : stage_transitions) {
    made[static_cast<std::size_t>(from)][static_cast<std::size_t>(reply)] = {event, to};
  }
  return made;
}();
}  // namespace detail

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
