# The CUDA engine, or, where there is no CUDA, the file that says so; and the same engine built for
# the host's simulator of CUDA, for tests.

set(QFZ_CUDA AUTO CACHE STRING "CUDA engine: ON, OFF, or AUTO (where a CUDA compiler is found)")
set_property(CACHE QFZ_CUDA PROPERTY STRINGS AUTO ON OFF)

set(QFZ_HAS_CUDA OFF)
if(NOT QFZ_CUDA STREQUAL OFF)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(QFZ_HAS_CUDA ON)
    elseif(QFZ_CUDA STREQUAL ON)
        message(FATAL_ERROR "QFZ_CUDA is ON, but there is no CUDA compiler")
    endif()
endif()

file(GLOB QFZ_GPU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/*.cu
    ${PROJECT_SOURCE_DIR}/src/gpu/*/*.cu)
set(QFZ_GPU_NEEDS)

if(QFZ_HAS_CUDA)
    # The machine's own GPU; where there is none, the H100's and H200's.  For others that are to be
    # served, from 75 on, name them: -DCMAKE_CUDA_ARCHITECTURES=75;90.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET)
        if(gpus)
            set(CMAKE_CUDA_ARCHITECTURES native)
        else()
            set(CMAKE_CUDA_ARCHITECTURES 90)
        endif()
    endif()
    enable_language(CXX)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(QFZ_GPU_NEEDS CUDA::cudart_static stdc++)
    add_library(qfz_gpu_objects OBJECT ${QFZ_GPU_SOURCES})
    target_compile_features(qfz_gpu_objects PRIVATE cuda_std_17)
    target_compile_options(qfz_gpu_objects PRIVATE --fmad=false -lineinfo -Werror=all-warnings
        -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion,-ffp-contract=off)
    set_target_properties(qfz_gpu_objects PROPERTIES CUDA_VISIBILITY_PRESET hidden)
else()
    add_library(qfz_gpu_objects OBJECT src/gpu/none.c)
    target_link_libraries(qfz_gpu_objects PRIVATE qfz_flags)
endif()
target_include_directories(qfz_gpu_objects PRIVATE include src)

# The simulator switches stacks, which is written for one processor.
set(QFZ_HAS_SIM OFF)
if(BUILD_TESTING AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND NOT CMAKE_C_FLAGS MATCHES -fsanitize)
    set(QFZ_HAS_SIM ON)
    enable_language(CXX)
    enable_language(ASM)
endif()
