# libqfz.a and libqfz.so, out of the same objects.

add_library(qfz_static STATIC $<TARGET_OBJECTS:qfz_objects> $<TARGET_OBJECTS:qfz_gpu_objects>)
add_library(qfz_shared SHARED $<TARGET_OBJECTS:qfz_objects> $<TARGET_OBJECTS:qfz_gpu_objects>)
foreach(library qfz_static qfz_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME qfz)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# Who links the archive links what it needs: here by the targets found, installed by their names.
target_link_libraries(qfz_static INTERFACE
    "$<BUILD_INTERFACE:${QFZ_NEEDS};${QFZ_GPU_NEEDS}>"
    "$<INSTALL_INTERFACE:${QFZ_RASTER_INSTALLED}>"
    "$<INSTALL_INTERFACE:${QFZ_GPU_NEEDS}>"
    $<INSTALL_INTERFACE:OpenMP::OpenMP_C> $<INSTALL_INTERFACE:Threads::Threads>
    $<INSTALL_INTERFACE:ZLIB::ZLIB> $<INSTALL_INTERFACE:${QFZ_TRANSPORT}>
    $<INSTALL_INTERFACE:m>)
set_target_properties(qfz_static PROPERTIES EXPORT_NAME static)

target_link_libraries(qfz_shared PRIVATE "$<BUILD_INTERFACE:${QFZ_NEEDS};${QFZ_GPU_NEEDS}>")
set_target_properties(qfz_shared PROPERTIES
    EXPORT_NAME qfz VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_options(qfz_shared PRIVATE
    LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/qfz.map
    $<$<CONFIG:Release>:${QFZ_HARDENED_LINK}>)
set_target_properties(qfz_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/qfz.map)
