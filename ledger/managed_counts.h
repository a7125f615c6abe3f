/* Counts of what CUPTI tells of managed memory (option um=1), for each device: page faults, and
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
    _Atomic uint64_t evicted_bytes; /* of those to the host: others wanted their room */
};

struct sc_managed_counts {
    _Atomic uint64_t records, host_faults;
    _Atomic uint64_t thrashing_bytes;  /* that went to and fro */
    _Atomic uint64_t throttled;        /* times that a processor was kept waiting for that */
    _Atomic uint64_t remote_map_bytes; /* that stayed where they lay, for that */
    struct sc_managed_device devices[SC_LEDGER_DEVICES];
};

#endif
