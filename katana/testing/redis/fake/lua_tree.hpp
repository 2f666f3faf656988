// The parts of a Lua script that a FakeRedis runs: what parse_lua() makes of its text.
//
// Owns       its children and texts.
// Thread     any, once it is made.
// Allocates  for each node.
// Fails      parse_lua() by LuaProblem, which names the line.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace katana::testing::lua {

// A mistake in a script, or of its run: the message of the error reply.
class LuaProblem final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The kinds of expressions.
enum class ExprKind : std::uint8_t {
  nil,       // no value
  truth,     // number: 0 or 1
  number,    // number
  text,      // text
  name,      // text
  index,     // parts: table, key
  call,      // parts: function, then its arguments
  function,  // names, body
  table,     // parts: key (nil: the next number) and value, in turn
  unary,     // text: the operator; parts: its operand
  binary,    // text: the operator; parts: both operands
};

struct Stmt;
// Statements in their order.
using Block = std::vector<std::unique_ptr<Stmt>>;

// One expression.
struct Expr {
  // Decides which members are used.
  ExprKind kind = ExprKind::nil;
  // The value of a number; 0 or 1 for a truth.
  double number = 0;
  // A name, a text or an operator.
  std::string text = {};
  // Its operands.
  std::vector<std::unique_ptr<Expr>> parts = {};
  std::vector<std::string> names = {};  // of a function's parameters
  Block body = {};                      // of a function
};
// Owned by the expression or statement around it.
using ExprPtr = std::unique_ptr<Expr>;

// The kinds of statements.
enum class StmtKind : std::uint8_t {
  call,        // values: the call
  local,       // names, values
  assign,      // targets, values
  function,    // names: the local name; values: the function
  branch,      // values: conditions; blocks: one for each, and perhaps one more
  count_loop,  // names: the variable; values: first, last, perhaps a step; blocks: the body
  each_loop,   // names; values: the call of pairs() or ipairs(); blocks: the body
  while_loop,  // values: the condition; blocks: the body
  block,       // blocks: the body
  result,      // values
  leave,       // break
};

// One statement.
struct Stmt {
  // Decides which members are used.
  StmtKind kind = StmtKind::block;
  // Variables that it makes.
  std::vector<std::string> names = {};
  // Places that it writes to.
  std::vector<ExprPtr> targets = {};
  // Expressions that it evaluates.
  std::vector<ExprPtr> values = {};
  // Bodies.
  std::vector<Block> blocks = {};
};

// Throws LuaProblem for text that is no Lua. Left out are goto, repeat, varargs, methods with a
// colon, and long strings.
Block parse_lua(std::string_view text);

}  // namespace katana::testing::lua

// SPDX-License-Identifier: Apache-2.0
