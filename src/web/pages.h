/* SPDX-License-Identifier: MIT */
/* pages.h - the files of the page, as they are sent: packed, with what keeps a page from doing more than it should. */
#ifndef TUTTI_WEB_PAGES_H
#define TUTTI_WEB_PAGES_H

#include "serve/http.h"
#include "web/plan.h"

/* False: there is no such file. */
bool tutti_web_page(const struct tutti_web_plan *plan, const struct tutti_http_request *request,
                    struct tutti_http_answer *answer);

#endif
