/* SPDX-License-Identifier: MIT */
/* explore_page_none.c - in a build without Emscripten: no page. */
#include "explore_page.h"

const unsigned char explore_page_head[] = {0}, explore_page_tail[] = {0};
const size_t explore_page_head_bytes = 0, explore_page_tail_bytes = 0;
