# build_info.c: the versions of what is built in, for qfz_build_info() and `qfz --version`.

set(QFZ_BUILD_GDAL none)
if(QFZ_HAS_GDAL)
    set(QFZ_BUILD_GDAL ${GDAL_VERSION})
endif()

set(QFZ_BUILD_PROJ none)
if(QFZ_HAS_GDAL AND EXISTS ${PROJ_INCLUDE_DIR}/proj.h)
    file(STRINGS ${PROJ_INCLUDE_DIR}/proj.h lines REGEX "PROJ_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." QFZ_BUILD_PROJ)
endif()

set(QFZ_BUILD_MPI none)
if(QFZ_HAS_MPI)
    set(QFZ_BUILD_MPI ${MPI_C_VERSION})
endif()

set(QFZ_BUILD_CUDA none)
if(QFZ_HAS_CUDA)
    set(architectures ${CMAKE_CUDA_ARCHITECTURES})
    if(architectures STREQUAL native)
        set(architectures ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    endif()
    list(JOIN architectures " " architectures)
    set(QFZ_BUILD_CUDA "${CMAKE_CUDA_COMPILER_VERSION}, architectures ${architectures}")
endif()

configure_file(src/core/build_info.c.in build_info.c @ONLY)
target_sources(qfz_objects PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/build_info.c)
