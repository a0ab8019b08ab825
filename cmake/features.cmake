# What a build contains beside the in-memory library in C.  QFZ_GDAL, QFZ_MPI, QFZ_CUDA and QFZ_WEB are
# AUTO (used where found), ON (an error where missing) or OFF (not looked for); the result is in
# QFZ_HAS_GDAL, QFZ_HAS_MPI and QFZ_HAS_CUDA (gpu.cmake).  A missing part is replaced by another
# source file (none.c, transport_none.c), which reports what the build lacks: no code tests for it.

option(QFZ_WERROR "Compiler warnings are errors; set by the project's presets" OFF)
option(QFZ_SIMULATOR "Build the CUDA engine for a simulator on the host, for tests" ON)
option(QFZ_LONG_TESTS "Build the programs that only tests with the label long need" OFF)

# qfz_feature(NAME DESCRIPTION): declares the cache variable NAME and checks its value.
function(qfz_feature name description)
    set(${name} AUTO CACHE STRING "${description}: AUTO (where found), ON or OFF")
    set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
    if(NOT "${${name}}" MATCHES "^(AUTO|ON|OFF)$")
        message(FATAL_ERROR "${name} is \"${${name}}\"; it can be AUTO, ON or OFF")
    endif()
endfunction()

qfz_feature(QFZ_GDAL "Raster files, jobs and the qfz command, which need GDAL and PROJ")
qfz_feature(QFZ_MPI "Jobs on several processes, which need MPI")
qfz_feature(QFZ_CUDA "The CUDA engine, which needs a CUDA compiler")
qfz_feature(QFZ_WEB "The page of qfz explore and the WebAssembly module, which need Emscripten and Node.js")

# GDAL and PROJ.  QFZ_RASTER_NEEDS: what programs built here link; QFZ_RASTER_INSTALLED: the same
# for programs built against an installed archive.
set(QFZ_HAS_GDAL OFF)
set(QFZ_RASTER_NEEDS)
set(QFZ_RASTER_INSTALLED)
if(NOT QFZ_GDAL STREQUAL OFF)
    find_package(GDAL QUIET)
    find_path(PROJ_INCLUDE_DIR geodesic.h)
    find_library(PROJ_LIBRARY proj)
    if(GDAL_FOUND AND PROJ_INCLUDE_DIR AND PROJ_LIBRARY)
        set(QFZ_HAS_GDAL ON)
        set(QFZ_RASTER_NEEDS GDAL::GDAL ${PROJ_LIBRARY})
        set(QFZ_RASTER_INSTALLED GDAL::GDAL proj)
    elseif(QFZ_GDAL STREQUAL ON)
        message(FATAL_ERROR "QFZ_GDAL is ON, but GDAL or PROJ (library, geodesic.h) was not found")
    endif()
endif()

set(QFZ_HAS_MPI OFF)
set(QFZ_TRANSPORT)
if(NOT QFZ_MPI STREQUAL OFF)
    find_package(MPI QUIET COMPONENTS C)
    if(MPI_C_FOUND)
        set(QFZ_HAS_MPI ON)
        set(QFZ_TRANSPORT MPI::MPI_C)
    elseif(QFZ_MPI STREQUAL ON)
        message(FATAL_ERROR "QFZ_MPI is ON, but no MPI for C was found")
    endif()
endif()

set(QFZ_HAS_WEB OFF)
if(NOT QFZ_WEB STREQUAL OFF)
    find_program(QFZ_EMCC emcc)
    find_program(QFZ_NODE NAMES node nodejs)
    if(QFZ_EMCC AND QFZ_NODE)
        set(QFZ_HAS_WEB ON)
    elseif(QFZ_WEB STREQUAL ON)
        message(FATAL_ERROR "QFZ_WEB is ON, but Emscripten (emcc) or Node.js was not found")
    endif()
endif()
