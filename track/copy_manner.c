#include "track/copy_manner.h"

#include "common/poison.h"

/* A batch with more pageable memory than this does not keep its promises, or reads late. */
enum { BATCHED_BYTES_MAX = 64 * 1024 };

enum cell { LATE, READ, HAD, TURN, WAIT, DONE }; /* manners of copies */

/* Of each: `waits`, when the source is read, when the target is written. */
static const struct sc_copy_manner manners[] = {
    [LATE] = {false, SC_LATE, SC_LATE},      [READ] = {false, SC_IN_CALL, SC_LATE},
    [HAD] = {false, SC_TAKEN, SC_LATE},      [TURN] = {true, SC_IN_CALL, SC_LATE},
    [WAIT] = {true, SC_IN_CALL, SC_IN_CALL}, [DONE] = {false, SC_IN_CALL, SC_IN_CALL},
};

/* A row for each place of the source, and in it a cell for each place of the target: device,
 * managed, managed named as the host's, locked, pageable. Managed memory counts as the device's
 * unless the call names it as the host's. Then it is staged as pageable memory is. */
static const enum cell cells[][SC_PLACES][SC_PLACES] =
    {
        [SC_COPY_ASYNC] =
            {
                [SC_PLACE_DEVICE] = {LATE, LATE, WAIT, LATE, WAIT},
                [SC_PLACE_MANAGED] = {LATE, LATE, WAIT, LATE, WAIT},
                [SC_PLACE_MANAGED_AS_HOST] = {TURN, TURN, WAIT, WAIT, WAIT},
                [SC_PLACE_LOCKED] = {LATE, LATE, WAIT, WAIT, WAIT},
                [SC_PLACE_PAGEABLE] = {READ, READ, WAIT, WAIT, WAIT},
            },
        /* What is copied from pageable memory may not have landed on the device when the call
         * returns. */
        [SC_COPY_SYNC] =
            {
                [SC_PLACE_DEVICE] = {LATE, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_MANAGED] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_MANAGED_AS_HOST] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_LOCKED] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_PAGEABLE] = {TURN, WAIT, WAIT, WAIT, WAIT},
            },
        /* As the contract says. This driver also waits for the stream if pageable memory goes to
         * the device. */
        [SC_COPY_BATCH_STREAM] = {{LATE}}, /* the same for all places */
        [SC_COPY_BATCH_DURING_CALL] =
            {
                [SC_PLACE_DEVICE] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_MANAGED] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_MANAGED_AS_HOST] = {WAIT, WAIT, WAIT, WAIT, WAIT},
                [SC_PLACE_LOCKED] = {WAIT, WAIT, WAIT, WAIT, DONE},
                [SC_PLACE_PAGEABLE] = {READ, READ, READ, DONE, DONE},
            },
        [SC_COPY_BATCH_ANY] =
            {
                [SC_PLACE_PAGEABLE] = {HAD, LATE, LATE, LATE, LATE}, /* LATE for all other places */
            },
};

/* Returns where the memory lies as the driver treats it: a device that reads pageable memory itself
 * needs no staging, and treats that as locked memory. */
static enum sc_copy_place real_place(const struct sc_copy_case *asked, enum sc_copy_place place)
{
    bool is_staged = place == SC_PLACE_PAGEABLE || place == SC_PLACE_MANAGED_AS_HOST;
    return asked->in_place && is_staged ? SC_PLACE_LOCKED : place;
}

/* Looks up how the driver makes the copy, in the table of the call. */
static struct sc_copy_manner manner_at(enum sc_copy_call call, const struct sc_copy_case *asked)
{
    return manners[cells[call][real_place(asked, asked->src)][real_place(asked, asked->dst)]];
}

/* How does the driver make an asynchronous copy? A large source in pageable memory is staged when
 * the stream reaches the copy, and the call waits until then. */
static struct sc_copy_manner async_manner(const struct sc_copy_case *asked)
{
    struct sc_copy_manner manner = manner_at(SC_COPY_ASYNC, asked);
    if (manner.read == SC_IN_CALL && asked->size_bytes > SC_COPY_STAGED_BYTES)
        manner.waits = true;
    return manner;
}

/* Is the copy of a batch small enough that this driver stages its source in the call? */
static bool is_batched(const struct sc_copy_case *asked)
{
    return asked->size_bytes <= BATCHED_BYTES_MAX;
}

/* How does the driver make a copy of a batch (cuMemcpyBatchAsync)? For large copies, and for
 * devices that use pageable memory directly, the contract of the access order decides: what this
 * driver does there a later one may not. */
static struct sc_copy_manner batch_manner(const struct sc_copy_case *asked)
{
    struct sc_copy_manner manner = manner_at(asked->call, asked);
    if (asked->call == SC_COPY_BATCH_DURING_CALL)
        return asked->in_place || (!manner.waits && !is_batched(asked)) ? manners[READ] : manner;
    return manner.read == SC_TAKEN && !is_batched(asked) ? manners[LATE] : manner;
}

/* How does the driver make the copy: when does it read and write, and does the call wait? A launch
 * makes the copy of a node as an asynchronous call on its stream would. */
struct sc_copy_manner sc_copy_manner_of(const struct sc_copy_case *asked)
{
    switch (asked->call) {
    case SC_COPY_ASYNC:
    case SC_COPY_NODE:
        return async_manner(asked);
    case SC_COPY_SYNC:
        return manner_at(SC_COPY_SYNC, asked);
    default:
        return batch_manner(asked);
    }
}

/* The order DURING_API_CALL promises that the source is read in the call. This driver reads large
 * sources later, and any source that it copies to managed memory. */
bool sc_copy_manner_breaks_promise(const struct sc_copy_case *asked)
{
    return asked->call == SC_COPY_BATCH_DURING_CALL && asked->src == SC_PLACE_PAGEABLE &&
           (!is_batched(asked) || asked->dst == SC_PLACE_MANAGED);
}
