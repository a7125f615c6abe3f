/* A reader of touches, and pages that userfaultfd protects, for units of
 * interpose/guard/userfaults.c. Each test is a process of its own, and passes with a word where
 * Linux has no such descriptor. */
#ifndef SC_TESTS_UNIT_TOUCH_READER_H
#define SC_TESTS_UNIT_TOUCH_READER_H

#include "interpose/guard/door.h"
#include "interpose/guard/userfaults.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/base/process.h"
#include "interpose/memory/areas.h"

#include "common/pages.h"
#include "common/ticks.h"
#include "track/guarded.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum {
    PAGE = 4096,
    PAGES = 8,
    BYTES = PAGES * PAGE,
    AREA_PAGES = SC_AREAS_BYTES / PAGE,
    OFTEN = 10,
    COLLAPSE = 25, /* MADV_COLLAPSE */
};

static bool is_child;

bool sc_process_is_child(void)
{
    return is_child;
}

static unsigned char *block;
static unsigned char *alias; /* the same pages, as a device has them */
static _Atomic unsigned events;
static _Atomic bool denies, holds, has_ended, is_reading;

static pthread_mutex_t stripe =
    PTHREAD_MUTEX_INITIALIZER; /* as interpose/guard/protect.h has them */

static void *read_events(void *unused)
{
    struct sc_userfaults_event event;
    ck_assert(sc_userfaults_start_reader());
    atomic_store(&is_reading, true);
    while (sc_userfaults_await(&event)) {
        atomic_fetch_add(&events, 1);
        while (atomic_load(&holds))
            usleep(100);
        pthread_mutex_lock(&stripe);
        sc_userfaults_resume_touch(event.address, atomic_load(&denies) &&
                                                      sc_userfaults_is_protected(event.address));
        pthread_mutex_unlock(&stripe);
    }
    atomic_store(&has_ended, true);
    return unused;
}

/* False: there is nothing to be tested here. */
static bool begin_without_sources(void)
{
    pthread_t reader;
    sc_ticks_start();
    ck_assert_int_eq(sc_spans_init(&sc_track.inflight.guards), 0);
    if (!sc_userfaults_begin()) {
        puts("no userfaultfd here: not tested");
        return false;
    }
    block = (unsigned char *)sc_areas_map(BYTES);
    ck_assert_ptr_nonnull(block);
    alias = mremap(block, 0, BYTES, MREMAP_MAYMOVE);
    ck_assert_ptr_ne(alias, MAP_FAILED);
    sc_userfaults_serve((uintptr_t)block, BYTES);
    ck_assert(sc_userfaults_have_adopted((uintptr_t)block, BYTES));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert_int_eq(pthread_create(&reader, NULL, read_events, NULL), 0);
    while (!atomic_load(&is_reading))
        usleep(100);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, true));
    return true;
}

static void take_sources_of(uintptr_t start)
{
    sc_userfaults_adopt_sources(start, BYTES);
}

static bool begin(void)
{
    if (!begin_without_sources())
        return false;
    take_sources_of((uintptr_t)block);
    return true;
}

static void set(unsigned first, unsigned count, enum sc_access access)
{
    pthread_mutex_lock(&stripe);
    int refused = sc_userfaults_set((uintptr_t)block + first * PAGE, count * (size_t)PAGE, access);
    pthread_mutex_unlock(&stripe);
    ck_assert_int_eq(refused, 0);
}

static void *write_first(void *unused)
{
    *(volatile unsigned char *)block = 1;
    return unused;
}

static pthread_t begin_to_touch(void)
{
    pthread_t thread;
    unsigned before = atomic_load(&events);
    atomic_store(&holds, true);
    ck_assert_int_eq(pthread_create(&thread, NULL, write_first, NULL), 0);
    while (atomic_load(&events) == before)
        usleep(100);
    return thread;
}

/* Gives the area its stripe, as interpose/guard/protect.c does. */
static bool move_area(const unsigned char *area)
{
    struct sc_pages pages = {(uintptr_t)area, (uintptr_t)area + SC_AREAS_BYTES};
    return sc_spans_move_area(&sc_track.inflight.guards, &pages);
}

static _Atomic bool is_over;

/* The kernel meets no page that is missing, whatever becomes of the area meanwhile. */
static void *pass_pages_through_pipe(void *area)
{
    unsigned char *bytes = area;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        unsigned char *page = bytes + (size_t)(i % AREA_PAGES) * PAGE;
        ck_assert_int_eq(write(ends[1], page, PAGE), PAGE);
        ck_assert_int_eq(read(ends[0], page, PAGE), PAGE);
    }
    return area;
}

#endif
