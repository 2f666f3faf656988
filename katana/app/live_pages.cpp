#include "katana/app/live_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "katana/app/live_page_files.hpp"
#include "katana/base/thread/run.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/observe/crash/recent_texts.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::app {

struct StateQuery {
  std::int64_t limit = 20;
};
KATANA_DESCRIBE_STRICT(StateQuery, (limit, range(0, 1000)))

struct RequestsQuery {
  std::string route = {};
  std::optional<server::ClientAddress> client = {};
  std::chrono::milliseconds older{0};
  std::int64_t limit = 100;
};
KATANA_DESCRIBE_STRICT(RequestsQuery, (route, length(0, 512)), client,
                       (older, at_least(std::chrono::milliseconds(0))), (limit, range(1, 10'000)))

struct ConnectionsQuery {
  std::optional<server::ClientAddress> client = {};
  std::chrono::milliseconds older{0};
  bool paused = false;
  std::int64_t limit = 100;
};
KATANA_DESCRIBE_STRICT(ConnectionsQuery, client, (older, at_least(std::chrono::milliseconds(0))),
                       paused, (limit, range(1, 10'000)))

struct CoroutinesQuery {
  std::string route = {};
  std::chrono::milliseconds older{0};
  std::int64_t limit = 100;
};
KATANA_DESCRIBE_STRICT(CoroutinesQuery, (route, length(0, 512)),
                       (older, at_least(std::chrono::milliseconds(0))), (limit, range(1, 1000)))

struct StatementsQuery {
  std::int64_t limit = 100;
};
KATANA_DESCRIBE_STRICT(StatementsQuery, (limit, range(1, 1000)))

struct StatementsDocument {
  std::int64_t matched = 0;
  std::vector<std::size_t> silent_reactors = {};
  std::vector<std::size_t> unlisted_reactors = {};
  std::vector<StatementEntry> statements = {};
};
KATANA_DESCRIBE(StatementsDocument, matched, silent_reactors, unlisted_reactors, statements)

struct LogDocument {
  std::vector<std::string> records = {};  // the last ones, the oldest first
};
KATANA_DESCRIBE(LogDocument, records)

namespace {

// A JSON document with a list, which is written a part at a time. One that a client takes as fast
// as it comes is interrupted, too.
class ListSource final : public ContentSource {
 public:
  static constexpr std::size_t part_bytes = 4096;
  static constexpr std::size_t parts_in_a_row = 4;

  // Appends the next entry to the text. Returns false if there is none.
  using Next = std::move_only_function<bool(Text&)>;

  // `entry_bytes`: the memory of the entries, which `next` has.
  ListSource(Bytes head, std::size_t entry_bytes, Next next)
      : next_(std::move(next)), entry_bytes_(entry_bytes), part_(head) {}

  bool produce(ContentSink& sink) override {
    for (std::size_t parts = 0;;) {
      if (!part_.empty()) {
        if (!sink.write(part_.bytes())) return false;
        part_.clear();
      }
      if (is_over_) return true;
      if (++parts > parts_in_a_row && sink.yield()) return false;
      fill();
    }
  }
  std::size_t held_bytes() const noexcept override { return part_.size() + entry_bytes_; }

 private:
  void fill() {
    while (part_.size() < part_bytes) {
      const std::size_t before = part_.size();
      if (!is_first_) part_.push_back(',');
      if (!next_(part_)) {
        part_.resize(before);
        part_.append("]}\n");
        is_over_ = true;
        return;
      }
      is_first_ = false;
    }
  }

  Next next_;
  const std::size_t entry_bytes_;
  Text part_;
  bool is_first_ = true;
  bool is_over_ = false;
};

Reply no_store(Reply reply) {
  reply.add_field("Cache-Control", "no-store");
  return reply;
}

// The part of a list before its entries.
struct ListHead {
  std::size_t matched = 0;
  std::size_t entry_bytes = 0;             // the memory of the entries
  std::vector<std::size_t> silent = {};    // numbers of reactors that did not answer
  std::vector<std::size_t> unlisted = {};  // of those whose requests are not known
};

template <class Walk>
ListHead head_of(const std::vector<WalkedReactor<Walk>>& walked) {
  ListHead head;
  for (const auto& each : walked) {
    if (each.walk == nullptr) {
      head.silent.push_back(each.number);
      continue;
    }
    head.matched += each.walk->matched();
    head.entry_bytes += each.walk->held_bytes();
    if constexpr (requires { each.walk->is_listed(); }) {
      if (!each.walk->is_listed()) head.unlisted.push_back(each.number);
    }
  }
  return head;
}

Reply list_reply(Bytes name, const ListHead& head, ListSource::Next next) {
  const std::string text =
      fmt::format(R"({{"matched":{},"silent_reactors":[{}],"unlisted_reactors":[{}],"{}":[)",
                  head.matched, fmt::join(head.silent, ","), fmt::join(head.unlisted, ","), name);
  auto source = std::make_unique<ListSource>(text, head.entry_bytes, std::move(next));
  return no_store(Reply::stream("application/json", http::unknown_length, std::move(source)));
}

// Merges the lists of the reactors, each of which is ordered by age.
Task<Reply> list_requests(const LiveState& state, RequestsQuery query) {
  server::LiveRequestFilter filter{.route = std::move(query.route),
                                   .client = query.client,
                                   .older = duration_of(query.older),
                                   .limit = static_cast<std::size_t>(query.limit)};
  auto walked = co_await state.requests(std::move(filter));
  const ListHead head = head_of(walked);
  std::vector<std::size_t> places(walked.size());
  auto next = [walked = std::move(walked), left = query.limit,
               places = std::move(places)](Text& to) mutable {
    const server::LiveRequest* oldest = nullptr;
    std::size_t from = 0;
    for (std::size_t index = 0; index < walked.size(); ++index) {
      const auto& walk = walked[index].walk;
      if (walk == nullptr || places[index] == walk->size()) continue;
      const server::LiveRequest& each = walk->at(places[index]);
      if (oldest != nullptr && oldest->age >= each.age) continue;
      oldest = &each;
      from = index;
    }
    if (oldest == nullptr || left-- == 0) return false;
    ++places[from];
    container::write_json(entry_of(*oldest, walked[from].number), to);
    return true;
  };
  co_return list_reply("requests", head, std::move(next));
}

// The same for heaps.
Task<Reply> list_connections(const LiveState& state, ConnectionsQuery query) {
  server::LiveConnectionFilter filter{.client = query.client,
                                      .older = duration_of(query.older),
                                      .paused = query.paused,
                                      .limit = static_cast<std::size_t>(query.limit)};
  auto walked = co_await state.connections(std::move(filter));
  const ListHead head = head_of(walked);
  auto next = [walked = std::move(walked), left = query.limit](Text& to) mutable {
    WalkedReactor<server::LiveConnections>* from = nullptr;
    for (auto& each : walked) {
      if (each.walk == nullptr || each.walk->heap().empty()) continue;
      if (from != nullptr && from->walk->heap().front().age >= each.walk->heap().front().age) {
        continue;
      }
      from = &each;
    }
    if (from == nullptr || left-- == 0) return false;
    auto& heap = from->walk->heap();
    std::ranges::pop_heap(heap, server::LiveConnections::is_younger);
    container::write_json(entry_of(heap.back(), from->number), to);
    heap.pop_back();
    return true;
  };
  co_return list_reply("connections", head, std::move(next));
}

// Those that have waited longest, of all reactors.
Task<Reply> list_coroutines(const LiveState& state, CoroutinesQuery query) {
  const auto limit = static_cast<std::size_t>(query.limit);
  server::LiveCoroutineFilter filter{
      .route = std::move(query.route), .older = duration_of(query.older), .limit = limit};
  auto walked = co_await state.coroutines(std::move(filter));
  const ListHead head = head_of(walked);
  std::vector<std::pair<std::size_t, const server::LiveCoroutine*>> order;
  for (const auto& each : walked) {
    if (each.walk == nullptr) continue;
    for (const server::LiveCoroutine& one : each.walk->heap())
      order.emplace_back(each.number, &one);
  }
  const auto waits_longer = [](const auto& one, const auto& other) {
    return one.second->waiting > other.second->waiting;
  };
  std::ranges::sort(order, waits_longer);
  if (order.size() > limit) order.resize(limit);
  auto next = [walked = std::move(walked), order = std::move(order),
               place = std::size_t{0}](Text& to) mutable {
    if (place == order.size()) return false;
    container::write_json(entry_of(*order[place].second, order[place].first), to);
    ++place;
    return true;
  };
  co_return list_reply("coroutines", head, std::move(next));
}

Task<Reply> list_statements(const LiveState& state, StatementsQuery query) {
  LiveState::Statements found = co_await state.statements(static_cast<std::size_t>(query.limit));
  StatementsDocument document{.matched = static_cast<std::int64_t>(found.count),
                              .silent_reactors = std::move(found.silent),
                              .unlisted_reactors = std::move(found.unlisted),
                              .statements = std::move(found.rows)};
  co_return no_store(json_reply(document));
}

Task<Reply> show_state(const LiveState& state, StateQuery query) {
  const StateDocument document = co_await state.document(static_cast<std::size_t>(query.limit));
  co_return no_store(json_reply(document));
}

Reply show_configuration(const LiveState& state) {
  const std::string text = state.sources().configuration();
  Text content;
  content.append(text);
  return no_store(Reply(200, "text/plain; charset=utf-8", std::move(content)));
}

// The text of a document of many numbers is made by the pool.
Task<Result<Reply>> show_history(const LiveState& state) {
  auto job = [history = state.sources().history] {
    return container::to_json(history->document());
  };
  auto given = thread::give(job);
  auto text = co_await state.sources().pool->run(given);
  if (!text) co_return std::unexpected(text.error());
  Text content;
  content.append(*text);
  co_return no_store(Reply(200, "application/json", std::move(content)));
}

Reply show_log() { return no_store(json_reply(LogDocument{crash::recent_texts()})); }

// The page may load its script and its style, and ask its own server. Nothing else may.
Reply file_reply(Literal type, Bytes text) {
  Text content;
  content.append(text);
  Reply reply(200, type, std::move(content));
  reply.add_field("Content-Security-Policy",
                  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  reply.add_field("X-Content-Type-Options", "nosniff");
  return no_store(std::move(reply));
}

}  // namespace

void add_live_pages(Group& group, Group& shell, const LiveState& state) {
  Group files = shell.group("/operations");
  files.get("", [] { return file_reply("text/html; charset=utf-8", live_page_html); });
  files.get("/page.js", [] { return file_reply("text/javascript; charset=utf-8", live_page_js); });
  files.get("/charts.js",
            [] { return file_reply("text/javascript; charset=utf-8", live_charts_js); });
  files.get("/page.css", [] { return file_reply("text/css; charset=utf-8", live_page_css); });
  Group pages = group.group("/operations");
  pages.get("/history", [&state] { return show_history(state); });
  pages.get("/log", show_log);
  pages.get("/state", [&state](Query<StateQuery> query) { return show_state(state, *query); });
  pages.get("/requests", [&state](Query<RequestsQuery> query) {
    return list_requests(state, std::move(query.value));
  });
  pages.get("/connections", [&state](Query<ConnectionsQuery> query) {
    return list_connections(state, std::move(query.value));
  });
  pages.get("/coroutines", [&state](Query<CoroutinesQuery> query) {
    return list_coroutines(state, std::move(query.value));
  });
  pages.get("/statements",
            [&state](Query<StatementsQuery> query) { return list_statements(state, *query); });
  pages.get("/configuration", [&state] { return show_configuration(state); });
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
