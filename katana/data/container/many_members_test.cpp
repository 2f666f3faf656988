// Tests of a struct with the largest number of described members.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

struct TwoHundred {
  std::int64_t m0 = 0, m1 = 0, m2 = 0, m3 = 0, m4 = 0, m5 = 0, m6 = 0, m7 = 0;
  std::int64_t m8 = 0, m9 = 0, m10 = 0, m11 = 0, m12 = 0, m13 = 0, m14 = 0, m15 = 0;
  std::int64_t m16 = 0, m17 = 0, m18 = 0, m19 = 0, m20 = 0, m21 = 0, m22 = 0, m23 = 0;
  std::int64_t m24 = 0, m25 = 0, m26 = 0, m27 = 0, m28 = 0, m29 = 0, m30 = 0, m31 = 0;
  std::int64_t m32 = 0, m33 = 0, m34 = 0, m35 = 0, m36 = 0, m37 = 0, m38 = 0, m39 = 0;
  std::int64_t m40 = 0, m41 = 0, m42 = 0, m43 = 0, m44 = 0, m45 = 0, m46 = 0, m47 = 0;
  std::int64_t m48 = 0, m49 = 0, m50 = 0, m51 = 0, m52 = 0, m53 = 0, m54 = 0, m55 = 0;
  std::int64_t m56 = 0, m57 = 0, m58 = 0, m59 = 0, m60 = 0, m61 = 0, m62 = 0, m63 = 0;
  std::int64_t m64 = 0, m65 = 0, m66 = 0, m67 = 0, m68 = 0, m69 = 0, m70 = 0, m71 = 0;
  std::int64_t m72 = 0, m73 = 0, m74 = 0, m75 = 0, m76 = 0, m77 = 0, m78 = 0, m79 = 0;
  std::int64_t m80 = 0, m81 = 0, m82 = 0, m83 = 0, m84 = 0, m85 = 0, m86 = 0, m87 = 0;
  std::int64_t m88 = 0, m89 = 0, m90 = 0, m91 = 0, m92 = 0, m93 = 0, m94 = 0, m95 = 0;
  std::int64_t m96 = 0, m97 = 0, m98 = 0, m99 = 0, m100 = 0, m101 = 0, m102 = 0, m103 = 0;
  std::int64_t m104 = 0, m105 = 0, m106 = 0, m107 = 0, m108 = 0, m109 = 0, m110 = 0, m111 = 0;
  std::int64_t m112 = 0, m113 = 0, m114 = 0, m115 = 0, m116 = 0, m117 = 0, m118 = 0, m119 = 0;
  std::int64_t m120 = 0, m121 = 0, m122 = 0, m123 = 0, m124 = 0, m125 = 0, m126 = 0, m127 = 0;
  std::int64_t m128 = 0, m129 = 0, m130 = 0, m131 = 0, m132 = 0, m133 = 0, m134 = 0, m135 = 0;
  std::int64_t m136 = 0, m137 = 0, m138 = 0, m139 = 0, m140 = 0, m141 = 0, m142 = 0, m143 = 0;
  std::int64_t m144 = 0, m145 = 0, m146 = 0, m147 = 0, m148 = 0, m149 = 0, m150 = 0, m151 = 0;
  std::int64_t m152 = 0, m153 = 0, m154 = 0, m155 = 0, m156 = 0, m157 = 0, m158 = 0, m159 = 0;
  std::int64_t m160 = 0, m161 = 0, m162 = 0, m163 = 0, m164 = 0, m165 = 0, m166 = 0, m167 = 0;
  std::int64_t m168 = 0, m169 = 0, m170 = 0, m171 = 0, m172 = 0, m173 = 0, m174 = 0, m175 = 0;
  std::int64_t m176 = 0, m177 = 0, m178 = 0, m179 = 0, m180 = 0, m181 = 0, m182 = 0, m183 = 0;
  std::int64_t m184 = 0, m185 = 0, m186 = 0, m187 = 0, m188 = 0, m189 = 0, m190 = 0, m191 = 0;
  std::int64_t m192 = 0, m193 = 0, m194 = 0, m195 = 0, m196 = 0, m197 = 0, m198 = 0, m199 = 0;
  bool operator==(const TwoHundred&) const = default;
};
KATANA_DESCRIBE(TwoHundred, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15,
                m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32,
                m33, m34, m35, m36, m37, m38, m39, m40, m41, m42, m43, m44, m45, m46, m47, m48, m49,
                m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61, m62, m63, m64, m65, m66,
                m67, m68, m69, m70, m71, m72, m73, m74, m75, m76, m77, m78, m79, m80, m81, m82, m83,
                m84, m85, m86, m87, m88, m89, m90, m91, m92, m93, m94, m95, m96, m97, m98, m99,
                m100, m101, m102, m103, m104, m105, m106, m107, m108, m109, m110, m111, m112, m113,
                m114, m115, m116, m117, m118, m119, m120, m121, m122, m123, m124, m125, m126, m127,
                m128, m129, m130, m131, m132, m133, m134, m135, m136, m137, m138, m139, m140, m141,
                m142, m143, m144, m145, m146, m147, m148, m149, m150, m151, m152, m153, m154, m155,
                m156, m157, m158, m159, m160, m161, m162, m163, m164, m165, m166, m167, m168, m169,
                m170, m171, m172, m173, m174, m175, m176, m177, m178, m179, m180, m181, m182, m183,
                m184, m185, m186, m187, m188, m189, m190, m191, m192, m193, m194, m195, m196, m197,
                m198, m199)
static_assert(field_count<TwoHundred> == described_members_max);

TwoHundred some_two_hundred() {
  TwoHundred value;
  std::int64_t next = 1;
  for_each_field(value, [&](const auto&, std::int64_t& member) { member = next++; });
  return value;
}

TEST(ManyMembers, are_read_as_json_writes_them) {
  const TwoHundred value = some_two_hundred();
  const std::string text = to_json(value);
  EXPECT_TRUE(text.starts_with("{\"m0\":1,\"m1\":2,")) << text;
  EXPECT_TRUE(text.ends_with(",\"m199\":200}")) << text;
  const auto read = read_json<TwoHundred>(text);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, value);
}

TEST(ManyMembers, each_is_asked_for_when_it_is_missing) {
  std::string text = to_json(some_two_hundred());
  const std::size_t at = text.find(",\"m150\":");
  text.erase(at, text.find(',', at + 1) - at);
  TwoHundred value;
  Findings findings;
  EXPECT_FALSE(read_json(text, value, findings));
  ASSERT_EQ(findings.list().size(), 1u);
  EXPECT_EQ(findings.list()[0].pointer, "/m150");
}

TEST(ManyMembers, are_read_as_message_pack_writes_them) {
  const TwoHundred value = some_two_hundred();
  const auto read = read_message_pack<TwoHundred>(to_message_pack(value));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, value);
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
