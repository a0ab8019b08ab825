# Fuzz targets.  Every build runs them as tests with driver.c, on their corpus and on changed inputs,
# the same ones each time.  In a build for libFuzzer (preset fuzz), libFuzzer is the driver: the
# programs take its options.

set(libfuzzer OFF)
if(CMAKE_C_FLAGS MATCHES fuzzer-no-link)
    set(libfuzzer ON)
endif()
add_custom_target(fuzz)

# qfz_add_fuzz(NAME RUNS SOURCE...): the target of tests/fuzz/fuzz_NAME.c, its corpus in
# tests/fuzz/corpus/NAME, and the number of changed inputs of the test.
function(qfz_add_fuzz name runs)
    set(target fuzz_${name})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    add_executable(${target} fuzz/${target}.c ${ARGN})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
        ${CMAKE_CURRENT_SOURCE_DIR}/oracle ${CMAKE_CURRENT_SOURCE_DIR}/property)
    target_link_libraries(${target} PRIVATE
        qfz_objects qfz_gpu_objects ${QFZ_GPU_NEEDS} qfz_flags)
    add_dependencies(fuzz ${target})
    if(libfuzzer)
        target_sources(${target} PRIVATE fuzz/libomp_leaks.c)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    target_sources(${target} PRIVATE fuzz/driver.c)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.run)
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME ${target} COMMAND ${target} -runs=${runs} ${corpus} WORKING_DIRECTORY ${folder})
    set_tests_properties(${target} PROPERTIES LABELS unit)
endfunction()

qfz_add_fuzz(journal 1000)
qfz_add_fuzz(records 500)
qfz_add_fuzz(stitch 200 oracle/oracle.c)
if(QFZ_HAS_GDAL)
    get_target_property(sources qfz_program SOURCES)
    list(REMOVE_ITEM sources main.c)
    list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/apps/)
    qfz_add_fuzz(options 3000 ${sources} $<TARGET_OBJECTS:qfz_command>)
    target_include_directories(fuzz_options PRIVATE ${CMAKE_SOURCE_DIR}/apps)
    foreach(name saliency vrt)
        qfz_add_fuzz(${name} 200)
        target_include_directories(fuzz_${name} SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
    endforeach()
endif()
