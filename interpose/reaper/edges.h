/* Edges between streams that end after stall_limit.
 *
 * An edge that the library puts makes a stream wait for another stream's operation. Where that
 * waits for the program, and the program waits for the first stream, both would wait for ever,
 * as they would not without the edge. So where anything but copies may be at work before the
 * operation, the stream waits for a word of ours instead of for the event. A stream of the
 * library's writes the word behind the event, and a thread of the library's writes it when
 * stall_limit has passed, and says so. The thread writes it without a word when a host function
 * before the operation is found to wait for the program: the program may have ordered the two by
 * it, the second before the first.
 *
 * The thread makes no call of the driver and takes no lock but its own, a leaf. It starts with the
 * first such edge. It looks at host functions every millisecond while one is open that an edge's
 * operation is behind. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_REAPER_EDGES_H
#define SC_INTERPOSE_REAPER_EDGES_H

#include <stdbool.h>

struct sc_op_info;
struct sc_stream_record;

/* Inserts the edge "later work on `stream`, from the call `api` on, comes after the operation".
 * False if it cannot, and where a host function before the operation is known to wait for the
 * program, or may and no edge could be had that ends. No lock of the library may be held. Calls the
 * driver; errno may change. */
bool sc_edges_order_after(struct sc_stream_record *stream, const struct sc_op_info *op,
                          const char *api);

/* What the call has waited for as long as it may. */
void sc_edges_say_goes_on(const char *api, const char *earlier_api);

#endif
