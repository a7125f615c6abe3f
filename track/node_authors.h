/* Who added the nodes of graphs that use device memory alone.
 *
 * What a node does with host memory is kept with its author (track/graphs.h). Of other nodes only
 * this is kept, of the latest SC_NODE_AUTHORS_MAX: a captured node has no name, and is known by its
 * graph and its bytes.
 *
 * Plain data in pages that are mapped at the first need. Locks: none; the caller's lock guards
 * every call.
 */
#ifndef SC_TRACK_NODE_AUTHORS_H
#define SC_TRACK_NODE_AUTHORS_H

#include <stdint.h>

#include "track/device_use.h"
#include "track/graphs.h"

enum { SC_NODE_AUTHORS_MAX = 4096 };

struct sc_node_authors {
    struct sc_node_author *list; /* NULL: none yet */
    uint32_t noted;              /* that there ever were */
};

void sc_node_authors_destroy(struct sc_node_authors *authors);

/* A node of the graph does this with device memory. `node`: 0 for one that was captured. */
void sc_node_authors_note(struct sc_node_authors *authors, uintptr_t graph, uintptr_t node,
                          const struct sc_device_use *use, const struct sc_graph_author *by);

/* Who has added the node; api NULL: that is not known, or it is one of several callers. */
struct sc_graph_author sc_node_authors_find(const struct sc_node_authors *authors, uintptr_t graph,
                                            uintptr_t node, const struct sc_device_use *use);

#endif
