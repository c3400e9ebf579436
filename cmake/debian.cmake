# debian.cmake: what Debian asks of a tree, done by cpack in its own before the packages are made of it.
# CPACK_TEMPORARY_DIRECTORY has a directory for each component.

# compress(TO FROM): as gzip does without the time, so that the same build gives the same package.
function(compress to from)
    execute_process(COMMAND gzip -9nc ${from} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD ${to} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

file(READ ${CPACK_RLOCK_PACKAGING}/changelog changelog)
string(REPLACE "@RLOCK_MAINTAINER@" "${CPACK_RLOCK_MAINTAINER}" changelog "${changelog}")
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/changelog "${changelog}")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    set(usr ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})

    # The libraries lie where the system's do. A path of its own would be looked into first.
    file(GLOB objects ${usr}/bin/* ${usr}/lib/*.so.*.*.* ${usr}/lib/*/*.so.*.*.*)
    foreach(object IN LISTS objects)
        file(RPATH_REMOVE FILE ${object})
    endforeach()

    file(GLOB pages ${usr}/share/man/*/*.[1-9])
    foreach(page IN LISTS pages)
        compress(${page}.gz ${page})
        file(REMOVE ${page})
    endforeach()

    if(EXISTS ${usr}/share/zsh/site-functions) # the directory that is left to whoever runs the machine
        file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
    endif()

    file(REMOVE ${usr}/share/doc/${component}/LICENSE) # Debian has the text in one place, copyright names it
    file(COPY ${CPACK_RLOCK_PACKAGING}/copyright DESTINATION ${usr}/share/doc/${component})
    compress(${usr}/share/doc/${component}/changelog.Debian.gz ${CPACK_TEMPORARY_DIRECTORY}/changelog)
endforeach()
file(REMOVE ${CPACK_TEMPORARY_DIRECTORY}/changelog)
