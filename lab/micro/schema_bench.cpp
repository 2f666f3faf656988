// What does it cost to check a user by a JSON Schema, beside reading it into a described struct
// with the same rules?
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/rules.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/schema/schema.hpp"
#include "lab/micro/micro.hpp"

namespace bench {

using namespace katana;

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::int64_t age = 0;
  bool active = false;
  double score = 0;
  std::vector<std::string> tags;
};
KATANA_DESCRIBE(User, (id, rules::at_least(1)), (name, rules::length(1, 80)),
                (email, rules::length(3, 254)), (age, rules::range(0, 150)), active, score,
                (tags, rules::length(0, 16)))

constexpr Bytes schema_text = R"({"type": "object",
  "required": ["id", "name", "email", "age", "active", "score", "tags"],
  "properties": {
    "id": {"type": "integer", "minimum": 1},
    "name": {"type": "string", "minLength": 1, "maxLength": 80},
    "email": {"type": "string", "minLength": 3, "maxLength": 254},
    "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "active": {"type": "boolean"},
    "score": {"type": "number"},
    "tags": {"type": "array", "maxItems": 16, "items": {"type": "string"}}}})";
constexpr Bytes user_text =
    R"({"id":4711,"name":"Ada Lovelace","email":"ada@example.com","age":36,"active":true,)"
    R"("score":9.75,"tags":["mathematics","engines","poetry"]})";

}  // namespace bench

int main(int count, char** arguments) {
  using namespace bench;
  micro::Suite suite("schema", count, arguments);
  const std::uint64_t operations = suite.operations(200'000);
  auto document = container::read_json<container::Value>(schema_text);
  micro::expect(document.has_value(), "the schema is JSON");
  const auto schema = schema::Schema::compile(*std::move(document));
  micro::expect(schema.has_value(), "the schema is one");
  const auto each = [&](auto work) {
    return [=] {
      return micro::time_operations(operations, [&] {
        for (std::uint64_t at = 0; at < operations; ++at) work();
      });
    };
  };
  const auto* checked =
      suite.ask({"a user of 137 octets of JSON", "ns"},
                {{"checked by a schema", each([&schema] {
                    container::Findings findings;
                    micro::expect(schema->check_json(user_text, findings), "it fits");
                  })},
                 {"read into a described struct", each([] {
                    User user;
                    container::Findings findings;
                    micro::expect(container::read_json(user_text, user, findings), "it fits");
                    micro::use(user);
                  })},
                 {"read into a Value", each([] {
                    container::Value value;
                    container::Findings findings;
                    micro::expect(container::read_json(user_text, value, findings), "it is JSON");
                    micro::use(value);
                  })}});
  suite.target("at most 1.3 x the described struct", checked, "checked by a schema",
               "read into a described struct", 1.3, micro::at_most);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
