/* What a call that frees memory has to ask of graphs and execs (track/graphs.h), and how graphs
 * themselves end.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_GRAPH_FREES_H
#define SC_TRACK_GRAPH_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_graphs;
struct sc_hazard_event;

/* The context is gone: removes its execs. */
void sc_graphs_remove_of_context(struct sc_graphs *graphs, uint32_t context);

/* A graph is destroyed in two steps. Detach takes the handle away before the driver's call, since
 * the driver may give the handle to another graph before that call has returned. The graph's memory
 * stays named until it is removed. Attach gives the handle back: the driver has refused. Detach
 * returns the graph's id; 0: not known. */
uint32_t sc_graphs_detach(struct sc_graphs *graphs, uintptr_t handle);
void sc_graphs_attach(struct sc_graphs *graphs, uint32_t graph);
void sc_graphs_remove(struct sc_graphs *graphs, uint32_t graph);

/* Notes that the host may learn when the exec's last launch is done, in a way that the library does
 * not see. */
void sc_graphs_note_launch_signal(struct sc_graphs *graphs, uintptr_t handle);

/* Does any graph name host memory in the interval? */
bool sc_graphs_name_memory(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has registered the interval again: graphs' uses of it whose registration alone had
 * gone are valid again. */
void sc_graphs_note_registered(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has freed the interval: uses there count as freed by the call `by`. */
void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by);

#endif
