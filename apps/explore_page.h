/* SPDX-License-Identifier: MIT */
/* explore_page.h - the page of qfz explore, with the WebAssembly module: what comes before the data
 * of a window, and what follows.  The build makes it (web/); a build without Emscripten has
 * explore_page_none.c instead. */
#ifndef EXPLORE_PAGE_H
#define EXPLORE_PAGE_H

#include <stddef.h>

extern const unsigned char explore_page_head[], explore_page_tail[];
extern const size_t explore_page_head_bytes, explore_page_tail_bytes; /* 0: there is no page */

#endif
