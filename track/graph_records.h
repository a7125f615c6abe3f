/* A graph and an exec as the tracker keeps them (graphs.h), for whoever reads what a launch does.
 *
 * Locks: what a record says needs the owner's lock, or the program's own use of the handle, as
 * sc_graphs_find does.
 */
#ifndef SC_TRACK_GRAPH_RECORDS_H
#define SC_TRACK_GRAPH_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/handles.h"
#include "common/points.h"

struct sc_graph_event;
struct sc_graph_link;
struct sc_graph_own;
struct sc_graph_race;
struct sc_graph_use;
struct sc_heard;

/* What an exec has besides its uses of device memory. */
struct sc_graph_device {
    bool is_left_out; /* of this exec no such use is kept any more */
    struct sc_graph_own *own;
    uint32_t own_count, own_capacity;
    struct sc_graph_race *races; /* SC_GRAPH_RACES_MAX, or NULL */
    uint32_t race_count;
};

struct sc_graph_uses {
    struct sc_graph_use *list;
    uint32_t count, capacity;
};

struct sc_graph_names {
    uintptr_t *list;
    uint32_t count;
};

struct sc_graph_events {
    struct sc_graph_event *list;
    uint32_t count, capacity;
    bool records; /* a node records one */
    bool waits;   /* a node waits for one */
};

/* What only execs have. */
struct sc_exec {
    uint32_t context;            /* the exec goes with it; 0: not known */
    struct sc_graph_uses runs;   /* what a launch does: host memory, with neighbouring uses as one;
                                  * then device memory, in the order in which it was added; then
                                  * addresses of kernels, each once and in their order */
    uint32_t host_runs;          /* of these, so many are of the first kind */
    uint32_t device_runs;        /* and so many of the second */
    uint32_t device_steps;       /* that the second are of, as bits */
    bool is_stale;               /* the runs are to be made anew */
    bool is_empty;               /* the nodes do nothing: a launch is no work */
    bool signals;                /* the nodes may tell the host how far the launch has come */
    bool awaits_host;            /* the nodes may wait for the host */
    bool has_kernels;            /* there are kernels among these, also in bodies and children */
    struct sc_point last_launch; /* no other stream gets the id of its stream */
    struct sc_graph_names names; /* of the nodes, in the driver's order */
    struct sc_graph_events events;
    struct sc_graph_device device; /* memory of it that nodes allocate and free, and races */
    struct sc_heard *heard;        /* host nodes; NULL: none is known */
    bool disables;                 /* a node was disabled once */
    struct sc_handles disabled;    /* then: the nodes that are. An update leaves them so */
    bool has_inner;                /* there are inner nodes */
    struct sc_handles inner;       /* then: these -> the node directly around them */
};

/* A use that was dropped leaves a hole in the list: a disabled use of no bytes, whose
 * interval_next is the next hole. New uses fill the holes first. */
struct sc_graph {
    uintptr_t handle;
    struct sc_graph_uses uses;   /* with the holes; count is 0 where there is nothing else */
    struct sc_graph_link *links; /* NULL: none yet */
    uint32_t first_hole;         /* its index + 1 */
    uint32_t hole_count;
    uint32_t scans; /* of all uses, for one node, without the links */
    uint32_t first_interval;
    uint32_t last_found;    /* where the next look-up begins */
    uint32_t freed_count;   /* uses of memory that was freed */
    uint32_t stack_count;   /* uses of a stack */
    uint32_t waiting_count; /* targets of copies that a launch waits for */
    uint32_t device_count;  /* uses of device memory, but for addresses of kernels */
    uint32_t address_count; /* these */
    uint32_t device_added;  /* uses of either sort that there ever were */
    bool is_exec;
    struct sc_exec exec; /* of a graph that is none: zeros */
};

static inline bool sc_graph_names_host(const struct sc_graph *graph)
{
    return graph->uses.count != graph->hole_count + graph->device_count + graph->address_count;
}

#endif
