// ProblemTypes: the catalogue of a program's problem types (http/handlers/problem_type.hpp).
//
//   const openapi::ProblemTypes problems = {email_taken, changed_meanwhile};
//   problems.serve(router);                  // GET /problems/email-taken: its meaning, as a page
//   document.problem_types(problems);
//   api.post("/users", add_user, {.types = {&email_taken}});
//
// Borrows    the types: constants of the program.
// Thread     one, while routes are added.
// Allocates  yes: at the start of a program.
// Fails      mistakes(): two types of one URI, a type without URI or title, a status below 400.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/problem_type.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::openapi {

class ProblemTypes {
 public:
  ProblemTypes(std::initializer_list<std::reference_wrapper<const ProblemType>> types);

  // A page at the path of each type whose URI is one, below the prefix of the group. A URI that is
  // elsewhere ("https://…") is served there.
  void serve(Group group) const;
  bool has(const ProblemType& type) const;
  std::vector<Error> mistakes() const;
  const std::vector<const ProblemType*>& all() const noexcept { return types_; }

 private:
  std::vector<const ProblemType*> types_;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
