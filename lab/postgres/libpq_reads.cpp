#include <arpa/inet.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "lab/postgres/point_reads.hpp"

namespace katana::lab {
namespace {

struct Close {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Close>;
using Answer = std::unique_ptr<PGresult, Close>;

Connection connect(const PointReads& options) {
  Connection made(PQconnectdb(options.connection_string().c_str()));
  if (PQstatus(made.get()) != CONNECTION_OK) give_up(PQerrorMessage(made.get()));
  const Answer prepared(PQprepare(made.get(), "read", point_read_text, 1, nullptr));
  if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) give_up(PQerrorMessage(made.get()));
  return made;
}

// The parameter as the server takes it: 8 bytes, the highest first.
struct Parameter {
  explicit Parameter(std::uint32_t id) noexcept : octets{0, htonl(id)} {}
  std::uint32_t octets[2];
};

std::uint32_t number_at(const PGresult* result, int column, std::size_t offset) {
  std::uint32_t number = 0;
  std::memcpy(&number, PQgetvalue(result, 0, column) + offset, sizeof number);
  return ntohl(number);
}

// The row as a program would take it: two strings and two numbers.
struct Row {
  explicit Row(const PGresult* result)
      : id(number_at(result, 0, 4)),
        name(PQgetvalue(result, 0, 1), static_cast<std::size_t>(PQgetlength(result, 0, 1))),
        email(PQgetvalue(result, 0, 2), static_cast<std::size_t>(PQgetlength(result, 0, 2))),
        age(number_at(result, 3, 0)) {}
  std::uint32_t id;
  std::string name;
  std::string email;
  std::uint32_t age;
};

void check(PGconn* connection, const PGresult* result, std::uint32_t id) {
  if (PQresultStatus(result) != PGRES_TUPLES_OK) give_up(PQerrorMessage(connection));
  if (PQntuples(result) != 1 || Row(result).id != id) {
    give_up("a row is not the one that was asked for");
  }
}

// A pipeline that is kept full: what came back is asked for again at once, with a sync each.
class Pipeline {
 public:
  Pipeline(const PointReads& options, unsigned depth, std::uint32_t seed)
      : connection_(connect(options)), depth_(depth), ids_(seed, options.rows) {
    if (PQsetnonblocking(connection_.get(), 1) != 0 ||
        PQenterPipelineMode(connection_.get()) != 1) {
      give_up(PQerrorMessage(connection_.get()));
    }
  }
  pollfd waits_for() const noexcept {
    const int out = wants_write_ ? POLLOUT : 0;
    return {PQsocket(connection_.get()), static_cast<short>(POLLIN | out), 0};
  }
  void fill() {
    while (asked_.size() < depth_) ask(ids_.next());
    const int flushed = PQflush(connection_.get());
    if (flushed < 0) give_up(PQerrorMessage(connection_.get()));
    wants_write_ = flushed == 1;
  }
  std::uint64_t read() {
    PGconn* const pg = connection_.get();
    if (PQconsumeInput(pg) != 1) give_up(PQerrorMessage(pg));
    std::uint64_t count = 0;
    while (!asked_.empty() && PQisBusy(pg) == 0) {
      const Answer answer(PQgetResult(pg));
      if (answer == nullptr) continue;  // the end of a statement's results
      if (PQresultStatus(answer.get()) == PGRES_PIPELINE_SYNC) continue;
      check(pg, answer.get(), asked_.front());
      asked_.pop_front();
      ++count;
    }
    return count;
  }

 private:
  void ask(std::uint32_t id) {
    const Parameter parameter(id);
    const char* const value = reinterpret_cast<const char*>(parameter.octets);
    const int length = sizeof parameter.octets;
    const int binary = 1;
    PGconn* const pg = connection_.get();
    if (PQsendQueryPrepared(pg, "read", 1, &value, &length, &binary, 1) != 1 ||
        PQpipelineSync(pg) != 1) {
      give_up(PQerrorMessage(pg));
    }
    asked_.push_back(id);
  }

  Connection connection_;
  const unsigned depth_;
  Ids ids_;
  std::deque<std::uint32_t> asked_;
  bool wants_write_ = false;
};

}  // namespace

std::uint64_t read_by_libpq_pipeline(const PointReads& options, Begin begin) {
  std::vector<std::unique_ptr<Pipeline>> pipelines;
  for (unsigned number = 0; number < options.connections; ++number) {
    const unsigned depth = std::max(1U, options.callers / options.connections);
    pipelines.push_back(std::make_unique<Pipeline>(options, depth, number));
  }
  std::vector<pollfd> waits(pipelines.size());
  const auto run = [&](double seconds) {
    std::uint64_t count = 0;
    const Until until(seconds);
    while (!until.over()) {
      for (std::size_t each = 0; each < pipelines.size(); ++each) {
        pipelines[each]->fill();
        waits[each] = pipelines[each]->waits_for();
      }
      if (::poll(waits.data(), waits.size(), 1000) < 0) give_up("poll failed");
      for (std::size_t each = 0; each < pipelines.size(); ++each) {
        if (waits[each].revents != 0) count += pipelines[each]->read();
      }
    }
    return count;
  };
  run(0.3);
  begin();
  return run(options.seconds);
}

std::uint64_t read_by_libpq_blocking(const PointReads& options, Begin begin) {
  std::atomic<bool> counts = false;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> total = 0;
  const auto read = [&](std::uint32_t seed) {
    const Connection connection = connect(options);
    Ids ids(seed, options.rows);
    std::uint64_t count = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uint32_t id = ids.next();
      const Parameter parameter(id);
      const char* const value = reinterpret_cast<const char*>(parameter.octets);
      const int length = sizeof parameter.octets;
      const int binary = 1;
      const Answer answer(PQexecPrepared(connection.get(), "read", 1, &value, &length, &binary, 1));
      check(connection.get(), answer.get(), id);
      if (counts.load(std::memory_order_relaxed)) ++count;
    }
    total += count;
  };
  std::vector<std::jthread> threads;
  for (unsigned number = 0; number < options.connections; ++number)
    threads.emplace_back(read, number);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  begin();
  counts = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stop = true;
  threads.clear();
  return total;
}

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
