/* SPDX-License-Identifier: MIT */
#include "run/net/http.h"

#include "base/module.h"

enum tutti_err tt_http_load(const struct tt_http_module **module)
{
    static const struct tt_module http = {"tutti_http.so", "tt_http_module", "libmicrohttpd", "libmicrohttpd-dev",
                                          "libmicrohttpd12"};
    void *symbol;
    tt_http_module_entry *entry = NULL;
    TRY(tt_module_load(&symbol, &http, NULL));
    *(void **)&entry = symbol; /* the way that POSIX shows for functions */
    *module = entry();
    return (*module)->abi == TUTTI_HTTP_ABI ? TUTTI_OK
                                            : tt_fail(TUTTI_ERR_LOAD, "%s is of another version of Tutti", http.file);
}
