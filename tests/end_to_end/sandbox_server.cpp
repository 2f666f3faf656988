// sandbox_server: a program that tries to escape from its own sandbox when it is asked to, like a
// program under control of an attacker. Each path answers with the error of the call, 0 if it
// worked.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"

using namespace katana;

namespace {

int error_of(long result) { return result < 0 ? errno : 0; }

int execute() {
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  ::execv(name, arguments);
  return errno;
}

int run_child() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child < 0 ? errno : error_of(::waitpid(child, nullptr, 0));
}

int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error =
      error_of(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address));
  ::close(socket);
  return error;
}

int write_code() {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? errno : 0;
}

int try_to(const std::string& what) {
  if (what == "exec") return execute();
  if (what == "fork") return run_child();
  if (what == "ptrace") return error_of(::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
  if (what == "io_uring") return error_of(::syscall(SYS_io_uring_setup, 4, nullptr));
  if (what == "write_code") return write_code();
  if (what == "signal") return error_of(::kill(::getppid(), 0));
  if (what == "root") return error_of(::syscall(SYS_setresuid, 0, 0, 0));
  if (what == "unshare") return error_of(::syscall(SYS_unshare, 0x10000000));
  if (what == "packets") return error_of(::socket(AF_PACKET, SOCK_RAW, 0));
  return ENOSYS;
}

int open_file(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

Reply number(int value) { return Reply::text(format_text("{}", value)); }

struct Target {
  std::string path;
};
KATANA_DESCRIBE(Target, path)

void add_routes(const registry::Services&, Router& router) {
  router.get("/try/{what}", [](Path<std::string> what) { return number(try_to(*what)); });
  router.get("/connect/{port}",
             [](Path<int> port) { return number(connect_to(static_cast<std::uint16_t>(*port))); });
  router.get("/read", [](Query<Target> query) { return number(open_file(query->path, O_RDONLY)); });
  router.get("/make",
             [](Query<Target> query) { return number(open_file(query->path, O_RDWR | O_CREAT)); });
  router.files("/pages", "pages");
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "sandbox_server", .database = app::sqlite(), .reads = {"pages"}});
  app.routes(add_routes);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
