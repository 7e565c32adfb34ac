/* SPDX-License-Identifier: MIT */
/* pages.h - the files of the page, as they are sent: packed, with what keeps a page from doing more than it should. */
#ifndef TT_APPS_WEB_PAGES_H
#define TT_APPS_WEB_PAGES_H

#include "run/net/http.h"
#include "apps/web/asset_plan.h"

/* False: there is no such file. */
bool tt_web_server_send_page(const struct tt_web_server_plan *plan, const struct tt_http_request *request,
                             struct tt_http_response *answer);

#endif
