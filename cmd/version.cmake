# version.cmake: writes version.h, what --version says beside the number: the commit, with a "+" if something was
# changed since, and what is linked into the static program. Run in each build, it changes nothing when nothing changed.
#
#     cmake -DSOURCE=DIRECTORY -DHEADER=FILE -DCOMMIT=TEXT -DLINKED_IN=TEXT -P version.cmake
if(NOT COMMIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git describe --always --abbrev=10 --dirty=+ --exclude=* WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(COMMIT)
    set(COMMIT " (commit ${COMMIT})")
endif()
set(linked_in "\"\"")
if(LINKED_IN)
    set(linked_in "\"linked in: ${LINKED_IN}, glibc \" VERSION_(__GLIBC__) \".\" VERSION_(__GLIBC_MINOR__) \"\\n\"")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
/* version.h: written by version.cmake. */
#define RLOCK_COMMIT "@COMMIT@"
#define VERSION__(number) #number
#define VERSION_(number) VERSION__(number)
#define RLOCK_LINKED_IN @linked_in@
]] @ONLY)
