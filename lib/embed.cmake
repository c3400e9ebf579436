# Writes a header with every script of a folder: its bytes, its length and its SHA-1 (Redis's name
# for it). mutex_acquire.lua becomes SCRIPT_MUTEX_ACQUIRE.
# Usage: cmake -D OUT=header -D DIR=folder -P embed.cmake
file(GLOB scripts ${DIR}/*.lua)
set(bodies "")
set(rows "")
foreach(path IN LISTS scripts)
    get_filename_component(name ${path} NAME_WE)
    string(TOUPPER "SCRIPT_${name}" id)
    file(READ ${path} hex HEX)
    file(SHA1 ${path} sha1)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND bodies "static const unsigned char ${id}_BODY[] = {${bytes}};\n")
    string(APPEND rows
        "static const struct rlock__script ${id} = {\"${name}\", \"${sha1}\", ${id}_BODY, sizeof ${id}_BODY};\n")
endforeach()
file(WRITE ${OUT} "/* Made by embed.cmake from lua/. Only kind.c includes it. */\n${bodies}\n${rows}")
