# What Debian's policy wants in every package: run by CPack on the installed files of each component,
# before it packs them.

file(GLOB components LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(root IN LISTS components)
    get_filename_component(component "${root}" NAME)
    string(TOUPPER ${component} upper)
    set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    if(NOT package OR NOT IS_DIRECTORY "${root}")
        continue()
    endif()
    set(docs "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${package}")
    file(MAKE_DIRECTORY "${docs}")
    configure_file("${CPACK_RESOURCE_FILE_LICENSE}" "${docs}/copyright" COPYONLY)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH where it is set
    file(WRITE "${docs}/changelog" "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
        "  * See CHANGELOG.md of the source.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(CHMOD "${docs}/copyright" "${docs}/changelog"
        PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    file(GLOB pages "${root}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/man*/*.[0-9]")
    execute_process(COMMAND gzip -9nf "${docs}/changelog" ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
