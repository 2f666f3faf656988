#!/bin/bash -eu
# Builds every fuzzer of KATANA into $OUT, each with its seeds, for OSS-Fuzz and similar services.
# The environment has CC, CXX, CXXFLAGS with the sanitizer, LIB_FUZZING_ENGINE, OUT, WORK.
# `tools/matrix oss_fuzz` runs it.
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The libraries of the system were built with libstdc++.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}

cmake -S "$source_folder" -B "$WORK/katana" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DKATANA_FUZZ=ON -DKATANA_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DKATANA_WERROR=OFF -DKATANA_UNITY=ON \
  -DKATANA_TESTS=OFF -DKATANA_LAB=OFF -DKATANA_APPS=OFF -DKATANA_INSTALL=OFF
cmake --build "$WORK/katana" --target katana_fuzzers

while read -r fuzzer; do
  name=$(basename "$fuzzer")
  cp "$fuzzer" "$OUT/$name"
  seeds=$source_folder/tests/fuzz_seeds/$name
  if [ -d "$seeds" ]; then
    (cd "$seeds" && zip --quiet --recurse-paths "$OUT/${name}_seed_corpus.zip" .)
  fi
  printf '[libfuzzer]\nmax_len = 65536\n' >"$OUT/$name.options"
done <"$WORK/katana/fuzzers.txt"

# SPDX-License-Identifier: Apache-2.0
