/* Counts what CUPTI reports about managed memory (option um=1), for each device: page faults, and
 * bytes that moved.
 *
 * A zeroed struct has no counts. CUPTI's thread adds to them while others read them. */
#ifndef SC_LEDGER_MANAGED_COUNTS_H
#define SC_LEDGER_MANAGED_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "ledger/ledger_words.h"

struct sc_managed_device {
    _Atomic uint64_t faults;
    _Atomic uint64_t from_host_bytes, to_host_bytes, from_devices_bytes;
    /* of the bytes that moved to the host: those that were evicted for want of room */
    _Atomic uint64_t evicted_bytes;
};

struct sc_managed_counts {
    _Atomic uint64_t records, host_faults;
    _Atomic uint64_t thrashing_bytes;  /* that moved back and forth */
    _Atomic uint64_t throttled;        /* how often a processor was made to wait because of that */
    _Atomic uint64_t remote_map_bytes; /* that were left where they lay because of that */
    struct sc_managed_device devices[SC_LEDGER_DEVICES];
};

#endif
