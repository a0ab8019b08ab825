# Tests of the WebAssembly module and of the page of qfz explore, which need Emscripten and Node.js;
# the page also needs Chromium.
find_program(QFZ_CHROMIUM NAMES chromium chromium-browser google-chrome)

if(QFZ_HAS_WEB)
    qfz_add_shell_test(web_module ${QFZ_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/module.mjs
        ${QFZ_COMMAND} ${CMAKE_BINARY_DIR}/web)
else()
    qfz_add_shell_test(web_module sh -c
        "echo 'skipped: needs Emscripten and Node.js, and a build with them' && exit 77")
endif()
foreach(part page controls pictures live)
    set(subject ${QFZ_COMMAND})
    if(part STREQUAL live)
        set(subject ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    endif()
    if(QFZ_HAS_WEB AND QFZ_CHROMIUM)
        qfz_add_shell_test(web_${part} ${QFZ_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/${part}.mjs
            ${subject} ${QFZ_CHROMIUM})
    else()
        qfz_add_shell_test(web_${part} sh -c
            "echo 'skipped: needs Emscripten, Node.js and Chromium' && exit 77")
    endif()
endforeach()
