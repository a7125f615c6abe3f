/* What a hazard is: codes, words and the record that travels from the decision to the report.
 *
 * Plain data. Nothing here allocates, locks or fails; every function is pure and safe in a signal
 * handler. The names are a contract with users of the report (docs/hazards.md, report/schema.json).
 */
#ifndef SC_TRACK_HAZARD_H
#define SC_TRACK_HAZARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(code, name) in the order of docs/hazards.md; the enum is dense, the printed code is stable. */
#define SC_HAZARD_CODES(X)                                                                         \
    X(SC101, "source-freed-in-flight")                                                             \
    X(SC102, "destination-freed-in-flight")                                                        \
    X(SC103, "unregistered-in-flight")                                                             \
    X(SC104, "unmapped-in-flight")                                                                 \
    X(SC105, "pinned-freed-in-flight")                                                             \
    X(SC201, "source-overwritten-in-flight")                                                       \
    X(SC202, "destination-read-in-flight")                                                         \
    X(SC203, "destination-written-in-flight")                                                      \
    X(SC204, "unordered-operations")                                                               \
    X(SC301, "legacy-stream-while-capturing")                                                      \
    X(SC302, "not-permitted-while-capturing")                                                      \
    X(SC303, "not-permitted-while-another-thread-captures")                                        \
    X(SC304, "operation-missing-from-graph")                                                       \
    X(SC401, "graph-refers-to-freed-memory")                                                       \
    X(SC402, "graph-refers-to-returned-frame")                                                     \
    X(SC403, "graph-buffer-overwritten-in-flight")

enum sc_hazard_code {
#define X(code, name) code,
    SC_HAZARD_CODES(X)
#undef X
        SC_HAZARD_CODE_COUNT
};

/* observed: the operation was incomplete at that moment. latent: it happened to be complete, but
 * nothing the program did ever established that. */
enum sc_certainty { SC_LATENT, SC_OBSERVED };

enum sc_action {
    SC_ACTION_DEFERRED,
    SC_ACTION_STALLED,
    SC_ACTION_SNAPSHOTTED,
    SC_ACTION_ORDERED,
    SC_ACTION_REROUTED,
    SC_ACTION_HELD,
    SC_ACTION_REPORTED,
};

enum sc_buffer_kind {
    SC_PINNED,
    SC_REGISTERED,
    SC_PAGEABLE,
    SC_MANAGED,
    SC_STACK,
    SC_DEVICE,
    SC_NO_BUFFER,
};

enum sc_direction { SC_H2D, SC_D2H, SC_H2H, SC_MEMSET, SC_PREFETCH, SC_NO_DIRECTION };

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
};

/* The call that came too early: a free, an unregister, a second operation. */
struct sc_hazard_event {
    const char *api;
    int32_t thread;
    uint64_t time_ns;
    uint32_t stack;
    const char *runtime_api; /* as in the copy */
    bool unregistered;       /* it took the registration away, and not the memory, or detached a
                              * segment: what comes to the same place mends it */
};

struct sc_hazard {
    enum sc_hazard_code code;
    enum sc_certainty certainty;
    enum sc_action action;
    uintptr_t buffer_address;
    size_t buffer_size_bytes;
    enum sc_buffer_kind buffer_kind;
    struct sc_hazard_copy copy;
    struct sc_hazard_event event;
    struct sc_hazard_event freed; /* SC401: the call that gave the memory back; api NULL: none */
    bool found_later; /* the event is the call that found a source changed, not what changed it */
};

/* The words of the report, for example "SC101", "source-freed-in-flight", "deferred". */
const char *sc_hazard_code_string(enum sc_hazard_code code);
const char *sc_hazard_name(enum sc_hazard_code code);
const char *sc_hazard_certainty_string(enum sc_certainty certainty);
const char *sc_hazard_action_string(enum sc_action action);
const char *sc_hazard_buffer_kind_string(enum sc_buffer_kind kind);
const char *sc_hazard_direction_string(enum sc_direction direction);

#endif
