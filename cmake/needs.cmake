# needs.cmake: what a build needs beside compiler and libraries, looked for when it is configured, and not after a minute.

# rlock_find_programs(MISSING PROGRAM:PACKAGE...): sets MISSING to those that are not here, as "PROGRAM (PACKAGE)"; what is here
# is in RLOCK_PROGRAM_name.
function(rlock_find_programs missing)
    set(not_here)
    foreach(need IN LISTS ARGN)
        string(REGEX REPLACE ":.*" "" program ${need})
        string(REGEX REPLACE ".*:" "" package ${need})
        find_program(RLOCK_PROGRAM_${program} ${program})
        mark_as_advanced(RLOCK_PROGRAM_${program})
        if(NOT RLOCK_PROGRAM_${program})
            list(APPEND not_here "${program} (${package})")
        endif()
    endforeach()
    set(${missing} "${not_here}" PARENT_SCOPE)
endfunction()

# rlock_insist(WHAT GROUP MISSING...): ends unless nothing is missing, and says how to install it: GROUP is one of
# tests/install-packages.
function(rlock_insist what group)
    if(ARGN)
        list(JOIN ARGN ", " text)
        message(FATAL_ERROR "Missing for ${what}: ${text}. On Debian, as root: tests/install-packages ${group}")
    endif()
endfunction()
