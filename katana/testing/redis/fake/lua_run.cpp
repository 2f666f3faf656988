#include "katana/testing/redis/fake/lua_run.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "katana/testing/redis/fake/lua_value.hpp"

namespace katana::testing::lua {
namespace {

// The variables of a block, and of the blocks around it.
struct Scope {
  std::map<std::string, LuaValue> names = {};
  std::shared_ptr<Scope> around = {};

  LuaValue* find(const std::string& name) {
    for (Scope* each = this; each != nullptr; each = each->around.get()) {
      if (const auto found = each->names.find(name); found != each->names.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }
};
using ScopePtr = std::shared_ptr<Scope>;

// How a block ended.
enum class Flow : std::uint8_t { goes_on, leaves, returns };

// ---- values of Redis

LuaValue array_of(const std::vector<RedisValue>& elements);

LuaValue lua_of(const RedisValue& value) {
  const auto marked = [&](const char* mark) {
    auto table = std::make_shared<LuaTable>();
    table->parts[std::string(mark)] = value.text;
    return LuaValue(table);
  };
  switch (value.type) {
    case RedisValue::Type::null: return false;
    case RedisValue::Type::status: return marked("ok");
    case RedisValue::Type::error: return marked("err");
    case RedisValue::Type::integer: return static_cast<double>(value.integer);
    case RedisValue::Type::text: return value.text;
    case RedisValue::Type::number: return number_text(value.number_value);
    default: return array_of(value.elements);
  }
}

LuaValue array_of(const std::vector<RedisValue>& elements) {
  auto table = std::make_shared<LuaTable>();
  for (std::size_t index = 0; index < elements.size(); ++index) {
    table->parts[static_cast<double>(index + 1)] = lua_of(elements[index]);
  }
  return table;
}

RedisValue redis_of(const LuaValue& value) {
  if (value.truth() != nullptr) return *value.truth() ? RedisValue::count(1) : RedisValue();
  if (value.number() != nullptr) {
    return RedisValue::count(static_cast<std::int64_t>(*value.number()));
  }
  if (value.text() != nullptr) return RedisValue::bulk(*value.text());
  const auto table = value.table();
  if (table == nullptr) return {};
  if (const auto found = table->parts.find(std::string("err")); found != table->parts.end()) {
    return RedisValue::error(found->second.need_text());
  }
  if (const auto found = table->parts.find(std::string("ok")); found != table->parts.end()) {
    return RedisValue::status(found->second.need_text());
  }
  std::vector<RedisValue> elements;
  for (std::size_t index = 1; index <= table->length(); ++index) {
    elements.push_back(redis_of(table->parts.at(static_cast<double>(index))));
  }
  return RedisValue::array(std::move(elements));
}

// An argument of a command: whole numbers have no fraction.
std::string argument_of(const LuaValue& value) {
  if (value.number() != nullptr) {
    const double number = *value.number();
    const bool is_whole = std::abs(number) < 1e17 && std::floor(number) == number;
    if (is_whole) return fmt::format("{}", static_cast<std::int64_t>(number));
    return fmt::format("{:.17g}", number);
  }
  if (value.text() == nullptr) {
    throw LuaProblem("Lua redis lib command arguments must be strings or integers");
  }
  return *value.text();
}

class Run {
 public:
  explicit Run(const Caller& call) : call_(call) {}

  RedisValue run(const Block& script, const std::vector<std::string>& keys,
                 const std::vector<std::string>& arguments) {
    auto scope = std::make_shared<Scope>();
    scope->names = lua_library();
    scope->names["KEYS"] = texts(keys);
    scope->names["ARGV"] = texts(arguments);
    scope->names["redis"] = redis();
    globals_ = scope;
    RedisValue result;
    try {
      if (run_block(script, scope) == Flow::returns) result = redis_of(at(result_, 0));
    } catch (const LuaProblem& problem) {
      const std::string what = problem.what();
      const bool has_code = what.find(' ') != std::string::npos && std::isupper(what[0]) != 0;
      result = RedisValue::error(has_code ? what : "ERR user_script: " + what);
    }
    // Local functions and their scopes refer to each other.
    for (const ScopePtr& each : scopes_) each->names.clear();
    scope->names.clear();
    return result;
  }

 private:
  static LuaValue texts(const std::vector<std::string>& given) {
    auto table = std::make_shared<LuaTable>();
    for (std::size_t index = 0; index < given.size(); ++index) {
      table->parts[static_cast<double>(index + 1)] = given[index];
    }
    return table;
  }
  LuaValue redis() {
    auto table = std::make_shared<LuaTable>();
    const auto calls = [this](bool throws) {
      return function_of([this, throws](const LuaValues& given) {
        std::vector<std::string> words;
        for (const LuaValue& each : given) words.push_back(argument_of(each));
        const RedisValue reply = call_(words);
        if (throws && reply.is_error()) throw LuaProblem(reply.text);
        return LuaValues{lua_of(reply)};
      });
    };
    const auto marks = [](const char* mark) {
      return function_of([mark](const LuaValues& given) {
        auto made = std::make_shared<LuaTable>();
        made->parts[std::string(mark)] = at(given, 0);
        return LuaValues{made};
      });
    };
    table->parts[std::string("call")] = calls(true);
    table->parts[std::string("pcall")] = calls(false);
    table->parts[std::string("error_reply")] = marks("err");
    table->parts[std::string("status_reply")] = marks("ok");
    return table;
  }
  void count() {
    if (++steps_ > steps_max) throw LuaProblem("ERR the script takes too many steps");
  }
  ScopePtr within(const ScopePtr& scope) {
    scopes_.push_back(std::make_shared<Scope>(Scope{.around = scope}));
    return scopes_.back();
  }

  // ---- statements

  Flow run_block(const Block& block, const ScopePtr& scope) {
    for (const auto& each : block) {
      const Flow flow = run_statement(*each, scope);
      if (flow != Flow::goes_on) return flow;
    }
    return Flow::goes_on;
  }
  Flow run_statement(const Stmt& statement, const ScopePtr& scope) {
    count();
    switch (statement.kind) {
      case StmtKind::call: (void)values_of(*statement.values[0], scope); return Flow::goes_on;
      case StmtKind::local: return run_local(statement, scope);
      case StmtKind::assign: return run_assignment(statement, scope);
      case StmtKind::function:
        scope->names[statement.names[0]] = {};
        scope->names[statement.names[0]] = value_of(*statement.values[0], scope);
        return Flow::goes_on;
      case StmtKind::branch: return run_branch(statement, scope);
      case StmtKind::count_loop: return run_count(statement, scope);
      case StmtKind::each_loop: return run_each(statement, scope);
      case StmtKind::while_loop:
        while (value_of(*statement.values[0], scope).is_true()) {
          const Flow flow = run_block(statement.blocks[0], within(scope));
          if (flow == Flow::returns) return flow;
          if (flow == Flow::leaves) break;
          count();
        }
        return Flow::goes_on;
      case StmtKind::block: return run_block(statement.blocks[0], within(scope));
      case StmtKind::result: result_ = all_of(statement.values, scope); return Flow::returns;
      case StmtKind::leave: return Flow::leaves;
    }
    return Flow::goes_on;
  }
  Flow run_local(const Stmt& statement, const ScopePtr& scope) {
    const LuaValues values = all_of(statement.values, scope);
    for (std::size_t index = 0; index < statement.names.size(); ++index) {
      scope->names[statement.names[index]] = at(values, index);
    }
    return Flow::goes_on;
  }
  Flow run_assignment(const Stmt& statement, const ScopePtr& scope) {
    const LuaValues values = all_of(statement.values, scope);
    for (std::size_t index = 0; index < statement.targets.size(); ++index) {
      const Expr& target = *statement.targets[index];
      if (target.kind == ExprKind::name) {
        LuaValue* const known = scope->find(target.text);
        if (known == nullptr) {
          throw LuaProblem("Script attempted to create global variable '" + target.text + "'");
        }
        *known = at(values, index);
        continue;
      }
      const auto table = value_of(*target.parts[0], scope).table();
      if (table == nullptr) throw LuaProblem("attempt to index a value that is no table");
      table->parts[key_of(value_of(*target.parts[1], scope))] = at(values, index);
    }
    return Flow::goes_on;
  }
  Flow run_branch(const Stmt& statement, const ScopePtr& scope) {
    for (std::size_t index = 0; index < statement.values.size(); ++index) {
      if (!value_of(*statement.values[index], scope).is_true()) continue;
      return run_block(statement.blocks[index], within(scope));
    }
    if (statement.blocks.size() == statement.values.size()) return Flow::goes_on;
    return run_block(statement.blocks.back(), within(scope));
  }
  Flow run_count(const Stmt& statement, const ScopePtr& scope) {
    const LuaValues bounds = all_of(statement.values, scope);
    const double last = at(bounds, 1).need_number();
    const double step = bounds.size() > 2 ? bounds[2].need_number() : 1;
    if (step == 0) throw LuaProblem("'for' step is zero");
    for (double each = at(bounds, 0).need_number(); step > 0 ? each <= last : each >= last;
         each += step) {
      const ScopePtr inner = within(scope);
      inner->names[statement.names[0]] = each;
      const Flow flow = run_block(statement.blocks[0], inner);
      if (flow == Flow::returns) return flow;
      if (flow == Flow::leaves) break;
    }
    return Flow::goes_on;
  }
  // for … in pairs(t) and ipairs(t): a snapshot of the table.
  Flow run_each(const Stmt& statement, const ScopePtr& scope) {
    const Expr& call = *statement.values[0];
    const bool is_call = call.kind == ExprKind::call && call.parts.size() == 2 &&
                         call.parts[0]->kind == ExprKind::name;
    if (!is_call || (call.parts[0]->text != "pairs" && call.parts[0]->text != "ipairs")) {
      throw LuaProblem("ERR a FakeRedis knows loops over pairs() and ipairs() only");
    }
    const auto table = value_of(*call.parts[1], scope).table();
    if (table == nullptr) throw LuaProblem("bad argument to a loop (table expected)");
    const bool is_counted = call.parts[0]->text == "ipairs";
    const std::size_t length = table->length();
    const auto parts = table->parts;
    for (const auto& [key, value] : parts) {
      const double* const number = std::get_if<double>(&key);
      const bool is_element = number != nullptr && *number >= 1 && *number <= double(length);
      if (value.is_nil() || (is_counted && !is_element)) continue;
      const ScopePtr inner = within(scope);
      inner->names[statement.names[0]] = std::visit([](const auto& k) { return LuaValue(k); }, key);
      if (statement.names.size() > 1) inner->names[statement.names[1]] = value;
      const Flow flow = run_block(statement.blocks[0], inner);
      if (flow == Flow::returns) return flow;
      if (flow == Flow::leaves) break;
    }
    return Flow::goes_on;
  }

  // ---- expressions

  static std::variant<double, std::string> key_of(const LuaValue& value) {
    if (value.number() != nullptr) return *value.number();
    if (value.text() != nullptr) return *value.text();
    throw LuaProblem(fmt::format("a FakeRedis has no tables with keys of type {}", value.type()));
  }
  // The last expression may have several values.
  LuaValues all_of(const std::vector<ExprPtr>& expressions, const ScopePtr& scope,
                   std::size_t first = 0) {
    LuaValues made;
    for (std::size_t index = first; index < expressions.size(); ++index) {
      const LuaValues values = values_of(*expressions[index], scope);
      if (index + 1 < expressions.size()) {
        made.push_back(at(values, 0));
      } else {
        made.insert(made.end(), values.begin(), values.end());
      }
    }
    return made;
  }
  LuaValues values_of(const Expr& expression, const ScopePtr& scope) {
    if (expression.kind != ExprKind::call) return {value_of(expression, scope)};
    count();
    const LuaValue function = value_of(*expression.parts[0], scope);
    if (function.function() == nullptr) {
      throw LuaProblem(fmt::format("attempt to call '{}', which is {}", expression.parts[0]->text,
                                   function.type()));
    }
    return (*function.function())(all_of(expression.parts, scope, 1));
  }
  LuaValue value_of(const Expr& expression, const ScopePtr& scope) {
    count();
    switch (expression.kind) {
      case ExprKind::nil: return {};
      case ExprKind::truth: return expression.number != 0;
      case ExprKind::number: return expression.number;
      case ExprKind::text: return expression.text;
      case ExprKind::name: {
        const LuaValue* const found = scope->find(expression.text);
        if (found != nullptr) return *found;
        throw LuaProblem("Script attempted to access nonexistent global variable '" +
                         expression.text + "'");
      }
      case ExprKind::index: return element_of(expression, scope);
      case ExprKind::call: return at(values_of(expression, scope), 0);
      case ExprKind::function: return closure_of(expression, scope);
      case ExprKind::table: return table_of(expression, scope);
      case ExprKind::unary: return unary_of(expression, scope);
      case ExprKind::binary: return binary_of(expression, scope);
    }
    return {};
  }
  LuaValue element_of(const Expr& expression, const ScopePtr& scope) {
    const auto table = value_of(*expression.parts[0], scope).table();
    if (table == nullptr) throw LuaProblem("attempt to index a value that is no table");
    const auto found = table->parts.find(key_of(value_of(*expression.parts[1], scope)));
    return found == table->parts.end() ? LuaValue() : found->second;
  }
  LuaValue closure_of(const Expr& expression, const ScopePtr& scope) {
    return function_of([this, &expression, scope](const LuaValues& given) {
      const ScopePtr inner = within(scope);
      for (std::size_t index = 0; index < expression.names.size(); ++index) {
        inner->names[expression.names[index]] = at(given, index);
      }
      if (++depth_ > depth_max) throw LuaProblem("ERR stack overflow");
      const Flow flow = run_block(expression.body, inner);
      --depth_;
      return flow == Flow::returns ? std::exchange(result_, {}) : LuaValues{};
    });
  }
  LuaValue table_of(const Expr& expression, const ScopePtr& scope) {
    auto table = std::make_shared<LuaTable>();
    double next = 1;
    for (std::size_t index = 0; index < expression.parts.size(); index += 2) {
      const bool is_last = index + 2 == expression.parts.size();
      if (expression.parts[index]->kind != ExprKind::nil) {
        table->parts[key_of(value_of(*expression.parts[index], scope))] =
            value_of(*expression.parts[index + 1], scope);
        continue;
      }
      const LuaValues values = values_of(*expression.parts[index + 1], scope);
      if (!is_last) {
        table->parts[next++] = at(values, 0);
        continue;
      }
      for (const LuaValue& each : values) table->parts[next++] = each;
    }
    return table;
  }
  LuaValue unary_of(const Expr& expression, const ScopePtr& scope) {
    const LuaValue value = value_of(*expression.parts[0], scope);
    if (expression.text == "not") return !value.is_true();
    if (expression.text == "-") return -value.need_number();
    if (value.text() != nullptr) return static_cast<double>(value.text()->size());
    if (value.table() == nullptr) throw LuaProblem("attempt to get the length of no table");
    return static_cast<double>(value.table()->length());
  }
  LuaValue binary_of(const Expr& expression, const ScopePtr& scope) {
    const std::string& sign = expression.text;
    const LuaValue left = value_of(*expression.parts[0], scope);
    if (sign == "and" && !left.is_true()) return left;
    if (sign == "or" && left.is_true()) return left;
    const LuaValue right = value_of(*expression.parts[1], scope);
    if (sign == "and" || sign == "or") return right;
    if (sign == "==") return left == right;
    if (sign == "~=") return !(left == right);
    if (sign == "..") return left.need_text() + right.need_text();
    if (sign == "<" || sign == ">" || sign == "<=" || sign == ">=") {
      return compare(sign, left, right);
    }
    const double a = left.need_number();
    const double b = right.need_number();
    switch (sign[0]) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return a / b;
      case '%': return a - std::floor(a / b) * b;
      default: return std::pow(a, b);
    }
  }
  // Numbers with numbers, texts with texts.
  static bool compare(const std::string& sign, const LuaValue& left, const LuaValue& right) {
    const auto judge = [&sign](const auto& a, const auto& b) {
      if (sign == "<") return a < b;
      if (sign == ">") return a > b;
      return sign == "<=" ? a <= b : a >= b;
    };
    if (left.number() != nullptr && right.number() != nullptr) {
      return judge(*left.number(), *right.number());
    }
    if (left.text() != nullptr && right.text() != nullptr)
      return judge(*left.text(), *right.text());
    throw LuaProblem(fmt::format("attempt to compare {} with {}", left.type(), right.type()));
  }

  static constexpr std::size_t depth_max = 100;

  const Caller& call_;
  ScopePtr globals_;
  std::vector<ScopePtr> scopes_;  // all of the run
  LuaValues result_;              // of the last "return"
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

RedisValue run_lua(const Block& script, const std::vector<std::string>& keys,
                   const std::vector<std::string>& arguments, const Caller& call) {
  return Run(call).run(script, keys, arguments);
}

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
