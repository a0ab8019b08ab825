# Tests of the GPU room.  Each is built twice from the same .cu files: sim_NAME for the simulator of
# CUDA on the host (sim/sim.h), which runs anywhere, and gpu_NAME for a GPU.  gpu_NAME is skipped
# (status 77) on a machine without a GPU and in a build without CUDA.

if(QFZ_HAS_SIM)
    set(sim_sources ${QFZ_GPU_SOURCES})
    list(FILTER sim_sources EXCLUDE REGEX "/collective\\.cu$")
    file(GLOB simulator CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sim/*.cc
        ${CMAKE_CURRENT_SOURCE_DIR}/sim/*.S)
    list(FILTER simulator EXCLUDE REGEX "/races\\.cc$")
    set_source_files_properties(${sim_sources} PROPERTIES LANGUAGE CXX)
    # -O3 takes three times as long to compile, and the tests gain a tenth.
    add_library(qfz_sim_flags INTERFACE)
    target_compile_features(qfz_sim_flags INTERFACE cxx_std_17)
    target_compile_options(qfz_sim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
        -x c++ -O1 -Wall -Wextra -Wshadow -Wno-unknown-pragmas
        $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical -Wno-pass-failed>
        $<$<BOOL:${QFZ_WERROR}>:-Werror> -ffp-contract=off -fno-strict-aliasing>)
    # Its headers come before those that they stand in for.
    target_include_directories(qfz_sim_flags BEFORE INTERFACE
        ${CMAKE_CURRENT_SOURCE_DIR}/sim ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    add_library(qfz_sim OBJECT ${sim_sources} ${simulator})
    target_link_libraries(qfz_sim PRIVATE qfz_sim_flags)
endif()

# The same with every access to memory observed, for races in shared memory (sim/races.cc).
if(QFZ_HAS_SIM AND QFZ_LONG_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(QFZ_HAS_RACES ON)
    add_library(qfz_races_flags INTERFACE)
    target_compile_options(qfz_races_flags INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-O1 -g1 -fsanitize=thread -Wno-tsan>)
    add_library(qfz_races OBJECT ${sim_sources})
    target_link_libraries(qfz_races PRIVATE qfz_sim_flags qfz_races_flags)
    add_library(qfz_races_host OBJECT ${simulator} ${CMAKE_CURRENT_SOURCE_DIR}/sim/races.cc)
    target_link_libraries(qfz_races_host PRIVATE qfz_sim_flags)
endif()

# A test of a GPU in a build without CUDA.
function(qfz_add_skipped_test name)
    add_test(NAME ${name} COMMAND sh -c "echo 'skipped: this build has no CUDA engine'; exit 77")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS gpu)
endfunction()

# qfz_add_gpu_test(NAME SOURCE...): SOURCEs are .cu, or .c files that both builds share.
function(qfz_add_gpu_test name)
    set(here ${CMAKE_CURRENT_SOURCE_DIR})
    set(includes ${here} ${here}/oracle ${here}/property ${here}/gpu)
    if(QFZ_HAS_SIM)
        # A file can have one language in a folder: the simulator gets files that include it.
        set(copies)
        foreach(source ${ARGN})
            if(source MATCHES "\\.cu$")
                get_filename_component(stem ${source} NAME_WE)
                set(copy ${CMAKE_CURRENT_BINARY_DIR}/sim_${name}_${stem}.cc)
                file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"${here}/${source}\"\n")
                list(APPEND copies ${copy})
            else()
                list(APPEND copies ${source})
            endif()
        endforeach()
        add_executable(sim_${name} ${copies})
        target_link_libraries(sim_${name} PRIVATE
            qfz_sim_flags qfz_objects qfz_sim qfz_flags qfz_cmocka)
        target_include_directories(sim_${name} PRIVATE ${includes})
        add_test(NAME sim_${name} COMMAND sim_${name})
        set_tests_properties(sim_${name} PROPERTIES LABELS sim)
    endif()
    if(QFZ_HAS_CUDA)
        add_executable(gpu_${name} ${ARGN})
        target_compile_features(gpu_${name} PRIVATE cuda_std_17)
        target_link_libraries(gpu_${name} PRIVATE
            qfz_objects qfz_gpu_objects CUDA::cudart_static qfz_flags qfz_cmocka)
        target_include_directories(gpu_${name} PRIVATE ${includes})
        add_test(NAME gpu_${name} COMMAND gpu_${name})
        set_tests_properties(gpu_${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77)
    else()
        qfz_add_skipped_test(gpu_${name})
    endif()
endfunction()

# qfz_add_races_test(NAME CASES): a test of above, a few cases.
function(qfz_add_races_test name cases)
    if(QFZ_HAS_RACES)
        get_target_property(sources sim_${name} SOURCES)
        add_executable(races_${name} ${sources})
        target_link_libraries(races_${name} PRIVATE qfz_sim_flags qfz_races_flags qfz_objects
            qfz_races qfz_races_host qfz_flags qfz_cmocka)
        target_include_directories(races_${name} PRIVATE
            $<TARGET_PROPERTY:sim_${name},INCLUDE_DIRECTORIES>)
        add_test(NAME races_${name} COMMAND races_${name} 1 ${cases})
        set_tests_properties(races_${name} PROPERTIES LABELS "races;long")
    endif()
endfunction()

qfz_add_gpu_test(collective gpu/test_collective.cu)
qfz_add_gpu_test(connect gpu/test_connect.cu)
qfz_add_gpu_test(image gpu/test_image.cu gpu/hostile.c)
qfz_add_gpu_test(components gpu/test_components.cu gpu/hostile.c)
qfz_add_gpu_test(published gpu/test_published.cu gpu/hostile.c)
qfz_add_gpu_test(ha4_features gpu/test_ha4_features.cu gpu/hostile.c)
qfz_add_gpu_test(regions gpu/test_regions.cu gpu/hostile.c)
qfz_add_gpu_test(union_find gpu/test_union_find.cu)
qfz_add_gpu_test(boruvka gpu/test_boruvka.cu gpu/hostile.c)
qfz_add_gpu_test(tree gpu/test_tree.cu gpu/hostile.c)
qfz_add_gpu_test(device_io gpu/test_device_io.cu)
qfz_add_gpu_test(omega gpu/test_omega.cu gpu/hostile.c gpu/stitched.c)

if(QFZ_HAS_RACES)
    add_executable(races_racing gpu/racing.cc)
    target_link_libraries(races_racing PRIVATE qfz_sim_flags qfz_races_flags qfz_objects
        qfz_races qfz_races_host qfz_flags)
    target_include_directories(races_racing PRIVATE .)
    add_test(NAME races_racing COMMAND races_racing)
    set_tests_properties(races_racing PROPERTIES PASS_REGULAR_EXPRESSION "race: write at"
        LABELS "races;long")
endif()
qfz_add_races_test(components 3)
qfz_add_races_test(connect 60)
qfz_add_races_test(published 0)
qfz_add_races_test(ha4_features 4)
qfz_add_races_test(regions 6)
qfz_add_races_test(boruvka 0)
qfz_add_races_test(omega 0)
qfz_add_races_test(tree 4)

# Tests of the CPU engine, once more with the CUDA engine.
# qfz_add_engine_test(NAME SOURCE... [ARGS argument...] [SIM_ARGS argument...]); the simulator, which
# is slow, gets SIM_ARGS too.
function(qfz_add_engine_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "" "ARGS;SIM_ARGS")
    set(arguments_gpu ${test_ARGS})
    set(arguments_sim ${test_ARGS} ${test_SIM_ARGS})
    set(kinds)
    if(QFZ_HAS_SIM)
        list(APPEND kinds sim)
    endif()
    if(QFZ_HAS_CUDA)
        list(APPEND kinds gpu)
    endif()
    foreach(kind IN LISTS kinds)
        add_executable(${kind}_${name} ${test_UNPARSED_ARGUMENTS})
        target_compile_definitions(${kind}_${name} PRIVATE QFZ_TEST_CUDA)
        target_link_libraries(${kind}_${name} PRIVATE qfz_objects qfz_flags qfz_cmocka)
        target_include_directories(${kind}_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/oracle ${CMAKE_CURRENT_SOURCE_DIR}/property)
        if(QFZ_HAS_GDAL)
            target_include_directories(${kind}_${name} SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
        endif()
        add_test(NAME ${kind}_${name} COMMAND ${kind}_${name} ${arguments_${kind}})
        set_tests_properties(${kind}_${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS ${kind})
    endforeach()
    if(QFZ_HAS_SIM)
        target_link_libraries(sim_${name} PRIVATE qfz_sim)
    endif()
    if(QFZ_HAS_CUDA)
        target_link_libraries(gpu_${name} PRIVATE qfz_gpu_objects ${QFZ_GPU_NEEDS})
    else()
        qfz_add_skipped_test(gpu_${name})
    endif()
endfunction()


qfz_add_engine_test(sessions property/test_sessions.c oracle/oracle.c ARGS 1 60)
qfz_add_engine_test(stitch stitch/test_stitch.c oracle/oracle.c ARGS 21 60)
qfz_add_engine_test(filter property/test_filter.c oracle/oracle.c ARGS 1 150)
qfz_add_engine_test(filter_blocks gpu/test_filter_blocks.c ARGS 1 40)
qfz_add_engine_test(saliency_type gpu/test_saliency_type.c ARGS 1 60)
qfz_add_engine_test(groups gpu/test_groups.c gpu/stitched.c oracle/oracle.c ARGS 1 60)

# One program with the whole simulated engine: the preset odr links it with -Wodr.
if(QFZ_HAS_SIM)
    add_custom_target(odr DEPENDS sim_sessions)
endif()
if(NOT QFZ_HAS_GDAL)
    return()
endif()

qfz_add_engine_test(api property/test_api.c)
qfz_add_engine_test(jobs property/test_jobs.c oracle/oracle.c ARGS 1 4)
qfz_add_engine_test(cases run_cases.c oracle/oracle.c ARGS ${QFZ_CASES})
qfz_add_engine_test(large gpu/test_large.c SIM_ARGS 160)
if(QFZ_HAS_SIM)
    # Only the simulator has a given number of devices, whose calls and memory fail when the test wants it.
    foreach(subject devices methods failing)
        add_executable(sim_${subject} gpu/test_${subject}.c oracle/oracle.c)
        target_link_libraries(sim_${subject} PRIVATE qfz_objects qfz_sim qfz_flags)
        target_include_directories(sim_${subject} PRIVATE . oracle property sim)
        target_include_directories(sim_${subject} SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
        add_test(NAME sim_${subject} COMMAND sim_${subject})
        set_tests_properties(sim_${subject} PROPERTIES LABELS sim)
    endforeach()
endif()

# Jobs of ranks with different engines: of the command, and of one with simulated devices.
# qfz_add_engines_test(NAME COMMAND): NAME in phases, NAME_ranks on ranks.
function(qfz_add_engines_test name command)
    set(script ${CMAKE_CURRENT_SOURCE_DIR}/batch/engines.py)
    qfz_add_shell_test(${name} python3 ${script} ${command} alone)
    qfz_add_shell_test(${name}_ranks python3 ${script} ${command} ranks)
endfunction()
set(methods ${CMAKE_CURRENT_SOURCE_DIR}/batch/methods.py)
qfz_add_shell_test(cli_methods python3 ${methods} ${QFZ_COMMAND} refused)
if(QFZ_HAS_CUDA)
    qfz_add_engines_test(gpu_engines ${QFZ_COMMAND})
    qfz_add_shell_test(gpu_methods python3 ${methods} ${QFZ_COMMAND} labels)
else()
    qfz_add_skipped_test(gpu_methods)
    qfz_add_skipped_test(gpu_engines)
    qfz_add_skipped_test(gpu_engines_ranks)
endif()
if(QFZ_HAS_SIM)
    foreach(program qfz qfz-bench)
        get_target_property(sources ${program} SOURCES)
        list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/apps/)
        add_executable(sim_${program} ${sources} $<TARGET_OBJECTS:qfz_command>)
        target_link_libraries(sim_${program} PRIVATE qfz_objects qfz_sim qfz_flags)
    endforeach()
    qfz_add_shell_test(sim_bench ${CMAKE_CURRENT_SOURCE_DIR}/cli/bench_gpu.sh
        $<TARGET_FILE:sim_qfz-bench>)
    qfz_add_engines_test(sim_engines $<TARGET_FILE:sim_qfz>)
endif()
