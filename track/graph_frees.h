/* What calls that free memory ask of graphs and execs (track/graphs.h), and how graphs themselves
 * are removed.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_GRAPH_FREES_H
#define SC_TRACK_GRAPH_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_graphs;
struct sc_hazard_event;

/* Removes the execs (instantiated graphs) of a context that has ended. */
void sc_graphs_remove_of_context(struct sc_graphs *graphs, uint32_t context);

/* Remove a graph that the driver is about to destroy, in two steps. sc_graphs_detach, called before
 * the driver's call, takes the handle out of the index, since the driver may give it to another
 * graph before that call returns; it returns the graph's id, or 0 if the graph is not known. The
 * memory that the graph uses still counts as used. After the call, sc_graphs_remove removes the
 * graph; if the driver has refused, sc_graphs_attach makes it known by its handle again. */
uint32_t sc_graphs_detach(struct sc_graphs *graphs, uintptr_t handle);
void sc_graphs_attach(struct sc_graphs *graphs, uint32_t graph);
void sc_graphs_remove(struct sc_graphs *graphs, uint32_t graph);

/* Notes that the host may learn that the exec's last launch is done, in a way that the library does
 * not see: by the destructor of a user object that the exec (instantiated graph) releases. */
void sc_graphs_note_launch_signal(struct sc_graphs *graphs, uintptr_t handle);

/* Returns true if a node of any graph uses host memory in the interval. */
bool sc_graphs_name_memory(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                           bool unregistered);

/* Notes that the interval exists again: registered by the program, or else mapped at a place of its
 * choice. Registered, memsets there are valid again that count as freed because the memory was
 * unregistered; copies stay bound to the registration that has ended (docs/driver.md, Q28). Mapped,
 * what counts as freed because the memory was unmapped. */
void sc_graphs_note_again(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          bool is_registered);

/* Notes that the call `by` has freed the interval: all graphs' uses of it count as freed from now
 * on. */
void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by);

#endif
