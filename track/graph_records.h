/* The records of graphs and execs (track/graphs.h), for callers that read what a launch does.
 *
 * Locks: to read a record, either the tracker's lock is needed, or the program must be entitled to
 * use the handle, as for sc_graphs_find. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   run: adjoining uses of an exec, recorded as one operation
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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
struct sc_watched_nodes;

/* What an exec (instantiated graph) has to do with device memory besides its nodes' uses: memory
 * that its nodes allocate and free, and races between its nodes. */
struct sc_graph_device {
    bool is_left_out; /* the exec's uses of device memory are not all known, so none is kept */
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
    bool waits;   /* at least one node waits for an event */
};

/* What only execs (instantiated graphs) have. */
struct sc_exec {
    uint32_t context; /* the context whose end ends the exec (instantiated graph); 0: not known */
    /* what a launch uses, made by sc_graphs_make_runs. First host memory, with adjoining uses
     * joined to one run; then device memory, in the order in which it was added; then kernels'
     * addresses, sorted, each once */
    struct sc_graph_uses runs;
    uint32_t host_runs;   /* how many runs (adjoining uses, joined) are of host memory */
    uint32_t device_runs; /* how many are of device memory */
    /* the stages (which nodes tell the host of while a launch runs, track/stages.h) that the runs
     * of device memory belong to, as bits */
    uint32_t device_stages;
    /* the uses (of memory by nodes) have changed, so the runs have to be made again */
    bool is_stale;
    bool is_empty; /* the nodes do nothing, so a launch counts as no work */
    bool signals;  /* nodes may tell the host how far the launch has come, unseen by the library */
    bool awaits_host; /* nodes may wait for the host, unseen by the library */
    bool has_kernels; /* some nodes are kernels, also in bodies and child graphs */
    /* All work up to the exec's last launch, as a point (work issued so far). Holds a reference to
     * its stream's id. */
    struct sc_point last_launch;
    /* the handles that its nodes have in the graph it was made of, by which the program names them,
     * in the driver's order */
    struct sc_graph_names names;
    struct sc_graph_events events;
    struct sc_graph_device device; /* device memory that nodes allocate and free, and races */
    struct sc_watched_nodes
        *watched;  /* its host nodes (track/watched_nodes.h); NULL: none is known */
    bool disables; /* at least one node was disabled at some time */
    /* If `disables`: the nodes that are disabled now. They stay disabled when the exec
     * (instantiated graph) is updated. */
    struct sc_handles disabled;
    /* there are nodes in child graphs or in bodies of conditional nodes (inner nodes) */
    bool has_inner;
    /* if has_inner: maps each inner node (in a child graph or a body) to the node that it is
     * directly inside of */
    struct sc_handles inner;
};

/* A graph or an exec (instantiated graph). A use (of a piece of memory by a node) that is dropped
 * leaves a hole in the list: a disabled use of no bytes, whose interval_next is the next hole. New
 * uses are put into holes first. */
struct sc_graph {
    uintptr_t handle;
    /* with the empty places of dropped uses; of length 0 if all would be empty */
    struct sc_graph_uses uses;
    struct sc_graph_link *links; /* NULL: none yet */
    uint32_t first_hole;         /* its index + 1 */
    uint32_t hole_count;
    /* how often all uses (of memory by nodes) were looked through for those of one node; after some
     * times hash links are made */
    uint32_t scans;
    uint32_t first_interval;
    /* where the next search for a use (of a piece of memory by a node) begins: behind the one that
     * was found last */
    uint32_t next_found;
    uint32_t freed_count;   /* uses by nodes of memory that the program has freed */
    uint32_t stack_count;   /* uses of a stack by nodes */
    uint32_t waiting_count; /* targets of copies that a launch waits for */
    /* uses by nodes of device memory, without the addresses among kernels' parameters */
    uint32_t device_count;
    uint32_t address_count; /* kernels' addresses */
    uint32_t device_added;  /* how many uses of device memory and addresses were ever added */
    bool is_exec;
    struct sc_exec exec; /* zeros in a graph that is no exec (instantiated graph) */
};

/* Returns true if the graph has a use of host memory by a node. */
static inline bool sc_graph_names_host(const struct sc_graph *graph)
{
    return graph->uses.count != graph->hole_count + graph->device_count + graph->address_count;
}

#endif
