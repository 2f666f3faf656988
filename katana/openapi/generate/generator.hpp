// generate(): the sources of a service from its description, as files with their text.
//
//   types.hpp            every schema as a described struct, enum, variant or alias
//   api.hpp, api.cpp     all of it: api.cpp is to be compiled, or the files that it includes
//   pets_api.hpp, .cpp   for each tag an abstract class with an operation for each of its
//                        operations, replies by status, and add_routes(group, api)
//   pets_client.hpp, .cpp  by choice: for each tag a client, with the same arguments
//
// A construct that the generated code does not decode is an error with its place. With
// allow_partial it is a warning, and left to the handler, which has the whole request.
//
// write_files() writes below a folder. It keeps a list of its files there, katana-openapi.txt, with
// a hash of each file. It refuses to replace a file that is not in the list, or that was
// changed since. It removes files of the list that are not made any more.
//
// Owns       the text.
// Thread     any.
// Allocates  freely.
// Fails      generate() adds to `problems`: look at has_errors(). write_files() names the file and
//            the remedy; it then has written nothing.
// Invariant  the same description and options give the same text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/openapi/generate/options.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::generate {

// A file, not yet written.
struct GeneratedFile {
  std::string name;  // in the folder: "pets_api.hpp"
  std::string text;  // the whole of it
  // The cost to compile a source, about, in members of structs.
  std::size_t weight = 0;
};

// The result of generate(), for write_files().
struct Generated {
  std::vector<GeneratedFile> files = {};  // by name
  std::vector<GeneratedFile> tests = {};  // by name; for write_new_files()
  std::size_t operations = 0;             // all, also those that the server leaves out
  std::size_t types = 0;                  // that types.hpp declares
};

Generated generate(const Description& api, const GeneratorOptions& options,
                   model::Problems& problems);

// Returns the number of files that were written; unchanged files are not touched.
Result<std::size_t> write_files(const std::string& folder, const std::vector<GeneratedFile>& files);

// Those that are not there yet, and how many they are: files that become the user's.
Result<std::size_t> write_new_files(const std::string& folder,
                                    const std::vector<GeneratedFile>& files);

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
