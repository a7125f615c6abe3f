/* What every wrapper of an asynchronous operation does around the real call.
 *
 * sc_issue_begin finds the stream, sc_issue_host names each host range that the operation reads or
 * writes, sc_issue_ready orders it after conflicting operations (mode=fix), sc_issue_end
 * records it if the driver accepted it. All are cheap no-ops where the library is inactive or the
 * stream is capturing.
 */
#ifndef SC_INTERPOSE_ISSUE_H
#define SC_INTERPOSE_ISSUE_H

#include "interpose/driver.h"
#include "interpose/streams.h"
#include "track/track.h"

enum { SC_ISSUE_OPS_MAX = 2 };

struct sc_issue {
    struct sc_stream_record *stream; /* NULL: nothing to do */
    const char *api;
    void *site;
    unsigned count;
    struct sc_op_info ops[SC_ISSUE_OPS_MAX];
    bool joins_stream; /* returns only when the stream's earlier work and itself are done */
    struct sc_point point;
};

void sc_issue_begin(struct sc_issue *issue, const char *api, CUstream stream, bool per_thread,
                    void *site);

/* A host range of the operation, if the device uses it after the call has returned. Device
 * addresses and staged pageable memory are recognised and left out. */
void sc_issue_host(struct sc_issue *issue, enum sc_direction direction, const void *address,
                   size_t size_bytes);
void sc_issue_host_shape(struct sc_issue *issue, enum sc_direction direction,
                         const struct sc_shape *shape);

/* The same for pageable memory that the driver uses late (batch copies). */
void sc_issue_pageable(struct sc_issue *issue, enum sc_direction direction, const void *address,
                       size_t size_bytes);

void sc_issue_ready(struct sc_issue *issue);
CUresult sc_issue_end(struct sc_issue *issue, CUresult result);

/* What the driver says of an address; it knows nothing of pageable ones. */
bool sc_is_device_address(CUdeviceptr address);
bool sc_is_pageable_address(CUdeviceptr address);

/* Work that uses no host memory: kernels, waits, allocations. */
void sc_work_begin(CUstream stream, bool per_thread);

#endif
