/* The records of graphs and execs (track/graphs.h), for callers that read what a launch does.
 *
 * Locks: reading a record needs the owner's lock, or that the program may use the handle, as for
 * sc_graphs_find. */
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
struct sc_watched_nodes;

/* What an exec has to do with device memory besides its nodes' uses: memory that its nodes allocate
 * and free, and pairs of nodes that race. */
struct sc_graph_device {
    bool is_left_out; /* no use of device memory is kept for this exec any more */
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
    bool records; /* some node records an event */
    bool waits;   /* some node waits for an event */
};

/* What only execs have. */
struct sc_exec {
    uint32_t context;          /* the context that the exec ends with; 0: not known */
    struct sc_graph_uses runs; /* what a launch uses. First host memory, with neighbouring uses as
                                  one run; then device memory, in the order in which it was added;
                                  then kernels' addresses, sorted, each once */
    uint32_t host_runs;        /* how many runs are of host memory */
    uint32_t device_runs;      /* how many are of device memory */
    uint32_t device_stages;    /* the stages that tell of these, as bits */
    bool is_stale;             /* the runs are to be made anew */
    bool is_empty;             /* the nodes do nothing: a launch is no work */
    bool signals;              /* the nodes may tell the host how far the launch has come */
    bool awaits_host;          /* the nodes may wait for the host */
    bool has_kernels;          /* some nodes are kernels, also in bodies and child graphs */
    /* The point behind the exec's last launch. It holds a reference to its stream's id. */
    struct sc_point last_launch;
    struct sc_graph_names names; /* names of the nodes, in the driver's order */
    struct sc_graph_events events;
    struct sc_graph_device device; /* device memory that nodes allocate and free, and races */
    struct sc_watched_nodes
        *watched;  /* its host nodes (track/watched_nodes.h); NULL: none is known */
    bool disables; /* some node was disabled once */
    /* If so: the nodes that are disabled now; an update leaves them disabled. */
    struct sc_handles disabled;
    bool has_inner;          /* there are inner nodes */
    struct sc_handles inner; /* if has_inner: each inner node -> the node directly around it */
};

/* A graph or an exec. A use that was dropped leaves a hole in the list: a disabled use of no bytes,
 * whose interval_next is the next hole. New uses fill the holes first. */
struct sc_graph {
    uintptr_t handle;
    struct sc_graph_uses uses;   /* with the holes; if there are only holes, count is 0 */
    struct sc_graph_link *links; /* NULL: none yet */
    uint32_t first_hole;         /* its index + 1 */
    uint32_t hole_count;
    uint32_t scans; /* how often all uses were looked through for one node, without links */
    uint32_t first_interval;
    uint32_t last_found;    /* index of the use that was found last */
    uint32_t freed_count;   /* uses of memory that was freed */
    uint32_t stack_count;   /* uses of a stack */
    uint32_t waiting_count; /* targets of copies that a launch waits for */
    uint32_t device_count;  /* uses of device memory, without kernels' addresses */
    uint32_t address_count; /* kernels' addresses */
    uint32_t device_added;  /* how many of both there ever were */
    bool is_exec;
    struct sc_exec exec; /* zeros in a graph that is no exec */
};

/* Has the graph a use of host memory? */
static inline bool sc_graph_names_host(const struct sc_graph *graph)
{
    return graph->uses.count != graph->hole_count + graph->device_count + graph->address_count;
}

#endif
