# The Python package.  It needs no compiler: it opens the shared library.  Its tests run where a
# python3 (the first in PATH, or the system's) has NumPy and pytest.
#
# A wheel (pyproject.toml) holds the in-memory library beside the package's modules.  That library has
# no soname: otherwise the loader would take it for a libqfz of the system with GDAL.

qfz_feature(QFZ_PYTHON "Tests of the Python package, which need Python 3 with NumPy and pytest")

set(QFZ_PYTHON_COMMAND)
if(BUILD_TESTING AND NOT QFZ_PYTHON STREQUAL OFF)
    foreach(python python3 /usr/bin/python3)
        execute_process(COMMAND ${python} -c "import sys; assert sys.version_info >= (3, 9); import numpy, pytest"
            RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
        if(missing EQUAL 0)
            set(QFZ_PYTHON_COMMAND ${python})
            break()
        endif()
    endforeach()
    if(QFZ_PYTHON STREQUAL ON AND NOT QFZ_PYTHON_COMMAND)
        message(FATAL_ERROR "QFZ_PYTHON is ON, but no python3 (3.9 or later) has NumPy and pytest")
    endif()
endif()

if(SKBUILD)
    set_target_properties(qfz_shared PROPERTIES NO_SONAME ON)
    install(FILES $<TARGET_FILE:qfz_shared> DESTINATION . RENAME libqfz.so.1
        COMPONENT python EXCLUDE_FROM_ALL)
endif()

# For Debian's python3-qfz, which opens the library of libqfz1; see packages.cmake.
install(DIRECTORY python/qfz DESTINATION lib/python3/dist-packages COMPONENT python3
    EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)

# This machine's Python, which has no sanitizers, cannot open a library with them, or of another
# processor.
if(BUILD_TESTING AND NOT QFZ_PYTHON STREQUAL OFF AND NOT CMAKE_CROSSCOMPILING
    AND NOT CMAKE_C_FLAGS MATCHES -fsanitize)
    if(QFZ_PYTHON_COMMAND)
        set(environment "PYTHONPATH=${CMAKE_SOURCE_DIR}/python" PYTHONDONTWRITEBYTECODE=1
            "QFZ_LIBRARY=$<TARGET_FILE:qfz_shared>" "QFZ_TEST_DATA=${QFZ_TEST_DATA}"
            "QFZ_COMMAND=$<$<TARGET_EXISTS:qfz_program>:$<TARGET_FILE:qfz_program>>")
        set(tests ${CMAKE_SOURCE_DIR}/python/tests)
        add_test(NAME python COMMAND ${QFZ_PYTHON_COMMAND} -m pytest -q -p no:cacheprovider
            --ignore ${tests}/test_qgis_process.py ${tests})
        set_tests_properties(python PROPERTIES LABELS python ENVIRONMENT "${environment}")
        # QGIS takes a second to start, and the test starts it often.
        add_test(NAME qgis COMMAND ${QFZ_PYTHON_COMMAND} -m pytest -q -rs -p no:cacheprovider
            ${tests}/test_qgis_process.py)
        set_tests_properties(qgis PROPERTIES LABELS "python;long" ENVIRONMENT "${environment}"
            SKIP_REGULAR_EXPRESSION "\n[0-9]+ skipped in")
    else()
        add_test(NAME python COMMAND sh -c "echo skipped: needs python3 with NumPy and pytest; exit 77")
        set_tests_properties(python PROPERTIES LABELS python SKIP_RETURN_CODE 77)
    endif()
endif()
