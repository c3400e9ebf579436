# The target "release", of a build with RLOCK_STATIC: see the script release.
#
#     cmake --workflow --preset release     leaves what is to be published in build-release/release/
set(RLOCK_RELEASE "amd64;arm64" CACHE STRING "Architectures of a release, as dpkg calls them")
add_custom_target(release
    COMMAND ${CMAKE_COMMAND} -E env RLOCK_WERROR=${RLOCK_WERROR} ${CMAKE_CURRENT_LIST_DIR}/release
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_VERSION} ${RLOCK_RELEASE}
    USES_TERMINAL VERBATIM)
add_dependencies(release rlock_cmd)
