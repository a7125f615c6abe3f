/* Inserts an edge between two streams: one stream waits for another stream's operation. An edge
 * ends after stall_limit even if the operation is not complete.
 *
 * An edge of the library's makes a stream wait for another stream's operation. If that operation
 * waits for the program, and the program waits for the first stream, both would wait for ever,
 * which without the edge they would not. So if anything but copies may be at work before the
 * operation, the stream does not wait for an event, but for a word in memory of ours. A stream of
 * the library's writes the word behind the event. A thread of the library's writes it when
 * stall_limit has passed, and says so on stderr. The thread writes it silently if a host function
 * before the operation is found to wait for the program: by that function the program may have put
 * the second operation before the first.
 *
 * The thread makes no call of the driver and takes no lock but its own, a leaf. It starts with the
 * first such edge. While an edge is behind a host function that has not returned, it looks at host
 * functions every millisecond. Not for a signal handler. */
#ifndef SC_INTERPOSE_REAPER_EDGES_H
#define SC_INTERPOSE_REAPER_EDGES_H

#include <stdbool.h>

struct sc_op_info;
struct sc_stream_record;

/* Inserts the edge: later work on `stream`, from the call `api` on, comes after the operation.
 * False: it cannot be inserted, or must not: a host function before the operation waits for the
 * program, or may do so and no edge that ends could be had. No lock of the library may be held.
 * Calls the driver; errno may change. */
bool sc_edges_order_after(struct sc_stream_record *stream, const struct sc_op_info *op,
                          const char *api);

/* Warns that `api` goes on after stall_limit, though `earlier_api` is not complete. */
void sc_edges_warn_timeout(const char *api, const char *earlier_api);

#endif
