#include "katana/app/queue_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/middleware/csrf.hpp"

namespace katana::app {

struct QueueLine {
  std::string queue;
  std::int64_t ready = 0;
  std::int64_t delayed = 0;
  std::int64_t running = 0;
  std::int64_t dead = 0;
  std::int64_t waited_us = 0;
};
KATANA_DESCRIBE(QueueLine, queue, ready, delayed, running, dead, waited_us)

struct QueuePage {
  std::int64_t after = 0;
  std::int64_t count = 100;
};
KATANA_DESCRIBE(QueuePage, (after, at_least(0)), (count, range(1, 1000)))

struct RetriedJobs {
  std::int64_t retried = 0;
};
KATANA_DESCRIBE(RetriedJobs, retried)

namespace {

using Names = std::shared_ptr<const std::vector<std::string>>;

bool has(const Names& names, const std::string& queue) {
  return std::ranges::find(*names, queue) != names->end();
}

Error no_such_queue(const std::string& queue) {
  return Error(Code::not_found, fmt::format("this program handles no queue '{}'", queue));
}

Task<Result<Reply>> list_queues(queue::JobQueue& queue, Names names) {
  std::vector<QueueLine> lines;
  for (std::size_t index = 0; index < names->size(); ++index) {
    const Result<queue::QueueDepth> depth = co_await queue.depth((*names)[index]);
    if (!depth) co_return std::unexpected(depth.error());
    lines.push_back({(*names)[index], depth->ready, depth->delayed, depth->running, depth->dead,
                     depth->waited_us});
  }
  co_return json_reply(lines);
}

Task<Result<Reply>> list_jobs(queue::JobQueue& queue, Names names, std::string name,
                              std::string state_name, QueuePage page) {
  const auto state = enumerator_from<queue::JobState>(state_name);
  if (!has(names, name)) co_return std::unexpected(no_such_queue(name));
  if (!state) {
    co_return fail(Code::not_found, "a job's state is waiting, running, done or dead");
  }
  const auto jobs =
      co_await queue.list(name, *state, page.after, static_cast<std::size_t>(page.count));
  if (!jobs) co_return std::unexpected(jobs.error());
  co_return json_reply(*jobs);
}

Task<Result<Reply>> retry_all(queue::JobQueue& queue, Names names, std::string name) {
  if (!has(names, name)) co_return std::unexpected(no_such_queue(name));
  const Result<std::int64_t> retried = co_await queue.retry_all(name);
  if (!retried) co_return std::unexpected(retried.error());
  co_return json_reply(RetriedJobs{*retried});
}

Task<Result<Reply>> retry_one(queue::JobQueue& queue, Names names, std::string name,
                              std::int64_t id) {
  if (!has(names, name)) co_return std::unexpected(no_such_queue(name));
  const Result<void> retried = co_await queue.retry(name, id);
  if (!retried) co_return std::unexpected(retried.error());
  co_return Reply(204);
}

Task<Result<Reply>> discard_one(queue::JobQueue& queue, Names names, std::string name,
                                std::int64_t id) {
  if (!has(names, name)) co_return std::unexpected(no_such_queue(name));
  const Result<void> gone = co_await queue.discard(name, id);
  if (!gone) co_return std::unexpected(gone.error());
  co_return Reply(204);
}

}  // namespace

Result<void> add_queue_pages(Group& group, queue::JobQueue& queue, std::vector<std::string> names) {
  auto own = csrf();
  if (!own) return std::unexpected(own.error());
  Group pages = group.group("/queues");
  pages.use(*std::move(own));
  const auto shared = std::make_shared<const std::vector<std::string>>(std::move(names));
  pages.get("", [&queue, shared] { return list_queues(queue, shared); });
  pages.get("/{queue}/{state}", [&queue, shared](Path<std::string> name, Path<std::string> state,
                                                 Query<QueuePage> page) {
    return list_jobs(queue, shared, std::move(name.value), std::move(state.value), *page);
  });
  pages.post("/{queue}/dead/retry", [&queue, shared](Path<std::string> name) {
    return retry_all(queue, shared, std::move(name.value));
  });
  pages.post("/{queue}/dead/{id}/retry",
             [&queue, shared](Path<std::string> name, Path<std::int64_t> id) {
               return retry_one(queue, shared, std::move(name.value), *id);
             });
  pages.delete_("/{queue}/jobs/{id}",
                [&queue, shared](Path<std::string> name, Path<std::int64_t> id) {
                  return discard_one(queue, shared, std::move(name.value), *id);
                });
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
