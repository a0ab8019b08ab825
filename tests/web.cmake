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
if(QFZ_HAS_WEB AND QFZ_CHROMIUM)
    qfz_add_shell_test(web_page ${QFZ_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/page.mjs
        ${QFZ_COMMAND} ${QFZ_CHROMIUM})
else()
    qfz_add_shell_test(web_page sh -c
        "echo 'skipped: needs Emscripten, Node.js and Chromium' && exit 77")
endif()
