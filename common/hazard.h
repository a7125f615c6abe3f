/* A hazard: a mistake of the program that may do harm, as the record that is passed to the report.
 * Plain data; the words for its codes are in hazard_words.h. */

/* Terms (docs/glossary.md):
 *   advisory: a hazard that may be meant, for which strict does not fail
 *   exec: an instantiated graph (CUgraphExec)
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   label: what the program calls what it does: a test, a request, a step
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   source: the memory that a copy reads
 */

#ifndef SC_WORDS_HAZARD_H
#define SC_WORDS_HAZARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hazard_event.h"
#include "common/hazard_words.h"
#include "common/op_kinds.h"

/* The maximum size of a label, with the NUL. A label is the program's name for what it does at
 * present: a test, a request, a step. */
enum { SC_LABEL_SIZE = 256 };

/* The operation for which the event came too early. Times are CLOCK_MONOTONIC nanoseconds.
 * `stream`: the handle as the program has it. `seq`: the operation's number on that stream.
 * `stack`: an id of track/stacks.h, 0: none. `api`: a string that lives for ever. */
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

/* One of two nodes of a graph that use the same bytes, with no edge that orders them. */
struct sc_hazard_node {
    enum sc_direction direction;
    bool reads; /* the node reads the bytes; else it writes them */
    uintptr_t address;
    size_t size_bytes;
    struct sc_hazard_event author; /* the call that added the node; api NULL: not known */
};

/* The limit of a context that was set too late to take effect, for SC603 (report/limits_part.h).
 * name NULL: none. */
struct sc_hazard_limit {
    const char *name; /* as cuda.h names the limit; lives for ever */
    uint64_t asked, in_force;
    /* The GPU kernel that was launched first; lives for ever; NULL: not known. */
    const char *kernel;
};

/* A hazard: a mistake of the program that may do harm. `event`, the call or access that came too
 * early, hurts `copy`, an operation of the device; `action` is what the library did. */
struct sc_hazard {
    enum sc_hazard_code code;
    enum sc_certainty certainty;
    enum sc_action action;
    uintptr_t buffer_address;
    size_t buffer_size_bytes;
    enum sc_buffer_kind buffer_kind;
    uint32_t buffer_origin; /* track/origins.h */
    uint64_t blocks; /* SC601: how many blocks the call `copy` has made; SC602: how many there are;
                        else 0 */
    uint64_t room_bytes; /* SC602: how much memory the device of `copy` has; else 0 */
    struct sc_hazard_copy copy;
    struct sc_hazard_event event;
    struct sc_hazard_event freed; /* SC401: the call that gave the memory back; api NULL: none */
    /* The two nodes of a graph, for SC501; `copy` is then the call that added the first one, or
     * made the exec. No bytes: the hazard is not of two nodes. */
    struct sc_hazard_node nodes[2];
    struct sc_hazard_limit limit;
    char label[SC_LABEL_SIZE]; /* the program's label at the event; "": none */
    unsigned ignored;          /* the reason of safecopy_ignore_begin by which the hazard is ignored
                                  (report/annotations.h); 0: it is not */
    bool found_later; /* the event is the call at which a changed source was found, not the one that
                         changed it */
    bool may_be_meant; /* SC305: the copy reads memory that no captured work uses */
};

/* Is the hazard an advisory, something that may be meant? Those are SC602 and later codes, and
 * SC305 (work that a graph lacks) if no captured work uses the memory. They are counted
 * separately, and do not make a run with strict=1 fail. */
static inline bool sc_hazard_is_advisory(const struct sc_hazard *hazard)
{
    return hazard->code >= SC602 || hazard->may_be_meant;
}

/* Is the hazard a race: do two nodes of one graph use the same bytes in no order? Only then are
 * its `nodes` set. */
static inline bool sc_hazard_is_race(const struct sc_hazard *hazard)
{
    return hazard->nodes[0].size_bytes != 0;
}

#endif
