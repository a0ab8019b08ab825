# The CUDA engine or, in a build without CUDA, the file that reports its absence (src/gpu/none.c);
# and the same engine built for the host's simulator of CUDA, for tests.

set(QFZ_HAS_CUDA OFF)
if(NOT QFZ_CUDA STREQUAL OFF)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(QFZ_HAS_CUDA ON)
    elseif(QFZ_CUDA STREQUAL ON)
        message(FATAL_ERROR "QFZ_CUDA is ON, but no CUDA compiler was found")
    endif()
endif()

file(GLOB QFZ_GPU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/*/*.cu)
set(QFZ_GPU_NEEDS)

if(QFZ_HAS_CUDA)
    # For the GPU of this machine; without one, for the common GPUs from compute capability 7.5 on,
    # and PTX of the newest, which drivers translate for GPUs that come later.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET)
        if(gpus MATCHES "GPU 0")
            set(CMAKE_CUDA_ARCHITECTURES native)
        else()
            set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
        endif()
    endif()
    enable_language(CXX)
    enable_language(CUDA)
    # In projects that require CMake 3.25 or newer, CMake 3.25 looks for a library that CUDA 13 lacks.
    block(SCOPE_FOR VARIABLES PROPAGATE CUDAToolkit_LIBRARY_DIR)
        set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
        find_package(CUDAToolkit REQUIRED)
    endblock()
    set(QFZ_GPU_NEEDS CUDA::cudart_static stdc++)
    add_library(qfz_gpu_objects OBJECT ${QFZ_GPU_SOURCES})
    target_compile_features(qfz_gpu_objects PRIVATE cuda_std_17)
    target_compile_options(qfz_gpu_objects PRIVATE --fmad=false
        $<$<NOT:$<CONFIG:Release>>:-lineinfo> # profilers name the source line
        $<$<BOOL:${QFZ_WERROR}>:-Werror=all-warnings>
        -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion,-ffp-contract=off
        $<$<CONFIG:Release>:-Xcompiler=${QFZ_CUDA_HOST_FLAGS}>)
    set_target_properties(qfz_gpu_objects PROPERTIES CUDA_VISIBILITY_PRESET hidden)
else()
    add_library(qfz_gpu_objects OBJECT src/gpu/none.c)
    target_link_libraries(qfz_gpu_objects PRIVATE qfz_flags)
endif()
target_include_directories(qfz_gpu_objects PRIVATE include src)

# The simulator (tests/sim) switches stacks in assembly for x86-64, which sanitizers do not follow.
set(QFZ_HAS_SIM OFF)
if(QFZ_SIMULATOR AND BUILD_TESTING AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64
    AND NOT CMAKE_C_FLAGS MATCHES -fsanitize)
    set(QFZ_HAS_SIM ON)
    enable_language(CXX)
    enable_language(ASM)
endif()
