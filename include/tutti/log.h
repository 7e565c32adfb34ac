/* SPDX-License-Identifier: MIT */
/* log.h - where messages go. The library never prints: it hands every message to a sink of the caller's. */
#ifndef TUTTI_LOG_H
#define TUTTI_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum tutti_log_level { TUTTI_LOG_ERROR, TUTTI_LOG_WARNING, TUTTI_LOG_INFO, TUTTI_LOG_DEBUG };

struct tutti_log {
    /* Messages above this level are dropped before they are formatted; but not warnings that the result is not what was asked
     * for: a tolerance that cannot be kept, values that are no numbers. */
    enum tutti_log_level level;
    /* Called from whatever thread has something to say. `origin` names the instance or file, or is NULL. Texts are
     * valid UTF-8 without line ends and live only during the call. */
    void (*write)(void *context, enum tutti_log_level level, const char *origin, const char *text);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif
