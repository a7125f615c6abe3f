/* Inserts an edge between two streams: makes one stream wait for another stream's operation. An
 * edge ends after stall_limit even if the operation is not complete.
 *
 * Such an edge might cause a deadlock: if the operation waits for the program, and the program
 * waits for the first stream, both wait for ever. So if anything but copies may run before the
 * operation, the stream does not wait for an event, but for a word in the library's memory. A
 * stream of the library writes the word after the event. A thread of the library writes it when
 * stall_limit has passed, and says so on stderr. The thread also writes it, silently, if a host
 * function before the operation is found to wait for the program: the program may have ordered the
 * two operations by that function.
 *
 * The thread calls no driver function and takes only a lock of this module, a leaf. It starts with
 * the first such edge. While an edge waits for an operation after a host function that has not
 * returned, it checks host functions every millisecond. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   edge: an order between two pieces of work; the library adds one as a wait for an event
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_INTERPOSE_REAPER_EDGES_H
#define SC_INTERPOSE_REAPER_EDGES_H

#include <stdbool.h>

struct sc_op_info;
struct sc_stream_record;

/* Makes later work on `stream`, from the call `api` on, run after the operation (mode=fix, for an
 * order that the program lacks). False: no edge was inserted. The driver has refused; or a host
 * function before the operation waits for the program, or may do so and no edge that ends by itself
 * could be made. No lock of the library may be held. Calls the driver; errno may change. */
bool sc_edges_order_after(struct sc_stream_record *stream, const struct sc_op_info *op,
                          const char *api);

/* Warns on stderr that `api` goes on after stall_limit, though `earlier_api` is not complete: the
 * order that the library made is given up, so that the program does not hang. */
void sc_edges_warn_timeout(const char *api, const char *earlier_api);

#endif
