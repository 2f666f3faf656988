// The service file: sections of keywords, one of which `service` names.
//
//   [shop]
//   host=db1,db2
//   dbname=shop
//
// PGSERVICEFILE names the file; else it is ~/.pg_service.conf. A service that is not there is
// looked for in pg_service.conf of PGSYSCONFDIR, or of the system's folder. White space around
// a line and lines that begin with '#' do not count; white space around '=' does.
//
// Owns       nothing.
// Thread     any; the sources may block.
// Allocates  the values.
// Fails      not_found without the file or the section; invalid_argument for a line that is no
//            keyword, names another service, or asks LDAP. The error names file and line.
// Invariant  no error has the content of a line, which may be a password.
// Source     PostgreSQL 18, "The Connection Service File"
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"
#include "katana/stores/database/postgres/target/sources.hpp"

namespace katana::database::postgres::target {

// Adds the values of the service that `settings` or PGSERVICE names; nothing if neither does.
katana::Result<void> add_service(Settings& settings, const Sources& sources);
// Adds the values of one section of a file's content. False: the section is not there. `path` is
// for errors.
katana::Result<bool> add_section(Settings& settings, Bytes content, Bytes service,
                                 const std::string& path);

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
