#include "katana/stores/database/postgres/blocking_session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/link.hpp"
#include "katana/stores/database/postgres/targets.hpp"

namespace katana::database::postgres {
namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::unexpected<katana::Error> stopped() {
  return katana::fail(Code::cancelled, "the attempt was stopped");
}

}  // namespace

// The session, behind an interface that names no machine.
class BlockingSession::Parts {
 public:
  explicit Parts(std::stop_token stop) : stop_(std::move(stop)) {}

  // No Error: connected.
  katana::Result<void> try_host(const Options& options, const Host& host,
                                const std::string& password);
  katana::Result<Rows> ask(Bytes text, const std::vector<std::string>& values);
  katana::Result<StatementShape> prepare(Bytes name, Bytes text);
  const Refusal& refusal() const noexcept { return refusal_; }
  bool in_transaction() const noexcept {
    return link_->machine().transaction() == protocol::Transaction::open;
  }

 private:
  katana::Result<void> wait(Instant until);
  bool send(Bytes text, const std::vector<std::string>& values);
  std::unexpected<katana::Error> not_sent();
  // The next event, whose body is valid until the call after it.
  katana::Result<protocol::Step> next_event();
  // Takes one event of a statement; true: it is over.
  bool take(const protocol::Step& event, Rows& rows, std::optional<katana::Error>& failure);
  std::unexpected<katana::Error> lost(std::string why);
  katana::Error refused(const protocol::Report& report);

  std::stop_token stop_;
  LinkMemory memory_;
  std::unique_ptr<Link> link_;
  bool has_ended_ = false;    // nothing more comes from the socket
  bool has_columns_ = false;  // of the result that is read
  Refusal refusal_;
};

bool is_lasting(const Refusal& refusal) noexcept {
  const Bytes state = refusal.state;
  // The session, room, operators and the machine; another transaction; a lock; a standby.
  for (const Bytes passing : {"08", "53", "57", "58", "40"}) {
    if (state.starts_with(passing)) return state == "57014";  // its own statement_timeout
  }
  return !state.empty() && state != "55P03" && state != "25006";
}

katana::Error as_error(const Refusal& refusal) {
  const Bytes state = refusal.state;
  const Code code = !is_lasting(refusal)      ? Code::unavailable
                    : state.starts_with("28") ? Code::permission_denied
                    : state == "42501"        ? Code::permission_denied
                    : state.starts_with("3D") ? Code::not_found
                                              : Code::internal;
  return {code, refusal.text};
}

katana::Result<BlockingSession> BlockingSession::connect(const Options& options,
                                                         std::stop_token stop) {
  auto password = password_of(options);
  if (!password) return std::unexpected(password.error());
  auto parts = std::make_unique<Parts>(std::move(stop));
  // A server that is not there now may accept later: `passing` wins over `lasting`.
  std::optional<katana::Error> passing, lasting;
  for (const Host& host : options.hosts) {
    auto done = parts->try_host(options, host, *password);
    if (done || done.error().code() == Code::cancelled) {
      erase_secret(*password);
      if (!done) return std::unexpected(done.error());
      return BlockingSession(std::move(parts));
    }
    (done.error().code() == Code::unavailable ? passing : lasting) = done.error();
  }
  erase_secret(*password);
  const katana::Error& why = passing ? *passing : *lasting;
  return std::unexpected(why.within(fmt::format("cannot connect to {}", options.describe())));
}

katana::Result<void> BlockingSession::Parts::try_host(const Options& options, const Host& host,
                                                      const std::string& password) {
  auto targets = targets_of(host);
  if (!targets) return std::unexpected(targets.error());
  auto link = link_options(options, *std::move(targets), password);
  if (!link) return std::unexpected(link.error());
  const Instant until = monotonic_now() + options.connect_timeout;
  link_ = std::make_unique<Link>(memory_, *std::move(link));
  for (link_->begin(); link_->is_opening(); link_->advance()) {
    if (auto ready = wait(until); !ready) return ready;
  }
  if (link_->is_open()) return {};
  refusal_ = {.state = link_->problem().state, .text = link_->problem().text};
  return std::unexpected(as_error(refusal_));
}

katana::Result<void> BlockingSession::Parts::wait(Instant until) {
  const int events = (link_->wants_read() ? POLLIN : 0) | (link_->wants_write() ? POLLOUT : 0);
  pollfd socket = {link_->socket(), static_cast<short>(events), 0};
  while (!stop_.stop_requested()) {
    const Duration left = until - monotonic_now();
    if (left <= Duration{}) {
      return katana::fail(Code::unavailable, "the server has not answered in time");
    }
    const auto ms = static_cast<int>(std::min(left, wait_step).count_ms() + 1);
    const int found = ::poll(&socket, 1, ms);
    if (found > 0) return {};
    if (found < 0 && errno != EINTR) {
      return katana::fail(Code::internal, "the socket of the connection cannot be waited for");
    }
  }
  return stopped();
}

std::unexpected<katana::Error> BlockingSession::Parts::lost(std::string why) {
  refusal_ = {.text = std::move(why)};
  return std::unexpected(as_error(refusal_));
}

katana::Error BlockingSession::Parts::refused(const protocol::Report& report) {
  std::string text = fmt::format("{}: {}", report.severity, report.message);
  if (!report.detail.empty()) text += fmt::format(" DETAIL: {}", report.detail);
  if (!report.hint.empty()) text += fmt::format(" HINT: {}", report.hint);
  refusal_ = {.state = std::string(report.sqlstate),
              .text = one_line(text),
              .message = std::string(report.message),
              .hint = std::string(report.hint)};
  const Bytes at = report.position;
  (void)std::from_chars(at.data(), at.data() + at.size(), refusal_.character);
  if (report.is_fatal()) refusal_.state.clear();  // the session is gone: another may do better
  return as_error(refusal_);
}

std::unexpected<katana::Error> BlockingSession::Parts::not_sent() {
  return lost("the statement cannot be sent: the session is over, or it has a zero byte");
}

// False: a message is too large, or a text has a zero byte.
bool BlockingSession::Parts::send(Bytes text, const std::vector<std::string>& values) {
  protocol::Machine& machine = link_->machine();
  if (values.empty()) return machine.query(text, *link_) == protocol::Submitted::ok;
  std::vector<protocol::Value> given;
  given.reserve(values.size());
  for (const std::string& value : values) given.push_back({.bytes = value});
  return machine.parse({.sql = text}, *link_) == protocol::Submitted::ok &&
         machine.bind({.values = given}, *link_) == protocol::Submitted::ok &&
         machine.execute({}, *link_) == protocol::Submitted::ok &&
         machine.sync(*link_) == protocol::Submitted::ok;
}

katana::Result<protocol::Step> BlockingSession::Parts::next_event() {
  for (;;) {
    const protocol::Step step = link_->next();
    if (step.event != protocol::Event::need_bytes) return step;
    link_->keep_unread();
    if (has_ended_) return lost(link_->problem().text);
    link_->flush();
    if (auto ready = wait(never); !ready) return std::unexpected(ready.error());
    link_->flush();
    has_ended_ = !link_->receive();
  }
}

bool BlockingSession::Parts::take(const protocol::Step& event, Rows& rows,
                                  std::optional<katana::Error>& failure) {
  switch (event.event) {
    case protocol::Event::columns:
      rows.clear();
      has_columns_ = true;
      return false;
    case protocol::Event::row: {
      std::vector<std::string>& made = rows.emplace_back();
      protocol::Row row(event.body);
      made.reserve(row.count());
      for (protocol::Value value; row.next(value);) made.emplace_back(value.bytes);
      return false;
    }
    case protocol::Event::complete:
      if (!std::exchange(has_columns_, false)) rows.clear();
      return false;
    case protocol::Event::error: {
      const katana::Error why = refused(protocol::report_of(event.body));
      if (!failure) failure = why;
      return event.is_fatal;
    }
    case protocol::Event::copy_in:
    case protocol::Event::copy_out:
      // The data to copy is not in the statement; the session cannot be used any more.
      failure.emplace(Code::invalid_argument, "COPY from or to the client is no migration");
      return true;
    case protocol::Event::refused:
      failure = lost(std::string(protocol::text_of(link_->machine().refusal()))).error();
      return true;
    case protocol::Event::ready: return true;
    default: return false;
  }
}

katana::Result<BlockingSession::Rows> BlockingSession::Parts::ask(
    Bytes text, const std::vector<std::string>& values) {
  refusal_ = {};
  has_columns_ = !values.empty();  // a statement with values is not described
  if (!send(text, values)) return not_sent();
  Rows rows;
  std::optional<katana::Error> failure;
  while (true) {
    auto event = next_event();
    if (!event) return std::unexpected(event.error());
    if (take(*event, rows, failure)) break;
  }
  link_->keep_unread();
  if (failure) return std::unexpected(*std::move(failure));
  return rows;
}

katana::Result<StatementShape> BlockingSession::Parts::prepare(Bytes name, Bytes text) {
  refusal_ = {};
  protocol::Machine& machine = link_->machine();
  if (machine.parse({.name = name, .sql = text}, *link_) != protocol::Submitted::ok) {
    return not_sent();
  }
  if (machine.describe(protocol::Kind::statement, name, *link_) != protocol::Submitted::ok ||
      machine.sync(*link_) != protocol::Submitted::ok) {
    return not_sent();
  }
  StatementShape shape;
  Rows no_rows;
  std::optional<katana::Error> failure;
  while (true) {
    auto event = next_event();
    if (!event) return std::unexpected(event.error());
    if (event->event == protocol::Event::parameters) {
      protocol::ParameterTypes types(event->body);
      for (std::uint32_t type = 0; types.next(type);) shape.parameters.push_back(type);
    } else if (event->event == protocol::Event::columns) {
      protocol::Fields fields(event->body);
      for (protocol::Field field; fields.next(field);) {
        shape.columns.push_back(
            {std::string(field.name), field.type, field.table, static_cast<int>(field.column)});
      }
    } else if (take(*event, no_rows, failure)) {
      break;
    }
  }
  link_->keep_unread();
  if (failure) return std::unexpected(*std::move(failure));
  return shape;
}

BlockingSession::BlockingSession(std::unique_ptr<Parts> parts) noexcept
    : parts_(std::move(parts)) {}
BlockingSession::BlockingSession(BlockingSession&& other) noexcept = default;
BlockingSession& BlockingSession::operator=(BlockingSession&& other) noexcept = default;
BlockingSession::~BlockingSession() = default;

katana::Result<BlockingSession::Rows> BlockingSession::ask(Bytes text,
                                                           const std::vector<std::string>& values) {
  return parts_->ask(text, values);
}
katana::Result<StatementShape> BlockingSession::prepare(Bytes name, Bytes text) {
  return parts_->prepare(name, text);
}
const Refusal& BlockingSession::refusal() const noexcept { return parts_->refusal(); }
bool BlockingSession::in_transaction() const noexcept { return parts_->in_transaction(); }

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
