# The target "release", of a build with RLOCK_STATIC: see the script release.
#
#     cmake --workflow --preset release     leaves what is to be published in build-release/release/
set(RLOCK_RELEASE "" CACHE STRING "Architectures of a release, as dpkg calls them; empty: none is made")
if(NOT RLOCK_RELEASE)
    return()
endif()

rlock_find_programs(missing python3:python3 mandoc:mandoc dpkg:dpkg)
# Debian's cross compiler for the architectures that are not this compiler's own.
foreach(architecture amd64:x86_64-linux-gnu:x86-64 arm64:aarch64-linux-gnu:aarch64)
    string(REPLACE ":" ";" architecture ${architecture})
    list(GET architecture 0 name)
    list(GET architecture 1 triplet)
    list(GET architecture 2 word)
    if(name IN_LIST RLOCK_RELEASE AND NOT triplet STREQUAL CMAKE_C_LIBRARY_ARCHITECTURE)
        rlock_find_programs(cross ${triplet}-gcc:gcc-${word}-linux-gnu)
    endif()
endforeach()
foreach(archive libz.a:zlib1g-dev libzstd.a:libzstd-dev) # Debian 13's OpenSSL needs them
    string(REGEX REPLACE ":.*" "" name ${archive})
    find_library(RLOCK_ARCHIVE_${name} ${name})
    mark_as_advanced(RLOCK_ARCHIVE_${name})
    if(NOT RLOCK_ARCHIVE_${name})
        string(REGEX REPLACE "(.*):(.*)" "\\1 (\\2)" archive ${archive})
        list(APPEND missing ${archive})
    endif()
endforeach()
rlock_insist("a release" release ${missing} ${cross})

add_custom_target(release
    COMMAND ${CMAKE_COMMAND} -E env RLOCK_WERROR=${RLOCK_WERROR} RLOCK_COMMIT=${RLOCK_COMMIT} ${CMAKE_CURRENT_LIST_DIR}/release
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_VERSION} ${RLOCK_RELEASE}
    USES_TERMINAL VERBATIM)
add_dependencies(release rlock_cmd html)
