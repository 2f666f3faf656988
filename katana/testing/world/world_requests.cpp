// The clients of a world: requests, and the scripts that send them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/testing/world/world_core.hpp"

namespace katana::testing {
namespace {

constexpr std::size_t text_bytes_max = 100;

// One line of printable text.
std::string shortened(std::string_view text) {
  std::string line(text.substr(0, text_bytes_max));
  for (char& each : line) {
    if (static_cast<unsigned char>(each) < ' ') each = ' ';
  }
  if (text.size() > text_bytes_max) line += "…";
  return line;
}

std::string result_of(const Operation& operation) {
  switch (operation.outcome) {
    case Outcome::replied:
      return fmt::format("{}{}{}", operation.status, operation.reply.empty() ? "" : " ",
                         shortened(operation.reply));
    case Outcome::refused: return "refused: " + shortened(operation.why);
    case Outcome::unknown: return "unknown: " + shortened(operation.why);
    default: return "";
  }
}

TestReply::Fields with_fields(TestReply::Fields fields, const TestReply::Fields& more,
                              const Operation& operation) {
  for (const auto& each : more) {
    if (detail::find_field(fields, each.first) == nullptr) fields.push_back(each);
  }
  if (detail::find_field(fields, "host") == nullptr) {
    fields.insert(fields.begin(), {"Host", "localhost"});
  }
  if (!operation.content.empty() && detail::find_field(fields, "content-type") == nullptr) {
    fields.emplace_back("Content-Type", "application/json");
  }
  return fields;
}

}  // namespace

// ---- calls

WorldCall::~WorldCall() {
  std::erase(world_.core_->resumable, this);
  const auto place = world_.core_->find(operation_);
  if (place != world_.core_->sent.end() && place->waiting == this) place->waiting = nullptr;
}

void WorldCall::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  const auto place = world_.core_->find(operation_);
  if (place != world_.core_->sent.end()) place->waiting = this;
}

WorldCall WorldClient::send(std::string_view node, std::string_view method, std::string_view target,
                            std::string_view content, const TestReply::Fields& fields) {
  World::Core& core = *world_.core_;
  Operation& operation = core.history.emplace_back();
  operation.client = name_;
  operation.number = ++sent_;
  operation.node = node;
  operation.method = method;
  operation.target = target;
  operation.content = content;
  operation.invoked = core.now();
  if (core.is_dropped(operation.key()) || core.is_dropped(name_)) {
    operation.outcome = Outcome::dropped;
    operation.returned = core.now();
  } else {
    operation.fields = with_fields(fields, headers_, operation);
    core.begin(operation, *this, operation.fields);
  }
  return WorldCall(world_, operation);
}

std::list<detail::WorldCore::Sent>::iterator detail::WorldCore::find(const Operation& operation) {
  return std::ranges::find_if(sent, [&](const Sent& each) { return each.operation == &operation; });
}

void detail::WorldCore::begin(Operation& operation, const WorldClient& client,
                              TestReply::Fields fields) {
  note(operation.client,
       fmt::format("#{} {} {}{}{}{}", operation.number, operation.method, operation.node,
                   operation.target, operation.content.empty() ? "" : " ",
                   shortened(operation.content)));
  WorldNode* const node = find_node(operation.node);
  if (node == nullptr) {
    close(operation, Outcome::refused, fmt::format("there is no node '{}'", operation.node));
    return world.fail("the test", fmt::format("there is no node '{}'", operation.node));
  }
  Sent& request = sent.emplace_back();
  request.operation = &operation;
  request.deadline = now() + options.request_timeout;
  request.exchange = std::make_shared<detail::ClientExchange>();
  request.exchange->request = fmt::format("{} {}", operation.method, operation.target);
  request.exchange->to_head = operation.method == "HEAD";
  request.connection =
      detail::make_http1_connection(network, {.port = node->port_of(80, true),
                                              .from = client.address_,
                                              .to = node->address(),
                                              .content_bytes_max = std::size_t{64} * 1024 * 1024});
  request.exchange->on_reply = [this, &operation] {
    if (const auto place = find(operation); place != sent.end()) end(*place);
  };
  const bool has_content =
      !operation.content.empty() || operation.method == "POST" || operation.method == "PUT";
  request.connection->begin(request.exchange, {.method = operation.method,
                                               .target = operation.target,
                                               .fields = fields,
                                               .content = operation.content,
                                               .has_content = has_content});
}

// Called within events of the network.
void detail::WorldCore::end(Sent& request) {
  const TestReply& reply = *request.exchange->reply;
  Operation& operation = *request.operation;
  if (reply.problem().empty()) {
    operation.status = reply.status();
    operation.reply = reply.content();
    close(operation, Outcome::replied, {});
  } else {
    close(operation, request.exchange->was_refused ? Outcome::refused : Outcome::unknown,
          reply.problem());
  }
}

void detail::WorldCore::close(Operation& operation, Outcome outcome, std::string why) {
  operation.outcome = outcome;
  operation.why = std::move(why);
  operation.returned = now();
  note(operation.client, fmt::format("#{} -> {}", operation.number, result_of(operation)));
  is_dirty = true;
  const auto place = find(operation);
  if (place == sent.end()) return;
  if (place->waiting != nullptr) resumable.push_back(std::exchange(place->waiting, nullptr));
  over.splice(over.end(), sent, place);
  wake();
}

void detail::WorldCore::give_up_late() {
  for (auto each = sent.begin(); each != sent.end();) {
    Sent& request = *each++;
    if (request.deadline > now()) continue;
    const auto exchange = request.exchange;
    exchange->on_reply = nullptr;
    detail::ClientConnection& connection = *request.connection;  // it stays in `over`
    close(*request.operation, Outcome::unknown,
          fmt::format("no reply within {} s", options.request_timeout.ns / 1'000'000'000));
    connection.give_up("the client gave up");
  }
}

Instant detail::WorldCore::next_deadline() const noexcept {
  Instant next = never;
  for (const Sent& each : sent) next = std::min(next, each.deadline);
  return next;
}

// ---- scripts

void detail::WorldCore::wake() {
  if (std::exchange(is_waking, true)) return;
  own->post(waker);
}

// In a turn of the world's own reactor.
void detail::WorldCore::wake_scripts() noexcept {
  is_waking = false;
  for (Running* const each : std::exchange(to_start, {})) start_script(*each);
  while (!resumable.empty()) {
    WorldCall* const call = resumable.front();
    resumable.erase(resumable.begin());
    call->waiting_.resume();
  }
}

void detail::WorldCore::start_script(Running& running) {
  running.task.emplace(running.script(running.client));
  running.task->start();
}

WorldClient& World::client(const std::string& name) {
  for (const auto& each : core_->clients) {
    if (each->name() == name) return *each;
  }
  core_->clients.emplace_back(new WorldClient(*this, name, core_->next_address()));
  return *core_->clients.back();
}

WorldClient& World::script(const std::string& name, Script script) {
  WorldClient& of = client(name);
  if (core_->is_dropped(name)) return of;
  core_->to_start.push_back(
      &core_->scripts.emplace_back(Core::Running{.client = of, .script = std::move(script)}));
  core_->wake();
  return of;
}

Operation World::ask(std::string_view node, std::string_view method, std::string_view target,
                     std::string_view content, const TestReply::Fields& fields) {
  const WorldCall call = client("test").send(node, method, target, content, fields);
  const bool was_finishing = std::exchange(core_->is_finishing, true);
  (void)run_until([&] { return call.operation().is_over(); },
                  core_->options.request_timeout + seconds(1));
  core_->is_finishing = was_finishing;
  return call.operation();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
