# toolchain.cmake: builds for another architecture, statically, with Debian's cross compiler. Its libc is not the
# one that comes with the compiler, which gets no security updates.
#
#     RLOCK_SYSROOT    what the script sysroot has unpacked
#     RLOCK_TRIPLET    whose: aarch64-linux-gnu; CMAKE_C_COMPILER if not the compiler of that name
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RLOCK_SYSROOT RLOCK_TRIPLET)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${RLOCK_TRIPLET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${RLOCK_TRIPLET}-gcc CACHE STRING "")
set(CMAKE_SYSROOT ${RLOCK_SYSROOT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -B${RLOCK_SYSROOT}/usr/lib/${RLOCK_TRIPLET}/") # its crt1.o, too
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${RLOCK_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${RLOCK_SYSROOT}/usr/lib/${RLOCK_TRIPLET}/pkgconfig)
