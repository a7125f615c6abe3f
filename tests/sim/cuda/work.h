/*
 * What an operation does once it may start. Graph nodes hold the same, with the program's own
 * addresses; sim_work_bind gives an operation the addresses and accesses the device uses.
 */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "sim.h"

enum sim_work_kind {
    WORK_MARK,   /* no work, or the time of an event record */
    WORK_UNSEEN, /* its effects are not simulated */
    WORK_COPY,
    WORK_FILL,
    WORK_WRITE_VALUE,
    WORK_WAIT_VALUE,
    WORK_KERNEL,
    WORK_KERNEL_COPY,  /* a kernel that copies bytes of the device */
    WORK_KERNEL_SERVE, /* one that answers the host, and lasts until it has */
    WORK_KERNEL_TOUCH, /* one that touches each page */
    WORK_KERNEL_COUNT, /* one that counts a condition down, when its graph is launched */
    WORK_FAULT,        /* a kernel that fails */
    WORK_BAD_STORE,    /* one that writes where nothing is */
    WORK_HOST,
};

/* How the device reaches an address. */
enum sim_access {
    ACCESS_DIRECT, /* through a mapping that nothing the program does can take away */
    ACCESS_SAFE,   /* the program's own mapping: never faults, whatever became of it */
    ACCESS_RAW,    /* the program's own mapping, by a thread that dies with it */
};

/* Up to three dimensions. Pitches and slices are in bytes; 1 x 1 copies ignore them. */
struct sim_copy {
    uintptr_t src, dst;
    size_t width, height, depth;
    size_t src_pitch, src_slice, dst_pitch, dst_slice;
    enum sim_access src_access, dst_access;
    bool src_mapped, dst_mapped;     /* it may be unmapped until then (virtual.h) */
    CUmemorytype src_type, dst_type; /* as the call said; 0: it did not */
    /* Of a node, whose copies are made as of pageable memory although it is registered since: the
     * side was pageable when the node was added or set (docs/driver.md, Q28). */
    bool src_pageable, dst_pageable;
    /* The registration that a side of a node is bound to; 0: none. The driver loses the context at
     * a copy whose registration has ended, whatever is registered there since. */
    uint64_t src_registration, dst_registration;
    void *staged; /* malloc'ed copy of the source, owned by the operation */
};

struct sim_fill {
    uintptr_t dst;
    size_t width, height, pitch; /* width in elements */
    unsigned element;            /* 1, 2 or 4 bytes */
    uint32_t value;
    enum sim_access access;
    bool mapped; /* it may be unmapped until then */
};

struct sim_value {
    uintptr_t address;
    uint64_t value;
    unsigned flags;
    bool wide;     /* 64 bits */
    bool is_taken; /* a wait makes the value 0 when it is over */
    enum sim_access access;
};

/* The bell counts what is asked, the answer what was served, up to `turns`. */
struct sim_serve {
    struct sim_value bell, answer;
    uint32_t turns;
};

struct sim_touch {
    uintptr_t address; /* the program's */
    size_t bytes;
    int device;
};

struct sim_host {
    CUhostFn fn;
    void *arg;
    CUstreamCallback callback; /* instead of fn, with the stream's handle */
    CUstream handle;
};

struct sim_work {
    enum sim_work_kind kind;
    unsigned delays; /* starts so many more delays after its issue than other work */
    bool aside;      /* WORK_MARK: beside the stream's queue */
    union {
        struct sim_record *record; /* WORK_MARK; may be NULL */
        struct sim_copy copy;
        struct sim_fill fill;
        struct sim_value value;
        struct sim_serve serve;
        struct sim_touch touch;
        struct sim_host host;
        uint64_t kernel_ns;
        CUgraphConditionalHandle condition;
    };
};

/* work.c: runs WORK_MARK to WORK_WRITE_VALUE, and what a WORK_WAIT_VALUE does when it is over;
 * other kinds have no effect. Call it without the lock. */
void sim_work_run(struct sim_work *work);
/* Whether the value that WORK_WAIT_VALUE waits for is there. */
bool sim_work_value_reached(const struct sim_value *value);
/* Answers what is asked. Whether that was all. */
bool sim_work_served(const struct sim_serve *serve);
/* How long the work occupies its stream by the options. */
uint64_t sim_work_busy_ns(const struct sim_work *work);

/* The bytes from the first one that a strided side touches to the last one. */
static inline size_t sim_extent(const struct sim_copy *c, size_t pitch, size_t slice)
{
    return (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
}
static inline bool sim_copy_empty(const struct sim_copy *c)
{
    return c->width == 0 || c->height == 0 || c->depth == 0;
}

/* dma.c: moves bytes whose program side may be unmapped, protected or reused at any moment.
 * What cannot be reached is left out: such bytes land nowhere, or keep what was there. */
void sim_dma_read(void *to, uintptr_t from, size_t bytes);
void sim_dma_write(uintptr_t to, const void *from, size_t bytes);

#endif
