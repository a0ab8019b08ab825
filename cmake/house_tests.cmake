# Tests of the source tree and of the packages: which room includes which, only text in git, headers
# that compile alone, format, exported symbols, hardening, programs built against an installed qfz,
# kernels for old GPUs.

function(qfz_add_house_test name)
    add_test(NAME ${name} COMMAND ${ARGN} COMMAND_EXPAND_LISTS)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS house)
endfunction()

qfz_add_house_test(layers ${CMAKE_SOURCE_DIR}/tests/layers.sh)
qfz_add_house_test(format ${CMAKE_SOURCE_DIR}/tests/format.sh)
qfz_add_house_test(sources ${CMAKE_SOURCE_DIR}/tests/sources.sh)
qfz_add_house_test(packaging ${CMAKE_SOURCE_DIR}/packaging/check.sh)
qfz_add_house_test(fetch ${CMAKE_SOURCE_DIR}/tests/fetch.sh)
qfz_add_house_test(docs_links python3 ${CMAKE_SOURCE_DIR}/tests/docs_links.py ${CMAKE_SOURCE_DIR})
qfz_add_house_test(header ${CMAKE_SOURCE_DIR}/tests/header/alone.sh ${CMAKE_C_COMPILER})
qfz_add_house_test(exports ${CMAKE_SOURCE_DIR}/tests/install/exports.sh
    $<TARGET_FILE:qfz_shared> ${CMAKE_SOURCE_DIR}/include/qfz.h)
qfz_add_house_test(layout ${CMAKE_SOURCE_DIR}/tests/install/layout.sh ${CMAKE_C_COMPILER}
    ${CMAKE_SOURCE_DIR}/include)
qfz_add_house_test(install ${CMAKE_SOURCE_DIR}/tests/install/install.sh
    ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/tests/install
    ${CMAKE_C_COMPILER} "${CMAKE_C_FLAGS}")
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    qfz_add_house_test(hardened ${CMAKE_SOURCE_DIR}/tests/install/hardened.sh
        ${QFZ_HARDENED} "$<CONFIG>" ${CMAKE_BINARY_DIR}/compile_commands.json
        $<$<TARGET_EXISTS:qfz_program>:$<TARGET_FILE:qfz_program>> $<$<TARGET_EXISTS:qfz>:$<TARGET_FILE:qfz>>
        $<TARGET_FILE:qfz_shared>)
    qfz_add_house_test(release ${CMAKE_SOURCE_DIR}/tests/install/release.sh ${CMAKE_BINARY_DIR}
        $<$<TARGET_EXISTS:qfz_program>:$<TARGET_FILE:qfz_program>> $<TARGET_FILE:qfz_shared>)
endif()
if(QFZ_HAS_GDAL)
    qfz_add_house_test(scene ${CMAKE_SOURCE_DIR}/tests/install/scene.sh
        $<TARGET_FILE:make_scene>)
endif()
if(QFZ_HAS_CUDA AND NOT CMAKE_C_FLAGS MATCHES -fsanitize)
    qfz_add_house_test(oldest_gpu ${CMAKE_SOURCE_DIR}/tests/oldest_gpu.sh ${CMAKE_CUDA_COMPILER})
    set_tests_properties(oldest_gpu PROPERTIES LABELS "house;long" COST 20)
endif()
