# Writes the bill of materials of the installation that includes it (cmake/sbom.cmake). `version`, `components`, `libraries`,
# `folder`, and for each component its `requires_NAME` and `libraries_NAME`, are set.
cmake_policy(VERSION 3.25)
set(scope katana)
if(CMAKE_INSTALL_COMPONENT)
  set(scope ${CMAKE_INSTALL_COMPONENT})
endif()
if(scope STREQUAL "katana-programs")
  set(components "")
  set(libraries ${libraries_programs})
elseif(NOT scope STREQUAL "katana")
  list(REMOVE_ITEM libraries CLI11)
endif()

# ---- the files, as they lie there: stripped, and with their final paths ----
set(files_json "")
set(relations "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-${scope}\"}")
function(katana_relate from type to)
  string(APPEND relations ",\n    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${type}\", \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
  set(relations "${relations}" PARENT_SCOPE)
endfunction()
set(sums "")
set(paths ${CMAKE_INSTALL_MANIFEST_FILES})
list(REMOVE_DUPLICATES paths)
list(SORT paths)
set(number 0)
foreach(path IN LISTS paths)
  set(real "$ENV{DESTDIR}${path}")
  if(IS_SYMLINK "${real}" OR IS_DIRECTORY "${real}" OR path MATCHES "\\.spdx\\.json$")
    continue()
  endif()
  math(EXPR number "${number} + 1")
  file(SHA1 "${real}" sha1)
  file(SHA256 "${real}" sha256)
  list(APPEND sums ${sha1})
  file(RELATIVE_PATH name "${CMAKE_INSTALL_PREFIX}" "${path}")
  if(files_json)
    string(APPEND files_json ",\n")
  endif()
  string(APPEND files_json "    {\"SPDXID\": \"SPDXRef-File-${number}\", \"fileName\": \"./${name}\", \"checksums\": ["
    "{\"algorithm\": \"SHA1\", \"checksumValue\": \"${sha1}\"}, {\"algorithm\": \"SHA256\", \"checksumValue\": \"${sha256}\"}], "
    "\"licenseConcluded\": \"Apache-2.0\", \"licenseInfoInFiles\": [\"Apache-2.0\"], \"copyrightText\": \"2026 The KATANA authors\"}")
  katana_relate(${scope} CONTAINS File-${number})
endforeach()
if(NOT sums)
  return()
endif()
list(SORT sums)
list(JOIN sums "" sums)
string(SHA1 verification "${sums}")

# ---- KATANA, its components, and the libraries of others ----
set(packages_json "    {\"SPDXID\": \"SPDXRef-${scope}\", \"name\": \"${scope}\", \"versionInfo\": \"${version}\", \"filesAnalyzed\": true,
     \"supplier\": \"Organization: The KATANA authors\", \"downloadLocation\": \"NOASSERTION\",
     \"packageVerificationCode\": {\"packageVerificationCodeValue\": \"${verification}\"}, \"licenseInfoFromFiles\": [\"Apache-2.0\"],
     \"licenseConcluded\": \"Apache-2.0\", \"licenseDeclared\": \"Apache-2.0\", \"copyrightText\": \"2026 The KATANA authors\"}")
function(katana_add_package id name version licence)
  string(APPEND packages_json ",\n    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"filesAnalyzed\": false, "
    "\"downloadLocation\": \"NOASSERTION\", \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"${licence}\", "
    "\"copyrightText\": \"NOASSERTION\"}")
  set(packages_json "${packages_json}" PARENT_SCOPE)
endfunction()
foreach(component IN LISTS components)
  katana_add_package(Component-${component} katana-${component} ${version} Apache-2.0)
  string(REPLACE "_" "-" id ${component})
  katana_relate(${scope} CONTAINS Component-${component})
  foreach(other IN LISTS requires_${component})
    katana_relate(Component-${component} DEPENDS_ON Component-${other})
  endforeach()
  foreach(library IN LISTS libraries_${component})
    katana_relate(Component-${component} DEPENDS_ON Library-${library})
  endforeach()
endforeach()
foreach(library IN LISTS libraries)
  list(GET library_${library} 0 found)
  list(GET library_${library} 1 licence)
  katana_add_package(Library-${library} ${library} "${found}" "${licence}")
endforeach()
if(scope MATCHES "^katana(-programs)?$")
  foreach(library IN LISTS libraries_programs)
    katana_relate(${scope} DEPENDS_ON Library-${library})
  endforeach()
endif()
# Identifiers have no underscore.
string(REGEX REPLACE "(SPDXRef-Component-[a-z]+)_([a-z]+)" "\\1-\\2" packages_json "${packages_json}")
string(REGEX REPLACE "(SPDXRef-Component-[a-z]+)_([a-z]+)" "\\1-\\2" relations "${relations}")

string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
set(json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"${scope}-${version}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/${scope}-${version}-${verification}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Organization: The KATANA authors\", \"Tool: katana-sbom-${version}\"]},
  \"packages\": [
${packages_json}
  ],
  \"files\": [
${files_json}
  ],
  \"relationships\": [
${relations}
  ]
}
")
set(target ${CMAKE_INSTALL_PREFIX}/${folder}/${scope}.spdx.json)
file(WRITE "$ENV{DESTDIR}${target}" "${json}")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${target})

# SPDX-License-Identifier: Apache-2.0
