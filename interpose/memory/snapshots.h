/* Snapshots: small sources are copied in the call, and the device reads the copy.
 *
 * The copies lie in staging memory of ours, a few megabytes for each context, registered with the
 * driver at the first need. From then on a snapshot costs no driver call and no allocation. When
 * there is no slot left, there is no snapshot.
 */
#ifndef SC_INTERPOSE_MEMORY_SNAPSHOTS_H
#define SC_INTERPOSE_MEMORY_SNAPSHOTS_H

struct sc_op_info;
struct sc_context;

/* What the device is to read for the operation, which is about to be issued: a snapshot, noted in
 * op->slot, or NULL. op->stable says that its bytes are there already. */
const void *sc_snapshots_take(struct sc_context *context, struct sc_op_info *op);

/* The context's memory is gone with it, and no operation names its slots any more. */
void sc_snapshots_context_gone(struct sc_context *context);

#endif
