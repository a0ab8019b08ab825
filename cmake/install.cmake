# What `cmake --install` leaves beside the commands (apps/CMakeLists.txt): both libraries, the header,
# and the two ways for others to find them (CMake package, pkg-config).  Components are Debian packages
# (packages.cmake).
include(CMakePackageConfigHelpers)

set(QFZ_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/qfz)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(FILES include/qfz.h TYPE INCLUDE)
install(TARGETS qfz_shared EXPORT qfz_shared
    LIBRARY COMPONENT library NAMELINK_COMPONENT dev ARCHIVE)
install(TARGETS qfz_static EXPORT qfz_static ARCHIVE)
install(EXPORT qfz_shared NAMESPACE qfz:: FILE qfz-shared.cmake DESTINATION ${QFZ_CMAKE_DIR})
install(EXPORT qfz_static NAMESPACE qfz:: FILE qfz-static.cmake DESTINATION ${QFZ_CMAKE_DIR})

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/qfz-config-version.cmake
    COMPATIBILITY SameMajorVersion)
configure_file(cmake/qfz-config.cmake.in qfz-config.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qfz-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/qfz-config-version.cmake
    DESTINATION ${QFZ_CMAKE_DIR})

# The file stays true when the whole tree is moved: its prefix is where it lies.
file(RELATIVE_PATH QFZ_PC_TO_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(QFZ_PC_RASTER)
if(QFZ_HAS_GDAL)
    set(QFZ_PC_RASTER "-lgdal -lproj")
endif()
set(QFZ_PC_TRANSPORT)
if(QFZ_HAS_MPI)
    string(REPLACE ";" " " QFZ_PC_TRANSPORT "${MPI_C_LIBRARIES}")
endif()
set(QFZ_PC_CUDA)
if(QFZ_HAS_CUDA)
    set(QFZ_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lstdc++")
endif()
configure_file(cmake/qfz.pc.in qfz.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qfz.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
