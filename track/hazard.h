/* What a hazard is: codes, words and the record that travels from the decision to the report.
 *
 * Plain data. Nothing here allocates, locks or fails; every function is pure and safe in a signal
 * handler. track/hazard.def has the words, which are a contract with users of the report
 * (docs/hazards.md, report/schema.json).
 */
#ifndef SC_TRACK_HAZARD_H
#define SC_TRACK_HAZARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of docs/hazards.md; the enum is dense, the printed code is stable. */
enum sc_hazard_code {
#define SC_HAZARD(code, name, subject, advice) code,
#include "track/hazard.def"
    SC_HAZARD_CODE_COUNT
};

/* What the mistake is about: a copy in flight, a stream that captures, a node of a graph that is
 * launched, or a captured operation that other work belongs to. */
enum sc_hazard_subject { SC_OF_COPY, SC_OF_CAPTURE, SC_OF_NODE, SC_OF_NEIGHBOUR };

/* observed: the operation was incomplete at that moment. latent: it happened to be complete, but
 * nothing the program did ever established that. */
enum sc_certainty { SC_LATENT, SC_OBSERVED };

enum sc_action {
#define SC_ACTION(action, word, outcome) action,
#include "track/hazard.def"
};

enum sc_buffer_kind {
#define SC_BUFFER_KIND(kind, word) kind,
#include "track/hazard.def"
};

enum sc_direction {
#define SC_DIRECTION(direction, word) direction,
#include "track/hazard.def"
};

/* What the program calls what it does: a test, a request, a step. The NUL is counted. */
enum { SC_LABEL_SIZE = 256 };

/* The operation whose host range was touched too early. Times are CLOCK_MONOTONIC nanoseconds;
 * `stream` is the program's own handle value, `seq` the operation's number on that stream; `stack`
 * is an id of track/stacks.h, 0 for none. `api` points to a string that lives for ever. */
struct sc_hazard_copy {
    const char *api;
    enum sc_direction direction;
    uintptr_t address;
    size_t size_bytes;
    uintptr_t stream;
    int device;
    uint64_t seq;
    int32_t thread;
    uint64_t time_ns;
    uint32_t stack;
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    uint32_t correlation_id; /* CUPTI's; 0: unknown */
    uint32_t stream_origin;  /* track/origins.h */
};

enum { SC_THREAD_NAME_SIZE = 16 }; /* the kernel's TASK_COMM_LEN; the NUL is counted */

/* The call that came too early: a free, an unregister, a second operation. */
struct sc_hazard_event {
    const char *api;
    int32_t thread;
    char thread_name[SC_THREAD_NAME_SIZE]; /* "": not known */
    uint64_t time_ns;
    uint32_t stack;
    const char *runtime_api; /* as in the copy */
    bool unregistered;       /* it took the registration away, and not the memory, or detached a
                              * segment: what comes to the same place mends it */
};

/* One of two nodes of a graph that no edge orders. */
struct sc_hazard_node {
    enum sc_direction direction;
    bool reads; /* the bytes; else it writes them */
    uintptr_t address;
    size_t size_bytes;
    struct sc_hazard_event author; /* the call that added it; api NULL: not known */
};

struct sc_hazard {
    enum sc_hazard_code code;
    enum sc_certainty certainty;
    enum sc_action action;
    uintptr_t buffer_address;
    size_t buffer_size_bytes;
    enum sc_buffer_kind buffer_kind;
    uint32_t buffer_origin; /* track/origins.h */
    struct sc_hazard_copy copy;
    struct sc_hazard_event event;
    struct sc_hazard_event freed; /* SC401: the call that gave the memory back; api NULL: none */
    /* SC501 of two nodes: `copy` has added the first one, or has made the exec. No bytes: of none
     */
    struct sc_hazard_node nodes[2];
    char label[SC_LABEL_SIZE]; /* what the event belongs to; "" where the program does not say */
    unsigned
        ignored; /* by safecopy_ignore_begin: its reason (report/annotations.h); 0: it is not */
    bool found_later; /* the event is the call that found a source changed, not what changed it */
};

/* The words of the report, for example "SC101", "source-freed-in-flight", "deferred". */
const char *sc_hazard_code_string(enum sc_hazard_code code);
const char *sc_hazard_name(enum sc_hazard_code code);
const char *sc_hazard_certainty_string(enum sc_certainty certainty);
const char *sc_hazard_action_string(enum sc_action action);
const char *sc_hazard_buffer_kind_string(enum sc_buffer_kind kind);
const char *sc_hazard_direction_string(enum sc_direction direction);

enum sc_hazard_subject sc_hazard_subject(enum sc_hazard_code code);

/* Is it of two nodes of one graph? */
static inline bool sc_hazard_is_race(const struct sc_hazard *hazard)
{
    return hazard->nodes[0].size_bytes != 0;
}

#endif
