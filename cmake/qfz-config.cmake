# find_package(qfz)                     gives qfz::qfz, the shared library.
# find_package(qfz COMPONENTS static)   gives qfz::static too, and needs what that links.
include(${CMAKE_CURRENT_LIST_DIR}/qfz-shared.cmake)
set(qfz_shared_FOUND TRUE)

if("static" IN_LIST qfz_FIND_COMPONENTS)
    include(CMakeFindDependencyMacro)
    find_dependency(GDAL)
    find_dependency(OpenMP COMPONENTS C)
    find_dependency(Threads)
    find_dependency(ZLIB)
    if("@QFZ_TRANSPORT@")
        find_dependency(MPI COMPONENTS C)
    endif()
    include(${CMAKE_CURRENT_LIST_DIR}/qfz-static.cmake)
    set(qfz_static_FOUND TRUE)
endif()

foreach(component IN LISTS qfz_FIND_COMPONENTS)
    if(qfz_FIND_REQUIRED_${component} AND NOT qfz_${component}_FOUND)
        set(qfz_FOUND FALSE)
        set(qfz_NOT_FOUND_MESSAGE "qfz has no component ${component}; it has shared and static")
    endif()
endforeach()
