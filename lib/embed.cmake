# Writes a header with every script of a folder: its bytes, its length and its SHA-1 (Redis's name
# for it). mutex_acquire.lua becomes SCRIPT_MUTEX_ACQUIRE. What a script's first line names stands
# before it, byte for byte: "-- include: base line" puts include/base.lua and include/line.lua there.
# The whole scripts, as Redis gets them, are also written to the folder ALL.
# Usage: cmake -D OUT=header -D DIR=folder -D ALL=folder -P embed.cmake
file(GLOB scripts ${DIR}/*.lua)
file(MAKE_DIRECTORY ${ALL})
set(bodies "")
set(rows "")
foreach(path IN LISTS scripts)
    get_filename_component(name ${path} NAME_WE)
    string(TOUPPER "SCRIPT_${name}" id)
    file(READ ${path} script)
    set(parts ${path})
    if(script MATCHES "^-- include: ([a-z_ ]+)\n")
        string(REGEX REPLACE "([a-z_]+)" "${DIR}/include/\\1.lua" includes "${CMAKE_MATCH_1}")
        separate_arguments(includes)
        list(PREPEND parts ${includes})
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${parts} OUTPUT_FILE ${ALL}/${name}.lua
                    COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${ALL}/${name}.lua hex HEX)
    file(SHA1 ${ALL}/${name}.lua sha1)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND bodies "static const unsigned char ${id}_BODY[] = {${bytes}};\n")
    string(APPEND rows
        "static const struct rlock__script ${id} = {\"${name}\", \"${sha1}\", ${id}_BODY, sizeof ${id}_BODY};\n")
endforeach()
file(WRITE ${OUT} "/* Made by embed.cmake from lua/. Only kind.c includes it. */\n${bodies}\n${rows}")
