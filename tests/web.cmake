# Tests of the WebAssembly module.
if(QFZ_HAS_WEB)
    qfz_add_shell_test(web_module ${QFZ_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/module.mjs
        ${QFZ_COMMAND} ${CMAKE_BINARY_DIR}/web)
else()
    qfz_add_shell_test(web_module sh -c
        "echo 'skipped: needs Emscripten and Node.js, and a build with them' && exit 77")
endif()
