// printed_values: values that test_gdb.py prints by packaging/gdb/katana.py, at a place where gdb
// stops.
#include <cstdint>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/http/handlers/reply.hpp"

using namespace katana;

namespace {

Task<int> planted_callee() {
  co_await std::suspend_always();
  co_return 1;
}

Task<int> planted_caller() { co_return co_await planted_callee() + 1; }

}  // namespace

// gdb stops here, and looks at the caller.
[[gnu::noinline]] void planted_stop() { asm volatile(""); }

int main() {
  Text text;
  text.append("katana \xc3\xa9");
  const Literal literal("literal");
  const Error bare(Code::not_found);
  const Error wide = Error(Code::unavailable, "connection refused").within("open database 'a'");
  const Duration duration = milliseconds(1500);
  const Instant instant = Instant{} + seconds(3);
  const Uuid uuid = *Uuid::parse("0af76519-16cd-43dd-8448-eb211c80319c");
  const Result<int> good = 7;
  const Result<std::string> bad = fail(Code::data_loss, "page 3");
  const Result<void> nothing = {};
  Task<int> waiting = planted_caller();
  (void)waiting.start();
  Task<int> fresh = planted_caller();
  planted_stop();
  return good && bad.has_value() && nothing && text.size() + literal.bytes().size() == 0 &&
                 bare.code() == wide.code() && duration.ns == instant.ns && uuid == Uuid()
             ? 1
             : 0;
}

// SPDX-License-Identifier: Apache-2.0
