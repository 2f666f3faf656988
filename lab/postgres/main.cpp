// postgres_point_reads: runs one client for some seconds, and prints its figures as one line of
// JSON. lab/postgres_cost.py runs it beside clients in other languages.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <map>

#include "apps/command_line.hpp"
#include "lab/postgres/point_reads.hpp"

namespace {

double begun_s = 0;
double begun_cpu_s = 0;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void begin() {
  begun_s = now_s();
  begun_cpu_s = cpu_s();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace katana::lab;
  const std::map<std::string, std::uint64_t (*)(const PointReads&, Begin)> clients = {
      {"katana", read_by_katana},
      {"libpq_pipeline", read_by_libpq_pipeline},
      {"libpq_blocking", read_by_libpq_blocking}};
  PointReads options;
  CLI::App app("Read rows of PostgreSQL by primary key, and print how many.",
               "postgres_point_reads");
  app.add_option("--client", options.client, "library that reads")
      ->required()
      ->check(CLI::IsMember(clients));
  app.add_option("--folder", options.folder, "folder of the server's Unix socket")->required();
  app.add_option("--port", options.port, "number in the socket's name")->required();
  app.add_option("--database", options.database, "name of the database")->capture_default_str();
  app.add_option("--callers", options.callers, "reads in flight")->check(CLI::Range(1, 10'000));
  app.add_option("--connections", options.connections, "connections to the server")
      ->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.seconds, "duration of the measurement")
      ->check(CLI::Range(0.001, 1e6));
  app.add_option("--rows", options.rows, "ids go from 1 to this")
      ->check(CLI::Range(1, 1'000'000'000));
  if (const auto status = command_line::parse(app, argc, argv)) return *status;
  const std::uint64_t queries = clients.at(options.client)(options, begin);
  std::printf("{\"queries\":%llu,\"elapsed_s\":%.6f,\"cpu_s\":%.6f}\n",
              static_cast<unsigned long long>(queries), now_s() - begun_s, cpu_s() - begun_cpu_s);
}

// SPDX-License-Identifier: Apache-2.0
