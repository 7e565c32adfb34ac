/* SPDX-License-Identifier: MIT */
/* log.h - the destination of messages. The library never prints: it passes every message to a sink that the caller
 * provides. */
#ifndef TUTTI_LOG_H
#define TUTTI_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum tutti_log_level { TUTTI_LOG_ERROR, TUTTI_LOG_WARNING, TUTTI_LOG_INFO, TUTTI_LOG_DEBUG };

struct tutti_log {
    /* Messages above this level are dropped before they are formatted, except warnings that the result differs from the
     * request: a tolerance that cannot be met, values that are not numbers. */
    enum tutti_log_level level;
    /* Called from any thread that has a message. `origin` names the instance or file, or is NULL. Texts are valid UTF-8
     * without line ends and live only during the call. */
    void (*write)(void *context, enum tutti_log_level level, const char *origin, const char *text);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif
