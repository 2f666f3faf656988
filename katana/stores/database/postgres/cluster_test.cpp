#include "katana/stores/database/postgres/cluster_test.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace katana::database::postgres {
namespace {

// PostgreSQL refuses to run as root.
const passwd* other_user() { return geteuid() == 0 ? getpwnam("nobody") : nullptr; }

}  // namespace

std::string postgres_program(const char* name) {
  int newest = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
  }
  if (newest == 0) throw std::runtime_error("PostgreSQL's server is not in /usr/lib/postgresql");
  return fmt::format("/usr/lib/postgresql/{}/bin/{}", newest, name);
}

int start_program(const std::vector<std::string>& words, const std::string& log) {
  const passwd* const user = other_user();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int process = fork();
  if (process != 0) return process;
  setpgid(0, 0);
  if (user != nullptr && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the user changed, which clears it
  // No more than system calls: other threads of the test may hold any lock.
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || chdir("/") != 0) {
    _exit(126);
  }
  execv(arguments[0], arguments.data());
  _exit(127);
}

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string make_folder(const char* name) {
  std::string folder = fmt::format("/tmp/katana-{}-XXXXXX", name);
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const passwd* const user = other_user();
  if (user != nullptr && chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("cannot give a folder away");
  }
  return folder;
}

namespace {

struct Close {
  void operator()(PGconn* pg) const noexcept { PQfinish(pg); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};

}  // namespace

Cluster::Cluster() : folder_(make_folder("postgres")), port_(find_free_port()) {
  const int made =
      start_program({postgres_program("initdb"), "-D", folder_ + "/data", "-U", "katana", "-A",
                     "trust", "-E", "UTF8", "--no-locale", "-N", "--no-instructions"},
                    folder_ + "/log");
  if (wait_for(made) != 0) throw std::runtime_error("initdb failed: " + log());
  start();
}

Cluster::Cluster(const Cluster* primary)
    : folder_(make_folder("standby")), port_(find_free_port()) {
  const int made = start_program({postgres_program("pg_basebackup"), "-h", primary->folder(), "-p",
                                  std::to_string(primary->port()), "-U", "katana", "-D",
                                  folder_ + "/data", "-R", "-X", "stream", "-N", "-c", "fast"},
                                 folder_ + "/log");
  if (wait_for(made) != 0) throw std::runtime_error("pg_basebackup failed: " + log());
  start();
}

Cluster::~Cluster() {
  if (process_ > 0) stop(true);
  std::error_code ignored;  // what is left is in the folder for temporary files
  std::filesystem::remove_all(folder_, ignored);
}

Cluster& Cluster::shared() {
  static Cluster cluster;
  return cluster;
}

void Cluster::start() {
  process_ = start_program({postgres_program("postgres"), "-D", folder_ + "/data",    "-k",
                            folder_ + ",@" + folder_,     "-h", "127.0.0.1",          "-p",
                            std::to_string(port_),        "-c", "fsync=off",          "-c",
                            "full_page_writes=off",       "-c", "max_connections=60", "-c",
                            "shared_buffers=16MB",        "-c", "autovacuum=off",     "-c",
                            "max_prepared_transactions=0"},
                           folder_ + "/log");
  for (int round = 0; round < 1000; ++round) {
    if (answers()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = -1;
      break;
    }
  }
  throw std::runtime_error("PostgreSQL does not answer: " + log());
}

void Cluster::stop(bool at_once) {
  if (at_once) {
    ::kill(-process_, SIGKILL);  // the postmaster; its processes see that it is gone
  } else {
    ::kill(process_, SIGINT);
  }
  wait_for(process_);
  process_ = -1;
}

std::string Cluster::log() const {
  std::ifstream file(folder_ + "/log");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Cluster::answers() const {
  const std::string where =
      fmt::format("host={} port={} user=katana dbname=postgres", folder_, port_);
  return PQping(where.c_str()) == PQPING_OK;
}

std::string Cluster::ask(const std::string& statement, const std::string& database) const {
  const std::string where =
      fmt::format("host={} port={} user=katana dbname={}", folder_, port_, database);
  const std::unique_ptr<PGconn, Close> pg(PQconnectdb(where.c_str()));
  const std::unique_ptr<PGresult, Close> result(PQexec(pg.get(), statement.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(statement + ": " + PQerrorMessage(pg.get()));
  }
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

Options Cluster::options(bool over_tcp) const {
  Options options;
  options.database = fmt::format("test{}", ++databases_);
  (void)ask("CREATE DATABASE " + options.database);
  options.hosts = {{over_tcp ? "localhost" : folder_, port_}};
  options.user = "katana";
  return options;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
