/* SPDX-License-Identifier: MIT */
/* nodes_parts.h - private to nodes*.c: nodes, as the one sees them who starts a run. */
#ifndef TUTTI_CONDUCT_NODES_PARTS_H
#define TUTTI_CONDUCT_NODES_PARTS_H

#include <zmq.h>

#include "base/tempdir.h"
#include "conduct/launch.h"
#include "conduct/node_job.h"
#include "conduct/nodes_list.h"
#include "fabric/tcp.h"

/* Seconds until a node that does not answer is given up, and until ranks that are to stop are killed. */
#define TUTTI_NODES_CONNECT 5.0
#define TUTTI_NODES_STOP 1.5

/* What a node offers. */
struct tutti_far_offer {
    char *name;                   /* "engine.fmu" */
    struct tutti_content content; /* of the stand-in */
    char *path;                   /* where that is here; NULL: not fetched */
};

/* A connection to a node. */
struct tutti_far {
    const struct tutti_nodes_entry *entry;
    char name[256]; /* "host:port" */
    void *socket, *monitor;
    bool connected; /* by TCP, at some time */
    bool met;       /* keys and protocol are right */
    bool welcome;
    bool lost;
    int failures; /* of greetings on the level of ZeroMQ */
    int error;    /* errno of the last try to connect */
    char why[200];
    struct tutti_far_offer *offers;
    uint32_t offer_count;
    /* Files that it lacks, and how far they are sent. */
    bool asked, knows_lack, started;
    uint32_t *lacks;
    uint32_t lack_count, lack_next;
    uint64_t offset;
    unsigned ahead; /* pieces that it has not said it got */
    int fd;         /* of the file that is being sent; -1: none */
    int ready;      /* ranks */
};

/* One message from a node, whose bytes `in` points to. */
struct tutti_far_message {
    zmq_msg_t message;
    struct tutti_unparcel in;
    uint32_t kind;
};

struct tutti_nodes {
    const struct tutti_run_options *asked;
    struct tutti_run_options options; /* with aliases for what nodes offer */
    struct tutti_file_alias *aliases;
    char **fixed; /* options.place: "UNIT=RANK" of ours, then those of the person, which are borrowed */
    size_t fixed_count;
    struct tutti_nodes_list list;
    struct tutti_far *fars; /* one per entry of the list */
    void *context;
    struct tutti_keys keys; /* this machine's */
    bool has_keys;
    struct tutti_tempdir *tempdir;
    struct tutti_parcel parcel;
};

/* ---- nodes_far.c ---- */

/* Begins to connect. `keys` NULL: none. */
TUTTI_CHECKED enum tutti_err tutti_far_open(struct tutti_far *far, void *context, const struct tutti_nodes_entry *entry,
                                            const struct tutti_keys *keys);
void tutti_far_close(struct tutti_far *far);
/* Looks what became of the connection. LOST, with what to do, if it has failed for good. */
TUTTI_CHECKED enum tutti_err tutti_far_look(struct tutti_far *far, bool keys);
/* It has not answered in time: what is the matter. */
enum tutti_err tutti_far_fail_late(const struct tutti_far *far, bool keys);
/* The next message, if there is one: then tutti_far_release follows. A node that refuses is an error with its sentence. */
TUTTI_CHECKED enum tutti_err tutti_far_receive(struct tutti_far *far, struct tutti_far_message *message, bool *got);
void tutti_far_release(struct tutti_far_message *message);
TUTTI_CHECKED enum tutti_err tutti_far_send(struct tutti_far *far, const struct tutti_parcel *parcel);
enum tutti_err tutti_far_fail_message(const struct tutti_far *far);
/* Reading, without a socket: what begins every message (REFUSED is an error with the node's sentence), WELCOME, and
 * LACK of so many files. */
TUTTI_CHECKED enum tutti_err tutti_far_take_kind(const struct tutti_far *far, struct tutti_unparcel *in,
                                                 uint32_t *kind);
TUTTI_CHECKED enum tutti_err tutti_far_take_welcome(struct tutti_far *far, struct tutti_unparcel *in);
TUTTI_CHECKED enum tutti_err tutti_far_take_lack(struct tutti_far *far, struct tutti_unparcel *in, uint32_t files);

/* ---- nodes_files.c ---- */

/* A file of the run: as it is sent, or which offer of which node it is. */
struct tutti_nodes_file {
    const char *path; /* here, as the system found it */
    char
        *packed; /* what is sent in its place: a folder as archive, a package without its FMUs; NULL: the file itself */
    struct tutti_content content;
    uint32_t far, offer; /* whose offer it stands in for; UINT32_MAX: nobody's */
};

struct tutti_nodes_files {
    struct tutti_nodes_file *files;
    uint32_t count, room;
    struct tutti_node_name *names; /* borrowed from the system, or the options */
    uint32_t name_count;
    struct tutti_map by_path;
};

/* Everything that a worker needs to make the same job. tutti_nodes_files_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_nodes_files_list(struct tutti_nodes_files *files, const struct tutti_nodes *nodes,
                                                    const struct tutti_job *job);
void tutti_nodes_files_fini(struct tutti_nodes_files *files);

/* ---- nodes_send.c ---- */

/* Files, then START, to all nodes; until they say that they lack nothing. `id` is the run's. */
TUTTI_CHECKED enum tutti_err tutti_nodes_send(struct tutti_nodes *nodes, const struct tutti_nodes_files *files,
                                              const struct tutti_job *job, const uint8_t id[TUTTI_TCP_RUN_ID]);

#endif
