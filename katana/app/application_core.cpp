#include "katana/app/application_core.hpp"

#include "katana/app/embedding.hpp"
#include "katana/app/program.hpp"

namespace katana::app {

ApplicationCore::ApplicationCore(ApplicationOptions options,
                                 std::unique_ptr<ProgramSettings> settings)
    : program_(std::make_unique<Program>(std::move(options), std::move(settings))) {}
ApplicationCore::~ApplicationCore() = default;

void ApplicationCore::set_services(Program::AddServices f) { program_->set_services(std::move(f)); }
void ApplicationCore::set_routes(Program::AddRoutes f, const std::source_location& where) {
  program_->set_routes(std::move(f), where);
}
void ApplicationCore::set_operations(Program::AddOperations f, const std::source_location& where) {
  program_->set_operations(std::move(f), where);
}
void ApplicationCore::add_start_hook(Program::Hook f) { program_->on_start(std::move(f)); }
void ApplicationCore::add_stop_hook(Program::Hook f) { program_->on_stop(std::move(f)); }
void ApplicationCore::add_job(std::string name, jobs::Schedule schedule, jobs::JobFunction f,
                              jobs::JobOptions options) {
  program_->add_job({std::move(name), std::move(schedule), std::move(f), options});
}
void ApplicationCore::add_queue(queue::QueueHandler handler) {
  program_->add_queue(std::move(handler));
}
void ApplicationCore::use(std::unique_ptr<Part> part) { program_->add_part(std::move(part)); }
void ApplicationCore::part(StartStep step) { program_->add_step(std::move(step)); }

int ApplicationCore::run(int count, const char* const* arguments) {
  return program_->run(count, arguments);
}
Result<void> ApplicationCore::start(const CommandLine& line) { return program_->start(line); }
Result<void> ApplicationCore::start(const CommandLine& line, Embedding embedding) {
  return program_->start(line, std::move(embedding));
}
server::ServerReport ApplicationCore::serve() { return program_->serve(); }
void ApplicationCore::shutdown() noexcept { program_->shutdown(); }
void ApplicationCore::stop() noexcept { program_->stop(); }
Result<void> ApplicationCore::reload() { return program_->reload(); }
Result<void> ApplicationCore::spawn_function(jobs::JobFunction f, std::string name) {
  return program_->spawn(std::move(f), std::move(name));
}

bool ApplicationCore::describes() const noexcept { return program_->describes(); }
std::uint16_t ApplicationCore::port() const noexcept { return server().port(); }
std::string ApplicationCore::url() const { return program_->url(); }
const server::HttpServer& ApplicationCore::server() const noexcept { return program_->server(); }
log::Log& ApplicationCore::log() noexcept { return program_->log(); }
const ApplicationOptions& ApplicationCore::options() const noexcept { return program_->options(); }
const registry::Services& ApplicationCore::services() const noexcept {
  return program_->services();
}
std::vector<ServiceDocument> ApplicationCore::documents() const { return program_->documents(); }
const Startup& ApplicationCore::startup() const noexcept { return program_->startup(); }
const ApplicationJobs& ApplicationCore::jobs() const noexcept { return program_->jobs(); }

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
