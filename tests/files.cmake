# Tests of jobs, of the raster room and of the commands: whatever reads and writes raster files.

qfz_add_test(test_setup unit/test_setup.c)
qfz_add_test(test_progress_log unit/test_progress_log.c ${CMAKE_SOURCE_DIR}/apps/progress_log.c
    ${CMAKE_SOURCE_DIR}/apps/pace.c ${CMAKE_SOURCE_DIR}/apps/json.c)
target_include_directories(test_progress_log PRIVATE ${CMAKE_SOURCE_DIR}/apps)
qfz_add_test(test_gpus unit/test_gpus.c ${CMAKE_SOURCE_DIR}/apps/gpus.c)
target_include_directories(test_gpus PRIVATE ${CMAKE_SOURCE_DIR}/apps)
foreach(subject api jobs alphas check plan handles stops keep parts region_parts kills)
    qfz_add_test(test_${subject} property/test_${subject}.c oracle/oracle.c)
    target_include_directories(test_${subject} SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
endforeach()
# The same jobs on ranks.  Leaks inside MPI are not reported.
add_executable(test_ranks property/test_ranks.c oracle/oracle.c)
target_link_libraries(test_ranks PRIVATE qfz_objects qfz_gpu_objects ${QFZ_GPU_NEEDS} qfz_flags)
target_include_directories(test_ranks PRIVATE . oracle property)
target_include_directories(test_ranks SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
foreach(n 2 5)
    qfz_add_shell_test(test_ranks_${n} python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/on_ranks.py
        $<TARGET_FILE:test_ranks> ${n} ${n})
    set_tests_properties(test_ranks_${n} PROPERTIES LABELS unit RESOURCE_LOCK ranks
        ENVIRONMENT "LSAN_OPTIONS=detect_leaks=0;ASAN_OPTIONS=detect_leaks=0")
endforeach()
# Allocations go to the test, which lets some of them fail.
target_link_options(test_keep PRIVATE -Wl,--wrap=qfz_alloc,--wrap=qfz_alloc_large)

# Many sessions and jobs in one process.  A sanitizer keeps freed memory for a while.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    qfz_add_test(test_soak property/test_soak.c oracle/oracle.c)
    target_include_directories(test_soak SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
endif()

# Small problems with their results.
add_executable(run_cases run_cases.c oracle/oracle.c)
target_link_libraries(run_cases PRIVATE qfz_objects qfz_gpu_objects ${QFZ_GPU_NEEDS} qfz_flags)
target_include_directories(run_cases PRIVATE . oracle property)
target_include_directories(run_cases SYSTEM PRIVATE ${GDAL_INCLUDE_DIRS})
add_test(NAME cases COMMAND run_cases ${QFZ_CASES})
set_tests_properties(cases PROPERTIES LABELS unit)
qfz_add_shell_test(cases_reference ${CMAKE_CURRENT_SOURCE_DIR}/cases/check.sh ${QFZ_REFERENCE_DIR}
    ${QFZ_CASES})
set_tests_properties(cases_reference PROPERTIES LABELS unit)

# The command, and real rasters; skipped where there is no data.
set(QFZ_COMMAND $<TARGET_FILE:${QFZ_STARTED}>)
foreach(part check errors json log georef names sources lossless explore)
    qfz_add_shell_test(cli_${part} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${part}.sh ${QFZ_COMMAND})
endforeach()
qfz_add_shell_test(cli_signals ${CMAKE_CURRENT_SOURCE_DIR}/cli/signals.sh ${QFZ_COMMAND}
    $<TARGET_FILE:qfz_program>)
qfz_add_shell_test(cli_early_signals python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/early_signals.py ${QFZ_COMMAND})
foreach(place disk device folder)
    qfz_add_shell_test(cli_${place} ${CMAKE_CURRENT_SOURCE_DIR}/cli/places.sh ${QFZ_COMMAND}
        ${place})
endforeach()
# The page on levels of edges.
qfz_add_shell_test(cli_edges python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/edges.py ${QFZ_COMMAND}
    ${CMAKE_SOURCE_DIR}/docs/user/edges.md)
# The page on the hierarchy as a table.
qfz_add_shell_test(cli_tree python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/tree.py ${QFZ_COMMAND}
    ${CMAKE_SOURCE_DIR}/docs/user/tree.md)
# The other pages.
qfz_add_shell_test(cli_pages python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/pages.py ${QFZ_COMMAND}
    $<TARGET_FILE:make_scene> ${CMAKE_SOURCE_DIR})
# Tables and rasters from labels.
qfz_add_shell_test(cli_regions python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/regions.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_tables python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/tables.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_columns python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/columns.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_overviews python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/overviews.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_attributes python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/attributes.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_quicklook python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/quicklook.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_least_area ${CMAKE_CURRENT_SOURCE_DIR}/cli/least_area.sh ${QFZ_COMMAND})
qfz_add_shell_test(cli_curve ${CMAKE_CURRENT_SOURCE_DIR}/cli/curve.sh ${QFZ_COMMAND}
    ${QFZ_TEST_DATA})
# Special values, one pixel wide, thousands of bands, blocks of any size.
qfz_add_shell_test(cli_extremes python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/extremes.py ${QFZ_COMMAND})
# The peak under --memory, of combinations of layouts and jobs; a sanitizer has memory of its own.
set(QFZ_MEMORY_TESTS)
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    foreach(part RANGE 5)
        qfz_add_shell_test(cli_memory_${part} python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/memory.py
            ${QFZ_COMMAND} ${part} 6)
        list(APPEND QFZ_MEMORY_TESTS cli_memory_${part})
    endforeach()
endif()
# Polygons of random rasters, and of real ones.
qfz_add_shell_test(cli_polygons python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/polygons.py ${QFZ_COMMAND})
qfz_add_shell_test(cli_polygons_real python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/polygons.py ${QFZ_COMMAND}
    ${QFZ_TEST_DATA})
# Batch jobs: in parts, killed, stopped, on storage that is full, damaged or stalled, by the scripts
# of the page on clusters.  A test that needs MPI, or the permission to mount storage, is separate,
# so that only that test is skipped.  Leaks inside MPI are not reported.
function(qfz_add_batch_test name part way)
    qfz_add_shell_test(${name} python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/${part}.py ${QFZ_COMMAND}
        ${way})
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "LSAN_OPTIONS=detect_leaks=0;ASAN_OPTIONS=detect_leaks=0")
endfunction()
foreach(part parts kill curve alphas regions faults stalled docs)
    qfz_add_batch_test(batch_${part} ${part} alone)
    qfz_add_batch_test(batch_${part}_ranks ${part} ranks)
endforeach()
qfz_add_batch_test(batch_tmpfs faults tmpfs)
# Outputs in buckets: of servers of the tests' own, and of the Python package moto.
foreach(way alone ranks moto azure)
    qfz_add_batch_test(batch_storage_${way} storage ${way})
endforeach()
# The n-th allocation, read, write ... fails, by a library that takes the place of libc's functions;
# a sanitizer has allocators of its own.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    add_library(failing_calls MODULE shim/failing_calls.c)
    target_link_libraries(failing_calls PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(failing_calls PROPERTIES C_VISIBILITY_PRESET default)
    qfz_add_shell_test(batch_failing python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/failing.py
        ${QFZ_COMMAND} $<TARGET_FILE:failing_calls> alone)
    qfz_add_shell_test(batch_failing_ranks python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/failing.py
        ${QFZ_COMMAND} $<TARGET_FILE:failing_calls> ranks)
    set_tests_properties(batch_failing_ranks PROPERTIES RESOURCE_LOCK ranks)
endif()
# The peak of ranks; a sanitizer has memory of its own.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    qfz_add_batch_test(batch_peak_ranks peak ranks)
    set_tests_properties(batch_peak_ranks PROPERTIES RESOURCE_LOCK ranks)
endif()
# A message from another rank is altered on its way.
if(QFZ_HAS_MPI AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    add_library(altered_messages MODULE shim/altered_messages.c)
    target_link_libraries(altered_messages PRIVATE MPI::MPI_C ZLIB::ZLIB ${CMAKE_DL_LIBS})
    set_target_properties(altered_messages PROPERTIES C_VISIBILITY_PRESET default)
    qfz_add_shell_test(batch_altered_ranks python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/altered.py
        ${QFZ_COMMAND} $<TARGET_FILE:altered_messages> ranks 1 1 1)
    qfz_add_shell_test(batch_altered_ranks_more python3 ${CMAKE_CURRENT_SOURCE_DIR}/batch/altered.py
        ${QFZ_COMMAND} $<TARGET_FILE:altered_messages> ranks 2 2 4)
    set_tests_properties(batch_altered_ranks batch_altered_ranks_more PROPERTIES RESOURCE_LOCK ranks)
endif()
qfz_add_batch_test(batch_changed changed alone)
# These wait for processes half of the time, so other tests run beside; but only one of these at a
# time, since each starts several ranks.
set_tests_properties(batch_parts_ranks batch_kill_ranks batch_curve_ranks batch_alphas_ranks batch_regions_ranks batch_faults_ranks
    batch_docs_ranks PROPERTIES RESOURCE_LOCK ranks)
# A sanitizer reserves more addresses than the limit of torture.sh allows, and is slow.
set(QFZ_TORTURE_LIMIT yes)
set(QFZ_COUNTS all)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=")
    set(QFZ_TORTURE_LIMIT no)
    set(QFZ_COUNTS fewer)
endif()
qfz_add_shell_test(cli_torture ${CMAKE_CURRENT_SOURCE_DIR}/cli/torture.sh ${QFZ_COMMAND}
    ${QFZ_TEST_DATA} ${QFZ_TORTURE_LIMIT})
qfz_add_shell_test(real_counts ${CMAKE_CURRENT_SOURCE_DIR}/real/counts.sh ${QFZ_COMMAND}
    ${QFZ_TEST_DATA} ${QFZ_COUNTS})
set_tests_properties(real_counts PROPERTIES LABELS cli)

# The raster room, on rasters made in memory and on real and damaged ones.
foreach(subject source mosaic valid tiling sink blocks overviews parts retry faults georef table)
    qfz_add_test(test_raster_${subject} raster/test_${subject}.c)
    target_include_directories(test_raster_${subject} SYSTEM PRIVATE ${PROJ_INCLUDE_DIR})
    target_compile_definitions(test_raster_${subject} PRIVATE QFZ_TEST_DATA="${QFZ_TEST_DATA}")
endforeach()

# Calls of pwrite() go to the test, which lets some of them fail.
target_link_options(test_raster_retry PRIVATE -Wl,--wrap=pwrite)
