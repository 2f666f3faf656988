#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "arena/arena.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http.hpp"
#include "katana/http/coding/brotli/brotli.hpp"
#include "katana/net.hpp"
#include "katana/websocket.hpp"

namespace arena {
namespace {

using namespace katana;

struct Addends {
  std::int64_t a = 0, b = 0;
};
KATANA_DESCRIBE(Addends, a, b)

// The price of an order: a number of pieces of one item.
struct PricedItem {
  int id;
  std::string_view name, category;
  int price, quantity;
  bool active;
  std::span<const std::string> tags;
  Rating rating;
  std::int64_t total;
};
KATANA_DESCRIBE(PricedItem, id, name, category, price, quantity, active, tags, rating, total)

struct PricedItems {
  std::vector<PricedItem> items;
  std::size_t count;
};
KATANA_DESCRIBE(PricedItems, items, count)

struct Orders {
  std::int64_t m = 1;
};
KATANA_DESCRIBE(Orders, m)

Reply sum(Query<Addends> of) { return Reply::text(format_text("{}", of->a + of->b)); }

Reply sum_with_content(Query<Addends> of, const RequestView& request) {
  const Bytes content = request.content();
  std::int64_t third = 0;
  const auto end = content.data() + content.size();
  if (std::from_chars(content.data(), end, third).ptr != end || content.empty()) {
    return problem(400, "The content has to be a whole number.");
  }
  return Reply::text(format_text("{}", of->a + of->b + third));
}

Json<PricedItems> first_items(std::span<const Item> items, std::int64_t orders) {
  std::vector<PricedItem> priced;
  priced.reserve(items.size());
  for (const Item& of : items) {
    priced.push_back({of.id, of.name, of.category, of.price, of.quantity, of.active, of.tags,
                      of.rating, orders * of.price * of.quantity});
  }
  return {.value = {.items = std::move(priced), .count = items.size()}};
}

// The longest delay that may be asked for: a handler has 30 s.
constexpr std::uint32_t delay_ms_max = 25'000;

// Answers when the time is over. Other requests of the reactor go on meanwhile.
Task<Reply> delayed(Path<std::uint32_t> ms) {
  if (*ms > delay_ms_max) {
    co_return problem(400, fmt::format("A delay has at most {} ms.", delay_ms_max));
  }
  co_await net::sleep_for(milliseconds(*ms));
  co_return Reply::text(format_text("{}", *ms));
}

// The content as it came.
Reply echo(const RequestView& request) {
  return Reply(200, "application/octet-stream", Text(request.content()));
}

// Counts what comes, where it was received.
Task<void> count_upload(ContentReader content, ReplyWriter reply) {
  std::size_t bytes = 0;
  auto count = [&bytes](Bytes piece) { bytes += piece.size(); };
  co_await content.for_each(count);
  const Text answer = format_text("{}", bytes);
  reply.begin(200, "text/plain", static_cast<std::int64_t>(answer.size()));
  co_await reply.write(answer.bytes());
}

}  // namespace

Result<std::vector<Item>> read_dataset(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return fail(Code::not_found, fmt::format("'{}' cannot be read", file));
  auto items = container::read_json<std::vector<Item>>(text);
  if (!items) return std::unexpected(items.error().within(file));
  return items;
}

void add_routes(Router& router, const std::vector<Item>& items, const std::string& folder) {
  router.get("/pipeline", [] { return Reply::text("ok"); })
      .get("/baseline11", sum)
      .post("/baseline11", sum_with_content)
      .get("/baseline2", sum)
      .get("/delay/{ms}", delayed)
      .post("/echo", echo)
      .post("/upload", count_upload)
      .websocket("/ws", {.on_message = [](WebSocket& socket, Bytes payload, MessageKind kind) {
                   socket.send(payload, kind);
                 }});
  if (!folder.empty()) router.files("/static", folder);
  if (items.empty()) return;
  router.group("/json")
      .use(compression({.codecs = {coding::gzip(), coding::brotli()}}))
      .get("/{count}", [&items](Path<std::uint32_t> count, Query<Orders> orders) {
        return first_items(std::span(items).first(std::min<std::size_t>(*count, items.size())),
                           orders->m);
      });
}

}  // namespace arena

// SPDX-License-Identifier: Apache-2.0
