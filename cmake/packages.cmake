# cpack makes three Debian packages of a build: the program, the library, and what is needed to compile
# with it. Each is the component of its name that the other directories install. debian.cmake makes the
# tree one that Debian likes.
#
#     cmake --workflow --preset debian     builds for /usr, and leaves them in build-debian/

# Debian wants to know who answers for a package. Who does not say it is whoever builds them, on this machine.
set(RLOCK_MAINTAINER "" CACHE STRING "Who answers for the packages: NAME <ADDRESS>")
set(RLOCK_HOMEPAGE "" CACHE STRING "Where the project is at home; empty: the packages do not say it")
option(RLOCK_PACKAGES "Insist on what the packages are made with" OFF)
if(RLOCK_PACKAGES)
    rlock_find_programs(missing dpkg-shlibdeps:dpkg-dev file:file gzip:gzip)
    rlock_insist("Debian packages" debian ${missing})
endif()
set(maintainer ${RLOCK_MAINTAINER})
if(NOT maintainer)
    cmake_host_system_information(RESULT host QUERY FQDN)
    set(maintainer "rlock maintainers <root@${host}>")
    if(RLOCK_PACKAGES)
        message(STATUS "The packages name ${maintainer}; to name who answers for them: -DRLOCK_MAINTAINER='NAME <ADDRESS>'")
    endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR rlock)
set(CPACK_COMPONENTS_ALL rlock librlock0 librlock-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
set(CPACK_RLOCK_PACKAGING ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${maintainer})
set(CPACK_RLOCK_MAINTAINER ${maintainer})
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${RLOCK_HOMEPAGE})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own, the first line of its description
set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# What is loaded by dlopen() is named here, for dpkg-shlibdeps does not see it: the module for TLS,
# which must be of the same version (lib/tls/tls.c).
set(CPACK_DEBIAN_RLOCK_PACKAGE_NAME rlock)
set(CPACK_DEBIAN_RLOCK_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RLOCK_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RLOCK_PACKAGE_DEPENDS "librlock0 (= ${version})")
# A machine that locks on another one's server needs none of its own: it is not worth a Recommends.
set(CPACK_DEBIAN_RLOCK_PACKAGE_SUGGESTS "redis-server | valkey-server")
set(CPACK_COMPONENT_RLOCK_DESCRIPTION "distributed locks for shell pipelines, cron jobs and CI
rlock runs a command while holding a lock that lives on a Redis server as a
lease: it is renewed while the command runs and frees itself when the holder
dies. If the lease cannot be kept, the command is stopped before anybody else
gets in.

There are exclusive, fair and read/write locks, semaphores and latches, on one
server, on several, under Sentinel or on a cluster. They are shared with Java
services that use Redisson.")

set(CPACK_DEBIAN_LIBRLOCK0_PACKAGE_NAME librlock0)
set(CPACK_DEBIAN_LIBRLOCK0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRLOCK0_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRLOCK0_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_LIBRLOCK0_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/packages/symbols;${CMAKE_CURRENT_LIST_DIR}/triggers")
configure_file(${PROJECT_SOURCE_DIR}/lib/librlock.symbols packages/symbols COPYONLY)
set(CPACK_COMPONENT_LIBRLOCK0_DESCRIPTION "distributed locks on Redis - shared library
librlock takes, renews and gives back locks that live on a Redis server. It is
what the program rlock is built on.

This package has the library and its module for TLS.")

set(CPACK_DEBIAN_LIBRLOCK-DEV_PACKAGE_NAME librlock-dev)
set(CPACK_DEBIAN_LIBRLOCK-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRLOCK-DEV_PACKAGE_DEPENDS "librlock0 (= ${version})")
set(CPACK_COMPONENT_LIBRLOCK-DEV_DESCRIPTION "distributed locks on Redis - development files
librlock takes, renews and gives back locks that live on a Redis server. It is
what the program rlock is built on.

This package has what is needed to compile with it: its header, its manual
page, examples, and what pkg-config and CMake look for.")

include(CPack)
