#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {

// Source: src/include/catalog/pg_type.dat; these numbers never change.
Form form_of(std::uint32_t type) noexcept {
  switch (type) {
    case 16: return Form::boolean;
    case 17: return Form::bytea;
    case 20: return Form::int8;
    case 21: return Form::int2;
    case 23: return Form::int4;
    case 26: return Form::oid;
    case 700: return Form::float4;
    case 701: return Form::float8;
    case 18:    // "char"
    case 19:    // name
    case 25:    // text
    case 114:   // json
    case 142:   // xml
    case 705:   // unknown: a literal
    case 1042:  // bpchar
    case 1043: return Form::text;
    case 1082: return Form::date;
    case 1114: return Form::timestamp;
    case 1184: return Form::timestamptz;
    case 1186: return Form::interval;
    case 1700: return Form::numeric;
    case 2278: return Form::nothing;
    case 2950: return Form::uuid;
    case 3802: return Form::jsonb;
    case 199:                       // json[]
    case 1000:                      // bool[]
    case 1003:                      // name[]
    case 1005:                      // int2[]
    case 1007:                      // int4[]
    case 1009:                      // text[]
    case 1014:                      // bpchar[]
    case 1015:                      // varchar[]
    case 1016:                      // int8[]
    case 1021:                      // float4[]
    case 1022:                      // float8[]
    case 1028:                      // oid[]
    case 1115:                      // timestamp[]
    case 1182:                      // date[]
    case 1185:                      // timestamptz[]
    case 1187:                      // interval[]
    case 1231:                      // numeric[]
    case 2951:                      // uuid[]
    case 3807: return Form::array;  // jsonb[]
    case 3904: return Form::int4range;
    case 3906: return Form::numrange;
    case 3908: return Form::tsrange;
    case 3910: return Form::tstzrange;
    case 3912: return Form::daterange;
    case 3926: return Form::int8range;
    default: return Form::unknown;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
