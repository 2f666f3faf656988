// spdlog in its asynchronous form, as its documentation sets it up: a queue of 8,192 and one
// thread; who meets a full queue waits.
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "subjects.hpp"

namespace log_bench {

namespace {

class Spdlog final : public Subject {
 public:
  explicit Spdlog(const std::string& path) : path_(path) {
    pool_ = std::make_shared<spdlog::details::thread_pool>(8192, 1);
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true);
    logger_ = std::make_shared<spdlog::async_logger>("bench", sink, pool_,
                                                     spdlog::async_overflow_policy::block);
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %n: %v", spdlog::pattern_time_type::utc);
  }
  void log(int number, double value, std::string_view text) override {
    logger_->info("message {} of {} by {}", number, value, text);
  }
  void burst(std::uint64_t count, std::string_view text) override {
    for (std::uint64_t index = 0; index < count; ++index) {
      logger_->info("message {} of {} by {}", static_cast<int>(index),
                    static_cast<double>(index) * 0.1, text);
    }
  }
  void finish() override {
    logger_->flush();
    logger_.reset();
    pool_.reset();  // its destructor waits until the queue is empty
  }
  std::uint64_t found() const override { return lines_in(path_); }

 private:
  const std::string path_;
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

}  // namespace

std::unique_ptr<Subject> make_spdlog(const std::string& path) {
  return std::make_unique<Spdlog>(path);
}

}  // namespace log_bench

// SPDX-License-Identifier: Apache-2.0
