// Literals: the statements in a C++ source, with their places.
//
//   for (const Literal& each : literals_in(text, "src/app.cpp")) …
//
// It finds string literals (plain, raw, and several that the compiler joins) in three places. They
// are the first argument of query, query_one, execute or stream, the value of a database::Sql, and
// text that begins as SQL does. It also finds Sql constants in calls of these functions. It is a
// lexer, not a parser: it finds literals in code that is never compiled. It knows macros of
// literals alone that the file defines, and misses literals in others. The records of the object
// file (records.hpp) say which calls there are.
//
// Owns       its results.
// Thread     any.
// Allocates  its results.
// Fails      never: text that is not C++ has no statements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace katana::tool::sql {

struct Place {
  std::size_t line = 0;  // from 1
  std::size_t column = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

struct Literal {
  std::string file;
  std::string text;  // as the compiler sees it
  // The places of the text's bytes: ascending offsets in the text, each with a place in the source.
  // From that place on, one byte of the source is one byte of the text.
  struct Run {
    std::size_t offset = 0;
    Place place;
  };
  std::vector<Run> runs;
  std::string call;  // the name of the function: "query", "must"; "Sql": it makes a constant
  std::string row;   // the last name of its template argument, "Bookmark"; may be empty
  std::vector<std::string> elements;  // the elements of a tuple
  // The constant that it initialises, or that stands for it in a call: then there is no text.
  std::string name;
  // Where a constant's name is known: from its definition to the end of the block around it, in
  // tokens of the file. `begin` of a use is its place.
  struct Scope {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string name;    // with the namespaces and classes around it, "app::queries"
    bool local = false;  // it is of a function
  };
  Scope scope;
  std::string qualifier;  // at a use: "queries" of "queries::all"
  bool constant = false;  // the call takes an Sql
  Place begin;            // place of the literal, or of the constant's name
  // The known fact of each argument behind the statement: "text", "int", "double", the name of the
  // called type (Uuid(), std::string(x)), or nothing.
  std::vector<std::string> arguments;
  bool expanded = false;  // one of them is a pack
  std::string comments;   // of C++, from the line before the call to its end

  Place place_of(std::size_t offset) const;
};

std::vector<Literal> literals_in(std::string_view source, const std::string& file);

// The files that a source includes with quotation marks.
std::vector<std::string> includes_in(std::string_view source);

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
