# What a Release build has beside speed: checks against overflows of buffers and of the stack, tables of
# addresses that are read-only after the start, code at random addresses; and the same bytes from any
# folder.  The test `hardened` reads the result, tools/reproducible.sh compares two builds.
#
# QFZ_HARDENED: ON where the flags below are in use.  QFZ_HARDENED_FLAGS, QFZ_HARDENED_LINK: the flags.
# A sanitizer has checks of its own, and other systems than Linux have other linkers.

option(QFZ_HARDENING "Checks of buffers and of the stack, full RELRO and PIE in Release builds" ON)

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C) # CMAKE_POSITION_INDEPENDENT_CODE then holds for linking programs too

set(QFZ_HARDENED OFF)
set(QFZ_HARDENED_FLAGS)
set(stack)
set(QFZ_HARDENED_LINK)
if(QFZ_HARDENING AND CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT CMAKE_C_FLAGS MATCHES -fsanitize)
    set(QFZ_HARDENED ON)
    foreach(flag -fstack-protector-strong -fstack-clash-protection)
        string(MAKE_C_IDENTIFIER "QFZ_COMPILER_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            list(APPEND QFZ_HARDENED_FLAGS ${flag})
        endif()
    endforeach()
    set(stack ${QFZ_HARDENED_FLAGS})
    # The C library warns where it or the compiler lacks level 3.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" QFZ_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    # A distribution's own level, in CFLAGS, is replaced.
    list(APPEND QFZ_HARDENED_FLAGS -U_FORTIFY_SOURCE
        -D_FORTIFY_SOURCE=$<IF:$<BOOL:${QFZ_HAS_FORTIFY_3}>,3,2>)
    set(QFZ_HARDENED_LINK LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

# Files are named relative to the source and the build folder.
set(QFZ_SAME_BYTES_FLAGS
    -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
# What nvcc passes to the host's compiler; its own parser does not know _FORTIFY_SOURCE of level 3.
set(QFZ_CUDA_HOST_FLAGS ${stack} ${QFZ_SAME_BYTES_FLAGS})
list(JOIN QFZ_CUDA_HOST_FLAGS "," QFZ_CUDA_HOST_FLAGS)
