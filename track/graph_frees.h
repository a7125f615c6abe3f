/* What frees ask of graphs and execs (track/graphs.h), and the ends of graphs themselves.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_GRAPH_FREES_H
#define SC_TRACK_GRAPH_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_graphs;
struct sc_hazard_event;

/* The context is gone, and its execs with it. */
void sc_graphs_context_gone(struct sc_graphs *graphs, uint32_t context);

/* The graph is destroyed, in two steps. Detach takes the handle away before the driver's call: the
 * driver may give the handle to another graph before that call has returned. The memory stays named
 * until remove. */
uint32_t sc_graphs_detach(struct sc_graphs *graphs, uintptr_t handle); /* 0: not known */
void sc_graphs_attach(struct sc_graphs *graphs, uint32_t graph);       /* it lives on */
void sc_graphs_remove(struct sc_graphs *graphs, uint32_t graph);

/* The host may learn in a way that is not seen when the last launch of the exec is done. Returns
 * the stream of that launch; 0: there was none. */
uint32_t sc_graphs_signal_launch(struct sc_graphs *graphs, uintptr_t handle);

/* Does any graph name host memory in the interval? */
bool sc_graphs_name(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has registered the interval again: what was unregistered there is not gone. */
void sc_graphs_note_registered(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has freed the interval. */
void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by);

#endif
