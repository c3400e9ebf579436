# Writes a header with every script of a folder: its text and its SHA-1 (Redis's name
# for it). mutex_acquire.lua becomes SCRIPT_MUTEX_ACQUIRE. What a line of a script includes stands
# before that line: "-- include: base waiters" puts include/base.lua and include/waiters.lua there. Comments, but for "--!",
# which a server reads, empty lines and indentation are left out.
# The whole scripts, as Redis gets them, are also written to the folder ALL.
# Usage: cmake -D OUT=header -D DIR=folder -D ALL=folder -P embed.cmake
file(GLOB scripts ${DIR}/*.lua)
file(REMOVE_RECURSE ${ALL})
file(MAKE_DIRECTORY ${ALL})
set(bodies "")
set(rows "")
foreach(path IN LISTS scripts)
    get_filename_component(name ${path} NAME_WE)
    string(TOUPPER "SCRIPT_${name}" id)
    file(READ ${path} script)
    string(REGEX MATCHALL "-- include: [a-z_ ]+\n" lines "${script}")
    foreach(line IN LISTS lines)
        set(parts "")
        string(REGEX MATCHALL "[a-z_]+" includes "${line}")
        list(REMOVE_AT includes 0) # the word itself
        foreach(include IN LISTS includes)
            file(READ ${DIR}/include/${include}.lua part)
            string(APPEND parts "${part}")
        endforeach()
        string(REPLACE "${line}" "${parts}${line}" script "${script}")
    endforeach()
    string(REGEX REPLACE "[ \n]+-- [^\n]*" "" script "\n${script}")
    string(REGEX REPLACE "(\n *--)+\n" "\n" script "${script}")
    string(REGEX REPLACE "\n[ \n]+" "\n" script "${script}")
    string(REGEX REPLACE "^\n" "" script "${script}")
    file(WRITE ${ALL}/${name}.lua "${script}")
    file(READ ${ALL}/${name}.lua hex HEX)
    file(SHA1 ${ALL}/${name}.lua sha1)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND bodies "static const char ${id}_BODY[] = {${bytes}0};\n")
    string(APPEND rows
        "static const struct rlock__script ${id} = {\"${name}\", \"${sha1}\", ${id}_BODY};\n")
endforeach()
file(WRITE ${OUT} "/* Made by embed.cmake from lua/. Only kind.c includes it. */\n${bodies}\n${rows}")
