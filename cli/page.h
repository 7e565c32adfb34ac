/* SPDX-License-Identifier: MIT */
/* page.h - the files of the page, in the command itself; tools/embed_page.py writes them (web/CMakeLists.txt). */
#ifndef TUTTI_CLI_PAGE_H
#define TUTTI_CLI_PAGE_H

#include "apps/web/web_server.h"

extern const struct tt_web_asset page_assets[];
extern const size_t page_asset_count; /* 0: it was built without Node.js */

#endif
