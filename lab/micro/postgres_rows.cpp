// postgres_rows FOLDER PORT USER DATABASE ROWS ROUNDS
//
// It reads ROWS rows of two numbers and a text in PostgreSQL's binary format, by the machine of
// wire/postgres and by libpq in turn. It prints the processor time of this process for each row.
// The server is at the Unix socket in FOLDER, and lets USER in without a password.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "katana/base/values/secrets.hpp"
#include "katana/wire/postgres/machine.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace {

using namespace katana;

struct Where {
  std::string folder;
  std::string port;
  std::string user;
  std::string database;
};

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

std::uint64_t number_of(const char* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return __builtin_bswap64(number);
}

// Stands for a program that uses its rows. Both clients have to come to the same sum.
struct Sum {
  std::uint64_t total = 0;
  void add(Bytes first, Bytes second, Bytes third) {
    total += number_of(first.data()) ^ number_of(second.data());
    total += third.size();
  }
};

std::string statement(const std::string& rows) {
  return "SELECT n, n * 7, repeat('x', (n % 40)::int) FROM generate_series(1::int8, " + rows +
         ") AS n";
}

// ---- the machine -------------------------------------------------------------------------------

struct Text {
  bool takes(std::size_t) const { return true; }
  void write(Bytes bytes) { text += bytes; }
  std::string text;
};

class Session {
 public:
  explicit Session(const Where& where) : machine_(pending_) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = where.folder + "/.s.PGSQL." + where.port;
    if (path.size() >= sizeof address.sun_path) fail("the path of the socket is too long");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail("cannot connect to " + path);
    }
    postgres::StartupOptions options;
    options.user = where.user;
    options.database = where.database;
    options.tls = postgres::TlsStart::off;
    options.methods.nothing = true;
    postgres::Startup startup(options, random_octets(postgres::scram_nonce_bytes));
    (void)startup.begin(output_);
    for (;;) {
      const postgres::StartStep step = startup.next(input(), output_);
      begin_ += step.consumed;
      if (step.event == postgres::StartEvent::ready) return;
      if (step.event == postgres::StartEvent::error) fail("the server refuses the session");
      if (step.event == postgres::StartEvent::refused)
        fail(std::string(text_of(startup.refusal())));
      if (step.event == postgres::StartEvent::need_bytes) receive();
    }
  }
  ~Session() { ::close(socket_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Sum run(const std::string& sql) {
    const std::array<postgres::Format, 1> binary = {postgres::Format::binary};
    (void)machine_.parse({.sql = sql}, output_);
    (void)machine_.bind({.result_formats = binary}, output_);
    (void)machine_.execute({.columns = 3}, output_);
    (void)machine_.sync(output_);
    Sum sum;
    for (;;) {
      const postgres::Step step = machine_.next(input());
      begin_ += step.consumed;
      if (step.event == postgres::Event::row) {
        postgres::Row row(step.body);
        std::array<postgres::Value, 3> values;
        for (postgres::Value& value : values) row.next(value);
        sum.add(values[0].bytes, values[1].bytes, values[2].bytes);
      } else if (step.event == postgres::Event::need_bytes) {
        receive();
      } else if (step.event == postgres::Event::ready) {
        return sum;
      } else if (step.event == postgres::Event::refused || step.event == postgres::Event::error) {
        fail("the statement failed");
      }
    }
  }

 private:
  Bytes input() const { return {memory_.data() + begin_, end_ - begin_}; }
  void receive() {
    if (!output_.text.empty()) {
      if (::send(socket_, output_.text.data(), output_.text.size(), MSG_NOSIGNAL) < 0) fail("send");
      output_.text.clear();
    }
    std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const ssize_t count = ::recv(socket_, memory_.data() + end_, memory_.size() - end_, 0);
    if (count <= 0) fail("the server closed the connection");
    end_ += static_cast<std::size_t>(count);
  }

  const int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::vector<char> memory_ = std::vector<char>(16 * 1024);  // as libpq's
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Text output_;
  std::array<postgres::Machine::Pending, 8> pending_{};
  postgres::Machine machine_;
};

// ---- libpq -------------------------------------------------------------------------------------

class Libpq {
 public:
  explicit Libpq(const Where& where)
      : pg_(PQsetdbLogin(where.folder.c_str(), where.port.c_str(), nullptr, nullptr,
                         where.database.c_str(), where.user.c_str(), nullptr)) {
    if (PQstatus(pg_) != CONNECTION_OK) fail(PQerrorMessage(pg_));
  }
  ~Libpq() { PQfinish(pg_); }
  Libpq(const Libpq&) = delete;
  Libpq& operator=(const Libpq&) = delete;

  // `is_single`: a result for each row, as a program has it that bounds its memory.
  Sum run(const std::string& sql, bool is_single) {
    Sum sum;
    PQsendQueryParams(pg_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1);
    if (is_single) PQsetSingleRowMode(pg_);
    while (PGresult* const result = PQgetResult(pg_)) {
      if (PQresultStatus(result) == PGRES_FATAL_ERROR) fail(PQerrorMessage(pg_));
      for (int row = 0; row < PQntuples(result); ++row) {
        const auto value = [result, row](int column) {
          return Bytes(PQgetvalue(result, row, column),
                       static_cast<std::size_t>(PQgetlength(result, row, column)));
        };
        sum.add(value(0), value(1), value(2));
      }
      PQclear(result);
    }
    return sum;
  }

 private:
  PGconn* pg_;
};

template <class Run>
double nanoseconds_of(double rows, std::uint64_t& total, const Run& run) {
  const double before = processor_seconds();
  const Sum sum = run();
  const double used = processor_seconds() - before;
  if (total == 0) total = sum.total;
  if (sum.total != total) fail("the clients read different rows");
  return used * 1e9 / rows;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) {
    fmt::print(stderr, "usage: postgres_rows FOLDER PORT USER DATABASE ROWS ROUNDS\n");
    return 2;
  }
  const Where where{arguments[1], arguments[2], arguments[3], arguments[4]};
  const std::string sql = statement(arguments[5]);
  const double rows = std::atof(arguments[5]);
  Session session(where);
  Libpq libpq(where);
  std::uint64_t total = 0;
  fmt::print(
      "ns of processor time for each row\nround  machine  libpq, row by row  libpq, whole\n");
  for (int round = 1; round <= std::atoi(arguments[6]); ++round) {
    const double ours = nanoseconds_of(rows, total, [&] { return session.run(sql); });
    const double single = nanoseconds_of(rows, total, [&] { return libpq.run(sql, true); });
    const double whole = nanoseconds_of(rows, total, [&] { return libpq.run(sql, false); });
    fmt::print("{:5}  {:7.0f}  {:17.0f}  {:12.0f}\n", round, ours, single, whole);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
